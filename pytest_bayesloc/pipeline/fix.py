"""The stage that searches fixes."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.failure import Situation
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import count
from pytest_bayesloc.fixes.candidate import CHANGE, Candidate, patch_of
from pytest_bayesloc.fixes.edit_candidates import inspected_by
from pytest_bayesloc.fixes.library import Library
from pytest_bayesloc.fixes.plausibility import is_slip
from pytest_bayesloc.fixes.search import N_SHOWN, STORED, Search
from pytest_bayesloc.fixes.tasks import likely_places
from pytest_bayesloc.inspection.strategies.likely_fixes import weigh_fixes
from pytest_bayesloc.pipeline.execute import WideRunners
from pytest_bayesloc.pipeline.fix_search import Effort, FixSearch, without_warnings
from pytest_bayesloc.pipeline.fix_tools import announce_refusals, tool_records, tools_of
from pytest_bayesloc.report.document import MAX_TESTS, FixEntry
from pytest_bayesloc.report.encoding import entry_of, positive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_bayesloc.domain.inspection import Finding
    from pytest_bayesloc.fixes.check import Checked
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.pipeline.guide import LlmStage
    from pytest_bayesloc.ranking.case import Case

MAX_GROUPS = 10
CHECKS = {"AssertionError", "Failed"}  # exceptions of checks: the code may be wrong as well
UNVERIFIED = "the search for a fix did not verify it"
#: Tools that mend a use of what the code lacks.
LACKING = frozenset({"misspelt-attribute", "wrong-arguments", "wrong-key", "wrong-keyword"})
STALE = "stale-expectation"  # the tool that writes what the code computes into a test


@dataclass(frozen=True, kw_only=True)
class FixStage:
    """Searches fixes for groups of failing tests.

    Attributes:
        context: The session.
        llm: A language model's part; None: none is asked.
    """

    context: Context
    llm: LlmStage | None

    def run(self, cases: Sequence[Case], budget_s: float) -> list[Search | None]:
        """Search a fix for each of the largest groups, which share ``budget_s`` wall seconds.

        Returns:
            The search for each group; None where nothing was searched.
        """
        results: list[Search | None] = [None for _ in cases]
        with self._guarded():
            self._search_all(cases, monotonic() + budget_s, results)
        return results

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Whatever goes wrong, the ranking stands without fixes."""
        try:
            with without_warnings():
                yield
        except BayeslocError as error:
            self.context.note(str(error))
        except KeyboardInterrupt:
            self.context.note(
                "The search for fixes was interrupted: shown is what was found until then."
            )
        except Exception as error:  # noqa: BLE001 - the ranking stands without fixes
            self.context.warn(error)
        finally:
            self.context.keep(None)

    def _search_all(self, cases: Sequence[Case], ends: float, results: list[Search | None]) -> None:
        context = self.context
        records = tool_records(context.rootdir, context.settings.memory, context.note)
        library = Library(tools_of(context.config, context.note), records, context.note)
        self._tell_retired(library, cases)
        if context.settings.writes_fixes:
            announce_refusals(
                context, (f for case in cases[:MAX_GROUPS] for f, _ in likely_places(case))
            )
        search = FixSearch(context=context, llm=self.llm)
        with closing(WideRunners(context)) as wide:
            for i, case in enumerate(cases[:MAX_GROUPS]):
                if case.cause is not None and not case.cause.is_repairable:
                    continue
                share_s = max(0.0, ends - monotonic()) / (min(len(cases), MAX_GROUPS) - i)
                result = search.run(case, library, Effort(try_s=share_s), wide)
                if result is not None:
                    results[i] = result
                    weigh_fixes(case, result)
                    self._show(i + 1, case, result, library)

    def _tell_retired(self, library: Library, cases: Sequence[Case]) -> None:
        errors = {f"{f.exc_type}: {f.message}" for case in cases for f in case.failures}
        for tool in library.tools:
            if "retired" in tool.why_not and any(library.is_called_for(tool, e) for e in errors):
                self.context.note(
                    f"The fix tool {tool.name} is not tried any more ({tool.why_not}). "
                    "(retired-tool)"
                )

    # -- what is shown

    def _show(self, number: int, case: Case, result: Search, library: Library) -> None:
        found = result.best if result.partial is None else [result.partial]
        for checked in found:
            worth = library.record(checked.candidate.name).worth
            fix = _fix(number, checked.candidate, checked, worth)
            self.context.fixes.append((fix, checked.candidate))
        # To take a change back fixes every failure; what was meant may be to change what is stored.
        if all(checked.candidate.stage == CHANGE for checked in found):
            for candidate in changes_of_tests(case, result)[:N_SHOWN]:
                self.context.fixes.append((_fix(number, candidate), candidate))
        if not found and not result.is_out_of_time:
            case.inspections = [*map(unverified, case.inspections)]
        outcome = InspectionOutcome.EDIT_REPAIRS
        repairs = (f for f in case.inspections if f.evidence.outcome is outcome)
        is_repaired = any(not finding.doubt for finding in repairs)
        if not found and not is_repaired:  # an edit of theirs is shown, too
            self.context.note(nothing_found(number, result))
        self.context.n_rejected += len(result.rejected)
        if result.is_out_of_time:
            self.context.note(
                f"The search for a fix of fault {number} ended with its share of the budget of "
                f"{self.context.settings.budget_s:g} s: give more by --bayesloc-budget. "
                "(fix-budget)"
            )


