"""The plugin's own model and loop, fed with rows instead of runs.

A row holds what every likely location shows in every kind of inspection. What a run would have
looked at, in which order, and where it would have ended, is decided here by the plugin's code.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from benchmarks.faults.shares import REAL
from pytest_bayesloc.domain.evidence import OUTCOMES, InspectionOutcome, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Role, Situation
from pytest_bayesloc.domain.fixing import MUTANTS
from pytest_bayesloc.domain.inspection import Effect, Finding, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.recording import Call, Recording
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.inspection.loop import InspectionLoop
from pytest_bayesloc.inspection.strategies.assertions import Assertions
from pytest_bayesloc.inspection.strategies.likely_fixes import MIN_CONCLUSIVE
from pytest_bayesloc.inspection.strategy import InspectionStrategy, Limits
from pytest_bayesloc.ranking.belief import ModelChoice, joint_prior
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.swallowed import SOURCE as SWALLOWED
from pytest_bayesloc.ranking.evidence.test_code import is_most, side_evidence
from pytest_bayesloc.ranking.evidence.text import Said, Terms, text_evidence, text_terms
from pytest_bayesloc.ranking.likelihoods import weigh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.evidence import Evidence, Outcome
    from pytest_bayesloc.domain.inspection import Change, InspectionPatch, Reader
    from pytest_bayesloc.domain.recording import AskedPattern, HandledError, Sample, ValueFlow
    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.inspection.strategy import Budget

    Json = Mapping[str, Any]

LOCALS = ".<locals>."
TRACEBACK = "traceback"
#: Evidence that is taken from the rows; the rest is made anew from what the rows say.
AS_COLLECTED = frozenset({TRACEBACK, "guard", "origin", "support", SWALLOWED})
_KEPT = (TRACEBACK, SWALLOWED)
#: The rows hold single edits of each likely location, of a version that tried them one location
#: after the other: so many of the likeliest, and of the others.
N_LIKELIEST, N_EDITS, N_EDITS_OF_OTHERS = 3, 24, 8
EDITS = (
    InspectionOutcome.EDIT_REPAIRS,
    InspectionOutcome.EDIT_BREAKS_OTHERS,
    InspectionOutcome.NO_EDIT_REPAIRS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a user could have set.

    Attributes:
        formula: Name of the prior.
        model: Name of the belief model.
        without: Kinds of evidence that are left out.
        threshold: Belief that decides.
        budget_s: Seconds that inspections may take.
    """

    formula: str = "blend"
    model: str = "single-fault"
    without: frozenset[str] = frozenset()
    threshold: float = 0.9
    budget_s: float = 60.0


