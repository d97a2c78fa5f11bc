"""Published packages whose source distributions ship their tests."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.suites.table import KNOWN, Subject

__all__ = ["KNOWN", "Subject", "normalised", "subject_of"]


def subject_of(release: str, older: tuple[str, ...] = ()) -> Subject:
    """The subject for ``NAME`` or ``NAME==VERSION``; one unknown here is taken as it comes.

    Args:
        release: What to plant into; a bare name means the release of the table.
        older: Releases as ``NAME==VERSION``; those of this name replace the table's.

    Raises:
        SystemExit: If there is no version to be had.
    """
    name, _, version = release.partition("==")
    name = normalised(name)
    known = KNOWN.get(name)
    if known is None and not version:
        raise SystemExit(f"{release} is not in the table: give its version, as NAME==VERSION.")
    subject = known or Subject(name=name, version=version, import_name=name.replace("-", "_"))
    mine = tuple(
        old.partition("==")[2] for old in older if normalised(old.partition("==")[0]) == name
    )
    return replace(subject, version=version or subject.version, older=mine or subject.older)


def normalised(name: str) -> str:
    """``name`` as package indexes spell it."""
    return name.strip().lower().replace("_", "-").replace(".", "-")
