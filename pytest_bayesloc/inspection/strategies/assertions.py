"""Assertions in the target: does it break what held in all passing calls?

The patch adds a heartbeat to the target, and its invariants as real assertions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import lru_cache

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError, PatchError
from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import Check, Finding, InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, compile_tree, parse
from pytest_bayesloc.inspection.gate import SEE_LOCALS
from pytest_bayesloc.inspection.reflection import (
    classify,
    describe,
    finding_of,
    fired_checks,
    innocents,
    reflect,
    signals_of,
    watch,
)
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.inspection.writing import LineWriter, heartbeat
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.invariants import RESULT, Invariant
from pytest_bayesloc.ranking.likelihoods import weigh
from pytest_bayesloc.syntax.expressions import names_of
from pytest_bayesloc.syntax.nodes import (
    every_bound,
    is_docstring,
    names_in,
    nodes_inside,
    nodes_of,
)

Propose = Callable[[Location, Sequence[Invariant]], Sequence[InspectionPatch]]

KIND = "assertions"
MAX_CHECKS = 16
ENTRY = "_bayesloc_in_"
# Built-ins that conditions call.
BUILTINS = frozenset({"all", "len", "repr", "type", "zip"})
_COLLATERAL = frozenset(
    {InspectionOutcome.COLLATERAL_FAILURE, InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT}
)


class Assertions(InspectionStrategy):
    """Runs patches that only look, and judges what they saw.

    ``propose`` returns patches of a location, given its invariants.
    """

    name = KIND
    outcomes = (InspectionOutcome.TARGET_ASSERTION_FAILED, InspectionOutcome.COLLATERAL_FAILURE)

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    def inspect(self, case: Case, target: Location, budget: Budget) -> Sequence[Finding]:
        """Run each proposed patch of ``target``."""
        known = case.is_raising(target)  # the traceback says so already: each source once
        invariants = [i for i in case.invariants.get(target, ()) if not (known and i.at_raise)]
        try:
            patches = self._propose(target, invariants)
        except ExecutionError:
            raise
        except BayeslocError:
            return ()
        findings = []
        for patch in patches:
            if not budget.left_s():
                break
            rerun = watch(case, patch, budget)
            failing, passing = case.divide(rerun.tests)
            fired = fired_checks(failing, passing)
            signals = signals_of(failing, passing, n_swapped=rerun.n_swapped)
            if case.innocent is None and (fired or case.model == "independent"):
                case.innocent = innocents(case.recording, case.failing, case.invariants)
            decision, reason = reflect(patch, fired, case.innocent or frozenset())
            outcome = classify(signals, decision)
            # The measured model is only told what was measured: there, a callee that broke an
            # invariant excuses nobody, and that nothing fired means nothing without assertions.
            if case.model != "independent" and outcome in _COLLATERAL:
                outcome = InspectionOutcome.COLLATERAL_FAILURE
                if not patch.checks:
                    outcome = InspectionOutcome.INCONCLUSIVE
            why = describe(patch, fired, reason)
            evidence = weigh(case.model, outcome, target, source=patch.kind, why=why)
            findings.append(finding_of(evidence, patch, rerun, signals, decision))
        return findings


# -- the patch


def propose(source: SourceMap, unit: Unit, invariants: Sequence[Invariant]) -> InspectionPatch:
    """Return a patch of the file of ``source`` that checks ``invariants`` in ``unit``.

    Raises:
        PatchError: If the patched text does not compile.
    """
    names = names_in(unit.node)
    # What may look at all its local variables must get no new ones.
    usable = [i for i in invariants if names.isdisjoint(SEE_LOCALS) or not _saved(i)]
    if not any(isinstance(exit_, ast.Raise) for exit_ in _own_exits(unit.node)):
        usable = [i for i in usable if not i.at_raise]
    chosen = sorted(usable, key=lambda i: (not i.at_exit, -i.support))[:MAX_CHECKS]
    checks = tuple(
        Check(number=n, at_exit=i.at_exit, text=i.words, support=i.support)
        for n, i in enumerate(chosen)
    )
    patched = _AssertionWriter(source.text).write(unit, chosen)
    try:
        compile_tree(parse(patched), unit.location.file)
    except (SyntaxError, ValueError) as error:
        raise PatchError(
            f"Inspection patch for {unit.location} does not compile ({error}): skipped.",
            slug="bad-patch",
        ) from error
    return InspectionPatch(
        target=unit.location, kind=KIND, original=source.text, patched=patched, checks=checks
    )


class _AssertionWriter(LineWriter):
    """Writes the checks of a function at its entry and exits."""

    def write(self, unit: Unit, invariants: Sequence[Invariant]) -> str:
        if not isinstance(unit.node, FunctionNode):
            body = getattr(unit.node, "body", [])
            first = next((s for s in body if not _keeps_first_place(s)), None)
            if first is not None and self.starts_line(first):
                self.put_before(first, [heartbeat(unit)])
            return "".join(self.lines)
        hidden = _hidden_builtins(self.text)
        made = [(i, _assertion(n, i, hidden)) for n, i in enumerate(invariants)]
        at_entry = [text for i, text in made if not i.at_exit]
        at_raise = [text for i, text in made if i.at_raise]
        at_exit = [text for i, text in made if i.at_exit and not i.at_raise]
        if not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in nodes_inside(unit.node)):
            last = unit.node.body[-1]
            if at_exit and not isinstance(last, (ast.Return, ast.Raise)):  # it falls off its end
                self.put_behind(last, [f"{RESULT} = None", *at_exit])
            for leaving in sorted(_own_exits(unit.node), key=lambda e: e.lineno, reverse=True):
                if isinstance(leaving, ast.Return) and at_exit:
                    self.check_return(leaving, at_exit)
                elif isinstance(leaving, ast.Raise) and at_raise:
                    self.put_before(leaving, at_raise)
        saved = {name for invariant in invariants for name in _saved(invariant)}
        keep = [f"{ENTRY}{name} = {name}" for name in sorted(saved)]
        self.enter(unit.node, [heartbeat(unit), *keep, *at_entry])
        return "".join(self.lines)


def _assertion(number: int, invariant: Invariant, hidden: frozenset[str]) -> str:
    note = f"{invariant.words}: held in all {invariant.support} passing calls"
    tree = ast.parse(invariant.condition, mode="eval")
    names = nodes_of(tree, ast.Name)
    data = invariant.condition.encode()
    # The condition reaches built-ins that the file hides by another way.
    for column in sorted((n.col_offset for n in names if n.id in hidden), reverse=True):
        data = data[:column] + b"__bayesloc__.builtins." + data[column:]
    return f"assert {data.decode()}, __bayesloc__.violated({number}, {note!r})"


def _saved(invariant: Invariant) -> set[str]:
    """Return the parameters whose value at entry ``invariant`` needs."""
    names = names_of(invariant.condition)
    return {n.removeprefix(ENTRY) for n in names if n.startswith(ENTRY)}


@lru_cache(maxsize=16)
def _hidden_builtins(text: str) -> frozenset[str]:
    """Return names of ``BUILTINS`` that mean something else somewhere in a file."""
    found = every_bound(parse(text))
    return BUILTINS if "*" in found else BUILTINS & found


def _keeps_first_place(statement: ast.stmt) -> bool:
    """Return whether it must stay first: docstrings and ``__future__`` imports must."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return is_docstring(statement)


def _own_exits(node: ast.AST) -> list[ast.Return | ast.Raise]:
    return [child for child in nodes_inside(node) if isinstance(child, (ast.Return, ast.Raise))]