class Problem:
    """One group of failing tests of one planted fault.

    Args:
        row: The fault's row.
        group: One of its groups.
    """

    def __init__(self, row: Json, group: Json) -> None:
        # Rows of older versions hold kinds of inspections that are gone.
        made = [one for one in group["inspections"] if one[1] in {Assertions.name, MUTANTS}]
        self.raw = {**group, "inspections": made}
        # Planted code is tested by what was there before; a planted mistake in a test is new.
        is_new = row["kind"] in {REAL, "test"}
        self.situation = Situation.NEW_TEST if is_new else Situation.REGRESSION
        self.locations = [_location(entry) for entry in group["locations"]]
        named = {(file, name) for file, name, _ in row["places"]}
        tests = {(file, _outermost(name)) for file, name in named}
        self.truth = frozenset(
            where
            for where in self.locations
            if (normpath(where.file), where.qualname) in (tests if where.is_test else named)
        )
        self.spectrum = self._spectrum()

    def _spectrum(self) -> Spectrum:
        """One that has the counts of the real one; passing tests are interchangeable in it."""
        failing: list[str] = self.raw["failing"]
        n_failing, n_passing = len(failing), self.raw["n_passing"]

        def bitset(counted: Sequence[Any]) -> int:
            failed, n_passed = int(str(counted[0]), 16), int(counted[1])
            return failed | ((1 << n_passed) - 1) << n_failing

        lines: dict[Location, dict[int, int]] = {}
        executed: dict[Location, int] = {}
        for where, entry in zip(self.locations, self.raw["locations"], strict=True):
            if not where.is_test and entry["lines"]:
                lines[where] = {n: bitset(part) for part in entry["lines"] for n in part[2]}
                executed[where] = bitset(entry["executed"])
        spectrum = Spectrum(
            tests=(*failing, *(f"passing-{n}" for n in range(n_passing))),
            failing=(1 << n_failing) - 1,
            passing=((1 << n_passing) - 1) << n_failing,
            lines=lines,
        )
        # The union over lines is lost in the rows, its counts are not.
        object.__setattr__(spectrum, "executed", executed)
        return spectrum

    def roles(self) -> dict[Location, Role]:
        """What each ranked piece of test code is to the failing tests.

        Of helpers and data the rows say only where they stand: they are taken to serve the failing
        tests of their own file, or of the folders below a conftest.
        """
        used = [set(entry["tests"]) for entry in self.raw["failures"]]
        tests = {entry["tests"][0] for entry in self.raw["failures"] if entry["tests"]}
        fixtures = set[int]().union(*used) - tests
        files = {node_id.partition("::")[0] for node_id in self.raw["failing"]}
        roles = {}
        for n, where in enumerate(self.locations):
            if n in tests or n in fixtures:
                serves_all = all(n in own for own in used)
            else:
                serves_all = files == {where.file} or where.file.endswith("conftest.py")
            if where.is_test:
                role = _role(where, is_test=n in tests, is_fixture=n in fixtures)
                roles[where] = role if serves_all else Role.PART
        return roles

    def first_evidence(self, model: str) -> list[Evidence]:
        """What needs no inspection."""
        told = [
            weigh(model, OUTCOMES[outcome], self.locations[number], source=source)
            for number, source, outcome in self.raw["evidence"]
            if source in AS_COLLECTED
        ]
        return [
            *told,
            *self._test_side_evidence(model),
            *text_evidence(self.said, model=model, situation=self.situation),
        ]

    @cached_property
    def said(self) -> dict[Location, Terms]:
        """What code says of what the failing tests say; of rows without texts, by names alone."""
        code = {where: n for n, where in enumerate(self.locations) if not where.is_test}
        tests = [Said(node_id=n, text="", message="") for n in self.raw["failing"]]
        named = text_terms(tests, code, lambda _: "")
        known = self.raw["locations"]
        return {where: own | known[code[where]].get("text", {}) for where, own in named.items()}

    def _test_side_evidence(self, model: str) -> list[Evidence]:
        frames = [failure["frames"] for failure in self.raw["failures"]]
        is_guarded = any(source == "guard" for _, source, _ in self.raw["evidence"])
        seen = {number for own in frames for number, _, is_test in own if is_test and number >= 0}
        return side_evidence(
            self.roles(),
            raised=not is_guarded and is_most(bool(o) and not o[-1][2] for o in frames),
            has_twin=is_most(bool(near["supersets"]) for near in self.raw["nearness"]),
            seen=frozenset(self.locations[number] for number in seen),
            model=model,
        )

    def _absent_swallowers(self, model: str) -> list[Evidence]:
        """What speaks for them, being in no traceback, where nobody knows that they swallowed."""
        of = {source: {n for n, s, _ in self.raw["evidence"] if s == source} for source in _KEPT}
        absent = of[SWALLOWED] - of[TRACEBACK] if of[TRACEBACK] else ()
        outcome = StaticOutcome.NOT_IN_TRACEBACK
        return [weigh(model, outcome, self.locations[n], source=TRACEBACK) for n in sorted(absent)]

    def recording(self) -> Recording:
        """Of each recorded function, its last call in each failing test, and which it calls."""
        calls: dict[str, list[Call]] = defaultdict(list)
        for node_id, number, _n, entered, left, *_ in self.raw["recorded"]:
            where = self.locations[number]
            calls[node_id].append(Call(location=where, caller=-1, entered=entered, left=left))
        edges = self.raw.get("edges", ())  # older rows have none
        return Recording(
            calls={node_id: tuple(seen) for node_id, seen in calls.items()},
            edges={(self.locations[a], self.locations[b]): n for a, b, n in edges},
        )

    def case(self, setting: Setting) -> Case:
        """What the loop starts from."""
        belief = joint_prior(
            self.spectrum,
            setting.formula,
            self.roles(),
            model=setting.model,
            situation=self.situation,
        )
        told = self.first_evidence(setting.model)
        if SWALLOWED in setting.without:
            told += self._absent_swallowers(setting.model)
        evidence = [
            item for item in told if item.location in belief and item.source not in setting.without
        ]
        failures = [
            Failure(node_id=node_id, phase="call", exc_type="", message="")
            for node_id in self.raw["failing"]
        ]
        return Case(
            failures=tuple(failures),
            spectrum=self.spectrum,
            choice=ModelChoice(
                formula=setting.formula, belief=setting.model, without=setting.without
            ),
            prior=belief,
            evidence=tuple(evidence),
        )


def problems(row: Json) -> list[Problem]:
    """The groups of one fault."""
    return [Problem(row, group) for group in row["groups"]]


