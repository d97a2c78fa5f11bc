"""Groups of failing tests, each with its candidates, prior and the evidence at hand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Frame, Origin, Role
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault, Ranked
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.belief import MODELS
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.changes import change_evidence
from pytest_bayesloc.ranking.evidence.guards import Guard, refusals
from pytest_bayesloc.ranking.evidence.names import name_evidence
from pytest_bayesloc.ranking.evidence.suspects import test_suspects
from pytest_bayesloc.ranking.evidence.test_side import signs, test_side_evidence
from pytest_bayesloc.ranking.evidence.tracebacks import (
    executed_lines,
    guard_evidence,
    kind_of,
    origin_of,
    raising,
    test_evidence,
    traceback_evidence,
)
from pytest_bayesloc.ranking.formulas import function_scores
from pytest_bayesloc.ranking.grouping import groups
from pytest_bayesloc.ranking.neighbours import Neighbourhood
from pytest_bayesloc.ranking.prior import formula_of, joint_prior
from pytest_bayesloc.ranking.rows import TIE, rank

N_ROWS = 300
N_REACHED = 10  # rows of which is said what failing test executed them
N_TOLD = 50  # failing tests of which that is said
N_SUSPECTS = 5  # of each fault, whose calls are shown
_RAISED = frozenset({StaticOutcome.RAISE_FRAME, StaticOutcome.GUARD_REFUSED})
#: A test that holds so much of the belief is said to be at fault.
LIKELY = 0.5
_ORIGINS = {
    Role.TEST: Origin.TEST,
    Role.HELPER: Origin.TEST,
    Role.FIXTURE: Origin.FIXTURE,
    Role.DATA: Origin.DATA,
    Role.PART: Origin.TEST,
}
NOT_INSPECTED = "not inspected: run pytest --bayesloc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How locations are found and texts are read.

    Attributes:
        read: The locations of a file, by its path relative to rootdir.
        module: The location of a module body, by its dotted name.
        changes: Per group of tests, what changed since they passed; nothing if that is not known.
    """

    read: Callable[[str], SourceMap | None]
    module: Callable[[str], Location | None]
    changes: Callable[[Sequence[Sequence[str]]], Sequence[Changes]] = lambda groups: [
        Changes() for _ in groups
    ]

    def locate(self, frame: Frame) -> Location | None:
        """The location that a frame was executing."""
        source = self.read(frame.file)
        if source is None:
            return None
        return source.unit_of_code(frame.first_line, frame.name).location


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a belief is formed.

    Attributes:
        formula: Name of the prior.
        model: Name of the belief model.
        without: Kinds of evidence that are left out.
    """

    formula: str
    model: str
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Failing tests that probably share a fault, before any inspection."""

    failures: tuple[Failure, ...]
    spectrum: Spectrum
    prior: Mapping[Location, float]
    evidence: tuple[Evidence, ...]
    guard: Guard | None
    own_errors: tuple[Evidence, ...]
    tests: Mapping[Location, Role]
    changes: Changes
    terms: Terms

    def case(self) -> Case:
        """What the loop starts from."""
        return Case(
            failing=tuple(failure.node_id for failure in self.failures),
            near=Neighbourhood(self.spectrum),
            belief=MODELS[self.terms.model](self.prior).update_all(self.evidence),
            model=self.terms.model,
            raising=frozenset(e.location for e in self.evidence if e.outcome in _RAISED),
            changes=self.changes,
            without=self.terms.without,
            stop=NOT_INSPECTED,
        )

    def fault(self, case: Case) -> Fault:
        """What came of it."""
        ranking = self._ranking(case)
        return Fault(
            failures=self.failures,
            origin=self._origin(case),
            kind=kind_of(self.failures, self.guard),
            ranking=ranking,
            stop_reason=case.stop,
            history=tuple(case.history),
            inspections=tuple(case.inspections),
            flaky=case.flaky,
            n_candidates=len(case.belief.probabilities),
            reached=self._reached(ranking[:N_REACHED]),
        )

    def _reached(self, rows: Sequence[Ranked]) -> tuple[tuple[int, ...], ...]:
        """Of the first failing tests, which of ``rows`` each executed."""
        position = {node_id: i for i, node_id in enumerate(self.spectrum.tests)}
        executed = [self.spectrum.executed.get(row.location, 0) for row in rows]
        asked = [position.get(failure.node_id) for failure in self.failures[:N_TOLD]]
        return tuple(
            () if bit is None else tuple(i for i, tests in enumerate(executed) if tests >> bit & 1)
            for bit in asked
        )

    def _origin(self, case: Case) -> Origin:
        """Where the error stands by what the failure says; else by the belief, if it says so."""
        told = origin_of(self.failures, self.guard, self.own_errors)
        for where, p in case.belief.top(1):
            if told is Origin.CODE and p >= LIKELY and where.is_test:
                return _ORIGINS[self.tests.get(where, Role.HELPER)]
        return told

    def _ranking(self, case: Case) -> tuple[Ranked, ...]:
        evidence: dict[Location, list[Evidence]] = {}
        inspected = (inspection.finding.evidence for inspection in case.inspections)
        for item in (*self.evidence, *case.evidence, *inspected):
            evidence.setdefault(item.location, []).append(item)
        return rank(
            case.belief.probabilities,
            self.prior,
            self.spectrum,
            function_scores(self.spectrum, formula_of(self.terms.formula)),
            evidence,
            values=case.values,
            limit=N_ROWS,
        )


