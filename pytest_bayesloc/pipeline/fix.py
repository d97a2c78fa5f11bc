"""The stage that searches fixes: tools are tried on the text in memory, tests say what is one."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, TypeVar

from pytest_bayesloc.domain.clock import monotonic
from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.fixing import Fix, Level
from pytest_bayesloc.fixes.check import CHANGE, Candidate, Checker, patch_of
from pytest_bayesloc.fixes.library import Library
from pytest_bayesloc.fixes.mutations import mutants, repairs
from pytest_bayesloc.fixes.project import Project
from pytest_bayesloc.fixes.reach import Reach, out_of_bounds
from pytest_bayesloc.fixes.search import Search
from pytest_bayesloc.fixes.tasks import (
    N_SUSPECTS,
    covering,
    python_files,
    taken_back,
    tasks_of,
    test_files,
    texts_of_tests,
)
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.pipeline.fix_memory import Tries, tool_records
from pytest_bayesloc.pipeline.fix_tools import tools_of
from pytest_bayesloc.rerun.world import reaches_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pytest

    from pytest_bayesloc.domain.ports import Clock
    from pytest_bayesloc.fixes.check import Checked
    from pytest_bayesloc.fixes.project import Task
    from pytest_bayesloc.fixes.search import Outcome
    from pytest_bayesloc.options import Settings
    from pytest_bayesloc.pipeline.execute import RerunTransports
    from pytest_bayesloc.pipeline.guide import LlmStage
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.groups import FailingGroup
    from pytest_bayesloc.spectrum.sources import Sources

T = TypeVar("T")

MAX_GROUPS = 10
N_EDITS = 400  # of one function
N_SHOWN = 3  # of a fault
SPARE = 1 / 4  # of the time, for what changed since the tests passed
CONFIDENCE = 0.6  # from which on a language model is believed that a tool does not fit


@dataclass(frozen=True, kw_only=True)
class _Means:
    """What all searches of a run share."""

    library: Library
    project: Project
    reach: Reach


@dataclass(frozen=True, kw_only=True)
class Fixing:
    """What the stage is given.

    Attributes:
        config: pytest's.
        settings: What the user asked for.
        executing: Where tests are run again.
        sources: The project's files.
        clock: Monotonic seconds.
        note: Tells the user, once.
        warn: Tells the user of a fault of ours.
        llm: A language model's part; None: none is asked.
        idle: Tests that were collected and of which nothing is known: they did not run.
        found: What is to be shown, the best of each fault first.
    """

    config: pytest.Config
    settings: Settings
    executing: RerunTransports
    sources: Sources
    clock: Clock = monotonic
    note: Callable[[str], None]
    warn: Callable[[Exception], None]
    llm: LlmStage | None = None
    idle: Sequence[str] = ()
    found: list[tuple[Fix, Candidate]] = field(default_factory=list)
    _tries: dict[int, Tries] = field(default_factory=dict)

    def run(
        self, groups: Sequence[FailingGroup], cases: Sequence[Case], budget_s: float
    ) -> list[Tries]:
        """Search a fix for each of the largest groups; they share the time. How tools fared.

        Args:
            groups: Of failing tests.
            cases: What is known of each.
            budget_s: Wall seconds.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the suite may have made errors of them
                self._search_all(groups, cases, self.clock() + budget_s)
        except BayeslocError as error:
            self.note(str(error))
        except KeyboardInterrupt:
            self.note("The search for fixes was interrupted: shown is what was found until then.")
        except Exception as error:  # noqa: BLE001 - the ranking stands without fixes
            self.warn(error)
        return [self._tries.get(number, Tries()) for number in range(1, len(groups) + 1)]

    def _search_all(
        self, groups: Sequence[FailingGroup], cases: Sequence[Case], ends: float
    ) -> None:
        records = tool_records(self.config.rootpath, self.settings.memory, self.note)
        library = Library(tools_of(self.config, self.note), records, self.note)
        self._tell_retired(library, groups)
        files = python_files(self.sources)
        means = _Means(
            library=library,
            project=Project(files, self.sources.read),
            reach=Reach(files, self.sources, self.settings.never_edited),
        )
        for number, (group, case) in enumerate(zip(groups, cases, strict=True), 1):
            n_left = min(len(groups), MAX_GROUPS) - number + 1
            if n_left > 0:
                share_s = max(0.0, ends - self.clock()) / n_left
                self._search(number, group, case, means, share_s)

    def _tell_retired(self, library: Library, groups: Sequence[FailingGroup]) -> None:
        errors = {f"{f.exc_type}: {f.message}" for group in groups for f in group.failures}
        for tool in library.tools:
            calls = partial(library.is_called_for, tool)
            if "retired" in tool.why_not and any(map(calls, errors)):
                self.note(
                    f"The fix tool {tool.name} is not tried any more ({tool.why_not}). "
                    "(retired-tool)"
                )

    def _search(
        self,
        number: int,
        group: FailingGroup,
        case: Case,
        means: _Means,
        budget_s: float,
    ) -> None:
        with closing(self.executing.pool(case.failing, {})) as pool:
            checker = Checker(
                runner=pool.first,
                clock=self.clock,
                deadline=self.clock() + budget_s,
                failing=case.failing,
                covering=lambda target: (*covering(group, target, self.sources), *self.idle),
            )
            if not checker.failing or not checker.fails_again():
                return
            outcome = Search(
                library=means.library,
                project=means.project,
                checker=checker,
                forbids=lambda candidate: out_of_bounds(
                    candidate, self.settings.never_edited, means.reach
                ),
                judge=self._fits,
                note=self.note,
                edits=partial(self._edits, case),
                taken_back=partial(taken_back, case),
                spare_s=budget_s * SPARE if case.changes.code else 0.0,
                generated=partial(self._generated, group, case),
                test_files=test_files(group.spectrum.tests),
                tests=tuple(texts_of_tests(group.failures[:5], self.sources)),
                known=case.rejected.known_fixes(),
            ).run(tasks_of(group, case, self.sources))
        case.rejected.add_fixes(outcome.in_vain)
        case.rejected.n_spared += outcome.n_spared
        self._tries[number] = Tries(
            tried=outcome.tried,
            functions={c.candidate.name: _changed(c) for c in reversed(outcome.verified)},
        )
        self._keep(number, outcome, means.library)

    def _fits(self, task: Task, description: str) -> bool | None:
        if self.llm is None:
            return None
        code = task.code[:500] if self.llm.may_send(task.filename) else ""
        said = self.llm.advisor.is_applicable(task.error, code, description)
        if said is None or said.confidence <= CONFIDENCE:
            return None
        return said.applicable

    def _edits(self, case: Case) -> Iterator[Candidate]:
        """Small edits of the likeliest suspects; first those that inspections saw repair."""
        tried = {
            (inspection.target, trial.words): trial.effect.rank
            for inspection in case.inspections
            for trial in inspection.finding.trials
        }
        if "mutants" in self.settings.without:
            return
        for target in case.targets()[:N_SUSPECTS]:
            found = self.sources.unit(target)
            if found is None or reaches_out(*found, self.settings.never_edited):
                continue
            source, unit = found
            heat = case.near.suspiciousness(target)
            patches = list(mutants(source, unit, heat))
            patches.sort(key=lambda patch: -tried.get((target, patch.words), -1))
            made = [(p.words.partition(",")[0], p.line, p.words, p.patched) for p in patches]
            # Both go from the hottest line to the coolest: neither waits for the other's end.
            repairing = (
                (name, edit.line, f"line {edit.line}: {edit.words}", text)
                for name, edit, text in repairs(source, unit, heat)
            )
            for made_by, line, words, text in islice(_in_turn(made, repairing), N_EDITS):
                yield Candidate(
                    tools=(made_by.replace(" ", "-"),),
                    stage="edit",
                    level=Level.UNSAFE,
                    file=target.file,
                    before=source.text,
                    after=text,
                    message=words,
                    line=line,
                    target=target,
                )

    def _generated(self, group: FailingGroup, case: Case) -> Iterator[Candidate]:
        """The likeliest functions as a language model would mend them."""
        if self.llm is None:
            return
        for target, text, why in self.llm.fixes([group], case):
            source = self.sources.map(target.file)
            if source is not None:
                yield Candidate(
                    tools=("language-model",),
                    stage="generated",
                    level=Level.UNSAFE,
                    file=target.file,
                    before=source.text,
                    after=text,
                    message=" ".join(why.split()),
                    line=target.start_line,
                )

    # -- what is shown

    def _keep(self, number: int, outcome: Outcome, library: Library) -> None:
        shown = [
            checked
            for checked in outcome.verified
            if self.settings.shows_unsafe or checked.candidate.level is Level.SAFE
        ]
        hidden = len(outcome.verified) - len(shown)
        for checked in shown[:N_SHOWN]:
            worth = library.worth(checked.candidate.name)
            self.found.append((_fix(number, checked, worth), checked.candidate))
        if hidden:
            self.note(
                f"For fault {number} there is {_counted(hidden, 'fix', 'fixes')} that may change "
                "what the code means: see it with --bayesloc-fix-unsafe. (unsafe-fix)"
            )
        # To take a change back mends every failure; what was meant may be to change what is stored.
        if all(checked.candidate.stage == CHANGE for checked in outcome.verified):
            for candidate in outcome.shown[:N_SHOWN]:
                self.found.append((_unchecked(number, candidate), candidate))
        if not outcome.verified:
            for candidate, why in outcome.rejected[:N_SHOWN]:
                self.note(f"A fix by {candidate.name} is rejected: {why}. (rejected-fix)")
        if outcome.is_over:
            self.note(
                f"The search for a fix of fault {number} ended with its share of the budget of "
                f"{self.settings.budget_s:g} s: give more by --bayesloc-budget. (fix-budget)"
            )


def _changed(checked: Checked) -> list[str]:
    return [name_of(where) for where in (checked.patch.target, *checked.patch.others)]


def _in_turn(*streams: Iterable[T]) -> Iterator[T]:
    """One of each stream, then the second of each, and so on."""
    for turn in zip_longest(*streams):
        yield from (item for item in turn if item is not None)


def _fix(number: int, checked: Checked, worth: float) -> Fix:
    candidate = checked.candidate
    return Fix(
        fault=number,
        tool=candidate.name,
        stage=candidate.stage,
        level=candidate.level,
        target=checked.patch.target,
        words=candidate.message,
        diff=checked.patch.diff,
        failing=checked.failing,
        passing=checked.passing,
        seconds=checked.seconds,
        worth=worth,
    )


def _unchecked(number: int, candidate: Candidate) -> Fix:
    patch = patch_of(candidate)
    return Fix(
        fault=number,
        tool=candidate.name,
        stage=candidate.stage,
        level=candidate.level,
        target=patch.target,
        words=candidate.message,
        diff=patch.diff,
    )


def _counted(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"
