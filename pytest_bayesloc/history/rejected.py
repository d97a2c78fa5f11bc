"""Remembers the patches that failed on this very code, so that they are not tried again."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.inspection import Rerun, TestRun, Verdict
from pytest_bayesloc.domain.texts import text_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch

SAME, OTHER = "s", "o"
KNOWN = "known from an earlier run"
DIGEST = 32
FIX = "fix:"


class Rejected:
    """Patches under which every test still failed, and no check of theirs was broken.

    An entry holds how the patch was run and, per test in order, a letter: ``s`` for the error that
    the test has without it, ``o`` for another; as a capital if its heartbeat was seen.

    Args:
        state: Digest of the project; empty if nothing is to be kept.
        known: From earlier runs on that state: the key of a patch to its entry.
    """

    def __init__(self, state: str = "", known: Mapping[str, str] | None = None) -> None:
        self.state = state
        self._known = known or {}
        self.new: dict[str, str] = {}
        self.n_spared = 0

    def find(
        self, patch: InspectionPatch, tests: Sequence[str], errors: Mapping[str, str]
    ) -> Rerun | None:
        """Return the earlier re-run of ``patch``; None if it was not rejected.

        Args:
            patch: To be tried.
            tests: Node ids.
            errors: Per test, its error without a patch.
        """
        how, _, letters = self._known.get(_key(patch, tests, errors), "").partition(":")
        if not letters or len(letters) != len(tests):
            return None
        self.n_spared += 1
        runs = {
            node_id: TestRun(
                verdict=Verdict.FAIL,
                error=errors[node_id] if letter.lower() == SAME else f"another error, {KNOWN}",
                covered=letter.isupper(),
            )
            for node_id, letter in zip(tests, letters, strict=True)
        }
        return Rerun(tests=runs, n_swapped=1, how=how, log=KNOWN)

    def known_fixes(self) -> frozenset[str]:
        """Keys of the fixes that were rejected on this very code."""
        return frozenset(key for key, outcome in self._known.items() if outcome.startswith(FIX))

    def add_fixes(self, keys: Iterable[str]) -> None:
        """Keep fixes that were rejected, by their keys."""
        self.new.update(dict.fromkeys(keys, FIX))

    def add(
        self,
        patch: InspectionPatch,
        tests: Sequence[str],
        errors: Mapping[str, str],
        rerun: Rerun,
    ) -> None:
        """Keep the outcome of ``patch``, if it was rejected."""
        runs = [rerun.tests.get(node_id) for node_id in tests]
        failed = [run for run in runs if run is not None and _is_plain_failure(run)]
        if not rerun.n_swapped or len(failed) < len(tests) or not errors.keys() >= set(tests):
            return
        letters = (_letter(run, errors[n]) for n, run in zip(tests, failed, strict=True))
        self.new[_key(patch, tests, errors)] = f"{rerun.how}:{''.join(letters)}"


def _is_plain_failure(run: TestRun) -> bool:
    return run.verdict is Verdict.FAIL and not run.violations


def _letter(run: TestRun, error: str) -> str:
    letter = SAME if run.error == error else OTHER
    return letter.upper() if run.covered else letter


def _key(patch: InspectionPatch, tests: Sequence[str], errors: Mapping[str, str]) -> str:
    """Digest all that decides the outcome, except the project's state."""
    parts = [_essence(part) for part in (patch, *patch.companions)]
    text = repr((parts, [(node_id, errors.get(node_id)) for node_id in tests]))
    return text_digest(text, DIGEST)


def _essence(patch: InspectionPatch) -> tuple[object, ...]:
    essence = (patch.target.file, patch.patched, patch.fresh)
    if patch.forced is None:
        return essence
    return (*essence, patch.target.fqn, *astuple(patch.forced))