def open_groups(
    spectrum: Spectrum, failures: Sequence[Failure], reader: Reader, terms: Terms
) -> list[Group]:
    """The failing tests of ``spectrum`` in groups, largest first."""
    by_id = {failure.node_id: failure for failure in failures}
    spectrum = _with_tracebacks(spectrum, failures, reader)
    plain = _single_owners(refusals(failures, reader.read))
    keys = {f.node_id: _key(f, plain.get(f.node_id), reader) for f in failures}
    found = []
    for bitset in groups(spectrum, keys):
        members = [by_id[n] for n in spectrum.node_ids(bitset) if n in by_id]
        if members:
            found.append((spectrum.for_failures(bitset), members))
    since = reader.changes([[failure.node_id for failure in members] for _, members in found])
    return [
        _group(own, members, plain.get(members[0].node_id), changes, reader, terms)
        for (own, members), changes in zip(found, since, strict=True)
    ]


def _single_owners(guards: Mapping[str, Guard]) -> dict[str, Guard]:
    """Guards that refused the data of one owner only.

    Where a guard refuses several owners' data it is more likely to be wrong itself.
    """
    owners: dict[tuple[Location, str], set[Location]] = {}
    for guard in guards.values():
        owners.setdefault((guard.function, guard.condition), set()).add(guard.owner)
    return {
        node_id: guard
        for node_id, guard in guards.items()
        if len(owners[guard.function, guard.condition]) == 1
    }


def _key(failure: Failure, guard: Guard | None, reader: Reader) -> Hashable | None:
    """What names the fault of ``failure`` outright, if anything does."""
    if guard is not None:
        return ("guard", guard.function, guard.owner)
    if failure.phase == "collect":
        if failure.syntax_error is not None:
            return ("syntax", failure.syntax_error[0])
        raised = raising(failure, reader.locate)
        return ("collect", raised[0][0] if raised else failure.node_id)
    return None


def _with_tracebacks(spectrum: Spectrum, failures: Sequence[Failure], reader: Reader) -> Spectrum:
    """``spectrum`` with the lines that tracebacks and syntax errors prove to be involved."""
    index = {node_id: i for i, node_id in enumerate(spectrum.tests)}
    lines = {where: dict(rows) for where, rows in spectrum.lines.items()}
    for failure in failures:
        bit = 1 << index[failure.node_id] if failure.node_id in index else 0
        proven = list(executed_lines(failure, reader.locate, reader.module))
        if failure.syntax_error is not None:
            source = reader.read(failure.syntax_error[0])
            if source is not None and not source.is_test:
                proven.append((source.module.location, failure.syntax_error[1]))
        for where, line in proven:
            rows = lines.setdefault(where, {})
            rows[line] = rows.get(line, 0) | bit
    return replace(spectrum, lines=lines)