def unverified(finding: Finding) -> Finding:
    """Return a finding, with a doubt if the search tried its edit and found no fix in it."""
    is_tried = any(inspected_by(finding))
    return replace(finding, doubt=finding.doubt or UNVERIFIED) if is_tried else finding


def changes_of_tests(case: Case, result: Search) -> list[Candidate]:
    """Return changes of tests for which something speaks.

    An expectation is stale only if code changed after its test did, and a tool mends a test only
    where that raises an error of its own. Where a test uses what the code lacks, the code may be
    wrong, unless a slip of a letter tells why.
    """
    raised = [f.raise_frame for f in case.failures if f.exc_type not in CHECKS]
    is_of_test = any(frame is None or frame.is_test for frame in raised)
    told = {STORED} | ({STALE} if case.situation is Situation.REGRESSION else set())
    return [
        c
        for c in result.shown
        if told.intersection(c.tools)
        or (is_of_test and STALE not in c.tools and (LACKING.isdisjoint(c.tools) or is_slip(c)))
    ]


def nothing_found(number: int, result: Search) -> str:
    """Tell of a search that found no fix what it tried, what came nearest, and what to do next."""
    tried = f"{count(result.n_tried, 'change')} tried in {result.seconds:.0f} s"
    text = f"No fix of fault {number} was found: {tried}"
    if result.verified:
        passes = result.verified[0]
        where = f"{passes.candidate.file}:{passes.candidate.line}"
        text += (
            f". The tests pass with a change of {where} ({passes.candidate.message}), which is "
            f"probably no fix: {passes.doubt or passes.rivals}"
        )
    elif result.nearest is not None:
        near = result.nearest
        where = f"{near.candidate.file}:{near.candidate.line}"
        text += (
            f". The nearest, by {near.candidate.name} at {where}, makes {near.n_green} of "
            f"{result.n_failing} failing tests pass"
        )
    return f"{text}. Start at the first suspects: their reasons say what was seen. (no-fix)"


def _fix(
    number: int, candidate: Candidate, checked: Checked | None = None, worth: float = 0.5
) -> FixEntry:
    """Return a fix as the result shows it; one that was not checked would change a test."""
    failing, passing = (checked.failing, checked.passing) if checked else ((), ())
    return entry_of(
        FixEntry,
        checked.patch if checked else patch_of(candidate),
        candidate,
        fault=number,
        step=None,
        tool=candidate.name,
        verified=bool(failing),
        doubt=(checked.shown_doubt or None) if checked is not None else None,
        n_failing=len(failing),
        n_passing=len(passing),
        checked=(*failing, *passing)[:MAX_TESTS],
        seconds=positive(checked.seconds) if checked else 0.0,
        worth=worth,
        patch_file=None,
        applied=False,
    )