def replay(problem: Problem, case: Case, setting: Setting) -> None:
    """Carry ``case`` on to where a run with ``setting`` would have left it."""
    table: dict[tuple[Location, str], list[Any]] = {
        (problem.locations[made[0]], made[1]): made
        for made in problem.raw["inspections"]
        if made[0] >= 0
    }
    clock = _Clock()
    kinds: list[InspectionStrategy] = [
        _Replayed(name, outcomes, table, clock)
        for name, outcomes in ((Assertions.name, Assertions.outcomes), (MUTANTS, EDITS))
        if name not in setting.without
    ]
    limits = Limits(threshold=setting.threshold, budget_s=setting.budget_s)
    runner = _Fails(problem.recording())
    InspectionLoop(runner, kinds, limits, clock, lambda *_: None).run(case)


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class _Fails:
    """A runner in which every test fails again, and calls are those of the row."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        del patch, limit_s
        return Rerun(tests={node_id: TestRun(verdict=Verdict.FAIL) for node_id in tests})

    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,
        detailed: Location | None = None,
    ) -> Recording:
        del tests, targets, limit_s, detailed
        return Recording() if sample else self._recording

    def follow(self, tests: Sequence[str], *, limit_s: float) -> Sequence[ValueFlow]:
        del tests, limit_s
        return ()

    def caught(
        self, tests: Sequence[str], *, limit_s: float
    ) -> Mapping[str, tuple[HandledError, ...]]:
        del tests, limit_s
        return {}

    def patterns_asked(
        self, tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Mapping[str, tuple[AskedPattern, ...]]]:
        del tests, limit_s
        return Rerun(tests={}), {}

    def samples(
        self,
        tests: Sequence[str],
        points: Sequence[tuple[Unit, Sequence[tuple[int, int]]]],
        *,
        limit_s: float,
        patch: InspectionPatch | None = None,
        is_valued: bool = True,
    ) -> Mapping[str, Sequence[Sample]]:
        del tests, points, limit_s, patch, is_valued
        return {}

    def changed_state(self, tests: Sequence[str], *, limit_s: float) -> Sequence[str]:
        del tests, limit_s
        return ()

    def under(
        self, condition: tuple[str, object], tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Sequence[Reader]] | None:
        del condition, tests, limit_s
        return None

    def readers(self, test: str, *, limit_s: float) -> Mapping[str, Sequence[Reader]]:
        del test, limit_s
        return {}

    def restored(
        self, tests: Sequence[str], names: Sequence[str], *, limit_s: float
    ) -> tuple[TestRun, Mapping[str, Sequence[Change]]]:
        del names, limit_s
        return TestRun(verdict=Verdict.NOT_RUN), dict.fromkeys(tests[:0], ())

    def cancel(self) -> None:
        return

    def resume(self) -> None:
        return

    def close(self) -> None:
        return


class _Replayed(InspectionStrategy):
    """A kind of inspection whose findings are known."""

    def __init__(
        self,
        name: str,
        outcomes: tuple[Outcome, ...],
        table: Mapping[tuple[Location, str], list[Any]],
        clock: _Clock,
    ) -> None:
        self.name, self.outcomes = name, outcomes
        self._table = table
        self._clock = clock

    def inspect(self, case: Case, target: Location, budget: Budget) -> Sequence[Finding]:
        """What was found when it was inspected; nothing if it never was."""
        del budget
        made = self._table.get((target, self.name))
        if made is None:
            return ()
        if self.name == MUTANTS:
            likeliest = [where for where, _ in case.belief.top(N_LIKELIEST)]
            made = _first_of(made, N_EDITS if target in likeliest else N_EDITS_OF_OTHERS)
        _, _, _, seconds, cpu_s, *_ = made
        self._clock.now += seconds
        outcome = outcome_of(made)
        evidence = weigh(case.model, outcome, target, source=self.name)
        return [Finding(evidence=evidence, seconds=seconds, cpu_s=cpu_s)]


def _first_of(made: Sequence[Any], at_most: int) -> list[Any]:
    """Return what trying no more than ``at_most`` of the mutants would have shown."""
    where, kind, outcome, seconds, cpu_s, n_tests, trials = made
    share = min(1.0, at_most / len(trials)) if trials else 1.0
    return [where, kind, outcome, seconds * share, cpu_s * share, n_tests, trials[:at_most]]


def outcome_of(made: Sequence[Any]) -> Outcome:
    """What an inspection came to; of mutants it is judged anew by what each of them did."""
    _, kind, outcome, _, _, _, trials = made
    if kind == MUTANTS:
        return judged([Effect[effect] for _, _, effect, _ in trials])
    return OUTCOMES[outcome]


def judged(effects: Sequence[Effect]) -> InspectionOutcome:
    """What the edits of one location come to."""
    if Effect.REPAIRS in effects:
        return InspectionOutcome.EDIT_REPAIRS
    if Effect.BREAKS_OTHERS in effects:
        return InspectionOutcome.EDIT_BREAKS_OTHERS
    n_conclusive = sum(effect is not Effect.INCONCLUSIVE for effect in effects)
    is_enough = n_conclusive >= MIN_CONCLUSIVE
    return InspectionOutcome.NO_EDIT_REPAIRS if is_enough else InspectionOutcome.INCONCLUSIVE


def _location(entry: Json) -> Location:
    return Location(
        file=entry["file"],
        start_line=entry["span"][0],
        end_line=entry["span"][1],
        qualname=entry["name"],
        is_test=entry["is_test"],
    )


def _role(where: Location, *, is_test: bool, is_fixture: bool) -> Role:
    if is_test:
        return Role.TEST
    if is_fixture:
        return Role.FIXTURE
    return Role.DATA if where.qualname == MODULE else Role.HELPER


def _outermost(qualname: str) -> str:
    """Readers blame the test, not a function inside it."""
    return qualname.partition(LOCALS)[0]