def _group(
    spectrum: Spectrum,
    failures: Sequence[Failure],
    guard: Guard | None,
    changes: Changes,
    reader: Reader,
    terms: Terms,
) -> Group:
    tests = test_suspects(failures, reader.read)
    if guard is not None and guard.owner.is_test:
        tests.setdefault(guard.owner, Role.FIXTURE)
    ranked = spectrum if _may_be_code(spectrum, failures) else replace(spectrum, lines={})
    belief = joint_prior(ranked, terms.formula, tests, model=terms.model)
    code = {where: p for where, p in belief.items() if not where.is_test}
    own = test_evidence(failures, reader.locate, model=terms.model)
    named = guard_evidence(guard, model=terms.model) if guard is not None else []
    spared = frozenset({guard.function} if guard is not None else ())
    traced = traceback_evidence(failures, code, reader.locate, model=terms.model, spared=spared)
    recent = change_evidence(changes, belief, model=terms.model)
    called = name_evidence([f.node_id for f in failures], code, model=terms.model)
    seen = signs(failures, spectrum, reader.locate)
    if guard is not None:  # the code raised for the data that the test gave it
        seen = replace(seen, code_raised=False)
    told = test_side_evidence(seen, tests, model=terms.model)
    every = (*named, *traced, *own, *told, *called, *recent)
    known = [e for e in every if e.location in belief]
    return Group(
        failures=tuple(failures),
        spectrum=spectrum,
        prior=belief,
        evidence=tuple(e for e in known if e.log_ratio and e.source not in terms.without),
        guard=guard,
        own_errors=tuple(own),
        tests=tests,
        changes=changes,
        terms=terms,
    )


def _may_be_code(spectrum: Spectrum, failures: Sequence[Failure]) -> bool:
    """Whether code can be at fault; in a file that imported none of it before it failed, none is.

    A test that runs may use code unseen, in a process of its own, but an import can't.
    """
    executed = any(tests & spectrum.failing for tests in spectrum.executed.values())
    return executed or any(failure.phase != "collect" for failure in failures)


def combined(faults: Sequence[Fault]) -> tuple[Ranked, ...]:
    """All faults' rankings in one: each location with its highest posterior."""
    best: dict[Location, Ranked] = {}
    for fault in faults:
        for row in fault.ranking:
            if row.location not in best or row.posterior > best[row.location].posterior:
                best[row.location] = row
    rows = sorted(best.values(), key=lambda r: (-r.posterior, -r.suspiciousness, r.location))
    ties: list[list[Ranked]] = []
    for row in rows:
        if ties and ties[-1][0].posterior - row.posterior <= TIE:
            ties[-1].append(row)
        else:
            ties.append([row])
    starts = accumulate((len(tied) for tied in ties), initial=1)
    return tuple(
        replace(row, rank=start, tied=len(tied))
        for start, tied in zip(starts, ties, strict=False)
        for row in tied
    )


def calls_around(
    faults: Sequence[Fault], cases: Sequence[Case]
) -> tuple[tuple[Location, Location, int], ...]:
    """The calls near the top suspects, of those that were recorded."""
    edges = {edge: n for case in cases for edge, n in case.recording.edges.items()}
    if not edges:
        return ()
    from pytest_bayesloc.ranking.callgraph import around, call_graph

    suspects = [row.location for fault in faults for row in fault.ranking[:N_SUSPECTS]]
    graph = around(call_graph(edges), suspects)
    return tuple(sorted(graph.edges(data="calls")))
