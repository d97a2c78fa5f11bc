"""Assertions that a language model writes, and its verdict on what they show.

Its answer is never run itself: the assertions that the gate lets pass are written into the function
as it stands.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.inspection import Check, Finding, InspectionPatch, Rerun
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import ProposedCode, TargetContext
from pytest_bayesloc.domain.source import (
    FunctionNode,
    SourceMap,
    Unit,
    compile_tree,
    first_line,
    lines_of,
    parse,
)
from pytest_bayesloc.inspection.gate import additions, admit
from pytest_bayesloc.inspection.reflection import (
    classify,
    finding_of,
    fired_checks,
    signals_of,
    watch,
)
from pytest_bayesloc.inspection.rules import Addition
from pytest_bayesloc.inspection.strategies import assertions
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.inspection.views import Views
from pytest_bayesloc.inspection.writing import LineWriter, heartbeat
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.invariants import RESULT
from pytest_bayesloc.ranking.evidence.judgements import (
    INSPECTION,
    Judged,
    VerdictCounts,
    learned_likelihood,
)
from pytest_bayesloc.ranking.likelihoods import weigh

KIND = "generated"
MAX_TEXT = 200

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

#: The model's verdict on an inspected target, and the reason.
Reflection = tuple[Decision, str]


class Pending(Protocol[T_co]):
    """A call under way."""

    def is_done(self) -> bool:
        """Say whether its result is there."""

    def result(self, seconds: float) -> T_co:
        """Return its result.

        Raises:
            TimeoutError: If it takes longer than ``seconds``.
        """


@dataclass(kw_only=True)
class _Work:
    """One target on its way: proposed, run, reflected on."""

    target: Location
    proposal: Pending[ProposedCode | None]
    patch: InspectionPatch | None = None
    rerun: Rerun | None = None
    reflection: Pending[Reflection | None] | None = None


@dataclass(kw_only=True)
class Generated(InspectionStrategy):
    """Asks a language model about the likeliest candidates while others are inspected.

    Attributes:
        guide: Name of the model.
        propose: Returns the target with assertions about what it should do; None if it can't.
        reflect: Returns what an inspection of the target means; None if it can't.
        start: Starts a call elsewhere.
        views: Puts together what it is shown.
        unit: The code of a location.
        counts: How often it was right.
        known: Of a group, by its first failing test, what is remembered.
        refused: Told why a patch of its is not run.
        n_targets: Candidates of a group that it is asked about.
    """

    guide: str
    propose: Callable[[TargetContext], ProposedCode | None]
    reflect: Callable[[TargetContext], Reflection | None]
    start: Callable[[Callable[[], Any]], Pending[Any]]
    views: Views
    unit: Callable[[Location], tuple[SourceMap, Unit] | None]
    counts: VerdictCounts
    known: Mapping[str, tuple[str, ...]]
    refused: Callable[[str], None]
    n_targets: int = 3
    name: str = KIND
    _work: list[_Work] = field(default_factory=list)

    def prepare(self, case: Case) -> None:
        """Ask for assertions in the likeliest functions."""
        self._work.clear()
        for target in case.targets():
            if len(self._work) == self.n_targets:
                break
            found = self.unit(target)
            if found is None or not found[1].is_function or not case.near.is_reached(target):
                continue
            asked = self.start(partial(self.propose, self._view(case, target)))
            self._work.append(_Work(target=target, proposal=asked))

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterable[Finding]:
        """Run what was proposed, ask what that means, and give what was answered."""
        until = budget.clock() + wait_s
        for work in self._work:
            if work.rerun is None and budget.left_s():
                self._run(work, case, budget, until)
        for work in tuple(self._work):
            if work.reflection is None:
                continue
            if work.reflection.is_done() or until > budget.clock():
                reflection = result_of(work.reflection, until - budget.clock())
                self._work.remove(work)
                if reflection is not None or (work.patch is not None and work.patch.checks):
                    yield self._finding(work, reflection, case)

    def _view(self, case: Case, target: Location) -> TargetContext:
        known = self.known.get(case.failing[0], ())
        return self.views.target(case, target, known)

    def _run(self, work: _Work, case: Case, budget: Budget, until: float) -> None:
        """Run the tests under what was proposed, if it is there; then ask what it means."""
        if not work.proposal.is_done() and until <= budget.clock():
            return
        proposed = result_of(work.proposal, until - budget.clock())
        patch = work.patch = self._patch(work.target, proposed)
        if patch is None:
            return
        rerun = work.rerun = watch(case, patch, budget)
        view = self.views.inspected(self._view(case, work.target), case, patch, rerun)
        work.reflection = self.start(partial(self.reflect, view))

    def _patch(self, target: Location, proposed: ProposedCode | None) -> InspectionPatch | None:
        """Make the proposed patch, if it may be run; else the heartbeat alone."""
        found = self.unit(target)
        if found is None:
            return None
        try:
            if proposed is not None:
                return propose(*found, proposed)
        except PatchError as error:
            self.refused(
                f"The language model's inspection of {target.qualname} is not run: {error}"
            )
        try:
            return assertions.propose(*found, ())
        except PatchError:
            return None

    def _finding(self, work: _Work, reflection: Reflection | None, case: Case) -> Finding:
        assert work.patch is not None  # noqa: S101 - it was run
        assert work.rerun is not None  # noqa: S101 - likewise
        rerun, patch = work.rerun, work.patch
        failing, passing = case.divide(rerun.tests)
        signals = signals_of(failing, passing, n_swapped=rerun.n_swapped)
        decision = Decision.NEUTRAL if reflection is None else reflection[0]
        outcome = classify(signals, decision)
        learned = learned_likelihood(outcome, INSPECTION, self.counts)
        if learned is not None:
            case.judged.append(
                Judged(guide=self.guide, use=INSPECTION, location=work.target, said=outcome)
            )
        why = _why(patch, fired_checks(failing, passing), reflection)
        evidence = weigh(case.model, outcome, work.target, source=KIND, why=why, learned=learned)
        return finding_of(evidence, patch, rerun, signals, decision)


def result_of(pending: Pending[T | None], seconds: float) -> T | None:
    """Return the result of a call; None if that takes longer than ``seconds``."""
    try:
        return pending.result(max(0.0, seconds))
    except TimeoutError:
        return None


def _why(patch: InspectionPatch, fired: Sequence[int], reflection: Reflection | None) -> str:
    texts = [check.text for check in patch.checks if check.number in fired]
    n = len(patch.checks)
    if texts:
        shown = f"fails in failing tests only: {', '.join(texts[:3])}"
    elif n:
        shown = f"all {n} assertions of the language model hold"
    else:
        shown = "it was executed"
    if reflection is None:
        return shown
    decision, reason = reflection
    word = decision.value.lower().replace("_", " ")
    return f"{shown}; the language model: {word}, {reason}"


# -- the patch


def propose(source: SourceMap, unit: Unit, answer: ProposedCode) -> InspectionPatch:
    """Make a patch of the file of ``source`` with the assertions of ``answer`` in ``unit``.

    Raises:
        PatchError: If the answer does anything else, or can't be put in place.
    """
    if not isinstance(unit.node, FunctionNode):
        raise PatchError("it is for code that is no function", slug="llm-gate")
    found = admit(unit.node, answer.text, source.module.node)
    rewriter = _Rewriter()
    try:
        made = [rewriter.rewrite(addition) for addition in found]
        patched = _AdditionWriter(source.text).write(unit, unit.node, made)
        _hold_together(patched, source, unit, made)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PatchError(f"it does not compile ({error})", slug="llm-gate") from error
    return InspectionPatch(
        target=unit.location,
        kind=KIND,
        original=source.text,
        patched=patched,
        checks=tuple(rewriter.checks),
        words=answer.why,
    )


def _hold_together(patched: str, source: SourceMap, unit: Unit, made: Sequence[Addition]) -> None:
    """Check that ``patched`` is the text of ``source`` with what was ``made`` in its place.

    Raises:
        PatchError: If something was written where it does not belong.
        SyntaxError: If it does not compile; so do the errors of the parser.
    """
    compile_tree(parse(patched), unit.location.file)
    twin = SourceMap(patched, unit.location.file).units[source.units.index(unit)]
    assert isinstance(unit.node, FunctionNode)  # noqa: S101 - nothing else is asked for
    if (
        not isinstance(twin.node, FunctionNode)
        or _around(patched, twin) != _around(source.text, unit)
        or ast.get_docstring(twin.node) != ast.get_docstring(unit.node)
        or _written(additions(unit.node, twin.node)) != _written(made)
    ):
        raise PatchError("an assertion of it has no place of its own", slug="llm-gate")


def _around(text: str, unit: Unit) -> tuple[str, str]:
    """Return the text before and behind a function."""
    lines = lines_of(text)
    before, behind = lines[: unit.first_line - 1], lines[unit.location.end_line :]
    return "".join(before), "".join(behind).rstrip("\r\n")


def _written(found: Sequence[Addition]) -> list[tuple[int, str, list[str]]]:
    return [(id(a.anchor), a.where, [ast.dump(s) for s in a.statements]) for a in found]


class _Rewriter(ast.NodeTransformer):
    """Turns assertions into checks that say by their number that they failed."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._name = ""
        self._is_entry = False

    def rewrite(self, addition: Addition) -> Addition:
        """Rewrite an addition to what is put into the text."""
        self._name, self._is_entry = addition.name, addition.is_entry
        made = [self.visit(copy.deepcopy(statement)) for statement in addition.statements]
        return replace(addition, statements=tuple(map(ast.fix_missing_locations, made)))

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """Turn ``assert x`` into ``assert x, __bayesloc__.violated(number, "x")``."""
        said = " ".join(ast.unparse(node.test).split())[:MAX_TEXT]
        number = len(self.checks)
        check = Check(number=number, at_exit=not self._is_entry, text=said, support=0)
        self.checks.append(check)
        told = ast.parse(f"__bayesloc__.violated({number}, {said!r})", mode="eval").body
        return ast.Assert(test=self.visit(node.test), msg=told)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Give the returned value our own name for it."""
        return ast.Name(RESULT, node.ctx) if self._name and node.id == self._name else node


class _AdditionWriter(LineWriter):
    """Writes additions into the original text."""

    def write(self, unit: Unit, node: FunctionNode, made: Sequence[Addition]) -> str:
        """Return the text with all of them, and with the heartbeat.

        Raises:
            PatchError: If one has no place of its own in the text.
        """
        at_entry: list[str] = []
        for addition in sorted(made, key=_position, reverse=True):
            lines = [line for s in addition.statements for line in ast.unparse(s).splitlines()]
            if addition.is_entry:
                at_entry = lines
            else:
                self._put(addition, lines)
        self.enter(node, [heartbeat(unit), *at_entry])
        return "".join(self.lines)

    def _put(self, addition: Addition, lines: Sequence[str]) -> None:
        anchor, before = addition.anchor, "".join(self.lines)
        if addition.where == "return":
            assert isinstance(anchor, ast.Return)  # noqa: S101 - the gate names no other
            self.check_return(anchor, lines)
        elif addition.where == "end":
            self.put_behind(anchor, lines)
        else:
            self.put_before(anchor, lines)
        if "".join(self.lines) == before:
            raise PatchError(
                "an assertion of it has no line of its own to stand on", slug="llm-gate"
            )


def _position(addition: Addition) -> tuple[int, int, int]:
    """Order additions by their place: later ones first, so that the lines above keep their numbers.

    Of two blocks that end on one line, the outer one's end comes first, and is pushed down by the
    inner one's. What a return returns is named before anything is put above it. Of what
    starts on one line, the last is first.
    """
    anchor = addition.anchor
    if addition.where == "end":
        return (anchor.end_lineno or anchor.lineno, 0, -anchor.col_offset)
    kind = 2 if addition.where == "return" else 1
    return (first_line(anchor) - 1, kind, anchor.col_offset)
