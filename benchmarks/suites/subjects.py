"""Published packages whose source distributions ship their tests."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A release that faults are planted into.

    Attributes:
        name: Its distribution name, normalised.
        version: The release.
        import_name: The package whose folder holds the source under test.
        requirements: What its tests need besides its own dependencies.
        args: Arguments of pytest.
        deselect: Tests that are left out though they pass, or kill the run: slow, or of the
            surroundings.
        older: Releases that function bodies are taken from.
    """

    name: str
    version: str
    import_name: str
    requirements: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    deselect: tuple[str, ...] = ()
    older: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


KNOWN = {
    subject.name: subject
    for subject in (
        Subject(
            name="boltons",
            version="26.2.0",
            import_name="boltons",
            args=("tests",),
            older=("24.0.0", "21.0.0", "19.0.1"),
        ),
        Subject(
            name="marshmallow",
            version="4.4.0",
            import_name="marshmallow",
            requirements=("simplejson",),
            args=("tests",),
            older=("4.0.0", "3.23.0", "3.14.0"),
        ),
        Subject(
            name="sqlparse",
            version="0.6.1",
            import_name="sqlparse",
            args=("tests",),
            older=("0.5.0", "0.4.0", "0.3.0"),
        ),
        Subject(
            name="toolz",
            version="1.2.0",
            import_name="toolz",
            args=("toolz",),
            older=("0.12.0", "0.10.0"),
        ),
        Subject(
            name="markdown",
            version="3.11.3",
            import_name="markdown",
            requirements=("pyyaml",),
            # Its tests turn warnings into errors, and this file's TestSuite makes pytest warn.
            args=("tests", "--ignore=tests/test_syntax/extensions/test_md_in_html.py"),
            older=("3.7", "3.5", "3.3.4"),
        ),
        Subject(
            name="parso",
            version="0.8.7",
            import_name="parso",
            older=("0.8.0", "0.7.0", "0.5.0"),
        ),
        Subject(
            name="wtforms",
            version="3.3.2",
            import_name="wtforms",
            requirements=("babel", "email_validator"),
            args=("tests",),
            older=("3.1.0", "3.0.0"),
        ),
        Subject(
            name="python-dateutil",
            version="4.0.0",
            import_name="dateutil",
            requirements=("attrs", "freezegun", "hypothesis"),
            args=("tests",),
            older=("2.9.0", "2.8.0", "2.7.0"),
        ),
        Subject(
            name="h11",
            version="0.16.0",
            import_name="h11",
            args=("h11",),
            older=("0.13.0", "0.9.0"),
        ),
    )
}


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
