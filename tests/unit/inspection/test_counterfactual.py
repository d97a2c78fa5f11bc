"""Which changes are taken back, alone and together, and what that tells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome, Outcome
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import Changes, DataChange, FileChange
from pytest_bayesloc.history.git import Commit, GitHistory
from pytest_bayesloc.inspection.strategies.counterfactual import (
    MAX_FAILING,
    MAX_RERUNS,
    MAX_SETS,
    MAX_SINGLE,
    Counterfactual,
)
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.belief import MODELS
from tests.fakes.case import case_of
from tests.fakes.clock import Clock
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.inspection import Finding, InspectionPatch, TestRun
    from pytest_bayesloc.ranking.case import Case


def text(names: str, value: int) -> str:
    return "".join(f"def {name}():\n    return {value}\n" for name in names)


def change(file: str, names: str, *, is_test: bool = False) -> FileChange:
    """All functions of a file return 1 now, and returned 0."""
    return FileChange(
        before=SourceMap(text(names, 0), file, is_test=is_test),
        now=SourceMap(text(names, 1), file, is_test=is_test),
    )


def since(changes: Sequence[FileChange], commit: str = "") -> Changes:
    files = {made.now.file: made for made in changes}
    return Changes(files=files, known=frozenset(files), commit=commit)


def case(
    changes: Sequence[FileChange], *, known: str = "", n_failing: int = 1, error: str = "E"
) -> Case:
    """Functions are the likelier the earlier they stand in ``known``."""
    places = {where.qualname: where for made in changes for where in made.changed}
    chosen = known or tuple(places)
    total = sum(range(1, len(chosen) + 1))
    prior = {places[name]: (len(chosen) - n) / total for n, name in enumerate(chosen)}
    failing = tuple(f"f{n}" for n in range(n_failing))
    case = case_of(spectrum_of(failing, ()), prior, changes=since(changes))
    case.errors = dict.fromkeys(failing, error)
    return case


@dataclass
class Past(GitHistory):
    """Older states, by what changed since."""

    since: dict[str, Changes]
    asked: list[str] = field(default_factory=list)

    def states(self) -> list[Commit]:
        return [Commit(id=name, name=name, date="", subject="") for name in self.since]

    def changes(self, state: Commit) -> Changes:
        self.asked.append(state.id)
        return self.since[state.id]


def taken_back(patch: InspectionPatch) -> str:
    """The names of the functions that ``patch`` takes back."""
    parts = (patch, *patch.companions)
    return "".join(where.qualname for p in parts for where in (p.target, *p.others))


@dataclass
class Opened:
    """What came of opening a case.

    Attributes:
        tried: The sets that were taken back, in order.
        patches: The same in full.
        found: The findings by location.
    """

    tried: list[str] = field(default_factory=list)
    patches: list[InspectionPatch] = field(default_factory=list)
    found: list[tuple[str, Outcome]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


FAILS = replace(FAILED, error="E")


def opened(
    work: Case,
    repairs: Callable[[set[str]], bool],
    *,
    otherwise: TestRun = FAILS,
    n_swapped: int = 1,
    step_s: float = 0.0,
    history: Past | None = None,
) -> Opened:
    """Open ``work``, where ``repairs`` tells whether tests pass without a set of changes."""
    done = Opened()

    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        assert patch is not None
        if patch.patched == patch.original:  # as it is, in a new process
            return PASSED if repairs(set()) else otherwise
        if node_id == "f0":
            done.tried.append(taken_back(patch))
            done.patches.append(patch)
        return PASSED if repairs(set(taken_back(patch))) else otherwise

    runner = FakeRunner(answer=answer, n_swapped=n_swapped)
    budget = Budget(as_port(runner), Clock(step=step_s), 60.0, work)
    for finding in Counterfactual(history).open(work, budget):
        evidence = finding.evidence
        done.found.append((evidence.location.qualname, evidence.outcome))
        done.findings.append(finding)
    return done


REPAIRS, NOTHING = ChangeOutcome.REVERT_REPAIRS, ChangeOutcome.REVERT_CHANGES_NOTHING


def test_single_change_that_repairs_ends_the_search() -> None:
    done = opened(case([change("m.py", "abc")]), lambda back: "b" in back)

    assert done.tried == ["a", "b"]
    assert done.found == [("a", NOTHING), ("b", REPAIRS)]
    assert "-    return 1\n+    return 0" in done.findings[1].diff


def test_likeliest_change_is_taken_back_first_and_none_is_named_if_all_repair_nothing() -> None:
    done = opened(case([change("m.py", "abc")], known="cab"), lambda _: False)

    assert done.tried == ["c", "a", "b", "abc"]
    assert done.found == [("c", NOTHING), ("a", NOTHING), ("b", NOTHING)]


def test_changes_that_only_repair_together_are_all_named() -> None:
    changes = [change("m.py", "abc"), change("n.py", "de")]

    done = opened(case(changes), lambda back: back >= set("bd"))

    assert done.tried[:6] == [*"abcde", "abcde"]
    assert [name for name, outcome in done.found if outcome is REPAIRS] == ["b", "d"]
    assert done.findings[-1].evidence.why.endswith("(together with 1 more place)")
    assert "a/n.py" in done.findings[-1].diff
    assert "a/m.py" in done.findings[-1].diff


def test_test_that_passes_in_a_new_process_anyway_is_repaired_by_no_change() -> None:
    changes = [change("m.py", "abc"), change("n.py", "de")]

    done = opened(case(changes), lambda back: not back or back >= set("bd"))

    assert not any(outcome is REPAIRS for _, outcome in done.found)


def test_other_files_travel_as_companions_and_other_functions_as_others() -> None:
    changes = [change("m.py", "ab"), change("n.py", "c")]

    done = opened(case(changes), lambda _: False)

    (together,) = done.patches[3:]
    assert [where.qualname for where in together.others] == ["b"]
    assert [part.target.file for part in together.companions] == ["n.py"]
    assert together.patched == text("ab", 0)


def test_lone_change_that_repairs_nothing_is_tried_once_more_by_an_import() -> None:
    """An import may have run its code before it was swapped."""
    done = opened(case([change("m.py", "a")]), lambda _: False)

    assert [(*taken_back(patch), patch.fresh) for patch in done.patches] == [
        ("a", False),
        ("a", True),
    ]


def test_lone_change_that_an_import_took_back_is_not_tried_twice() -> None:
    made = FileChange(before=SourceMap("X = 1\n", "m.py"), now=SourceMap("X = 2\n", "m.py"))

    assert opened(case([made]), lambda _: False).tried == ["<module>"]


def test_change_that_no_failing_test_executed_is_only_taken_back_with_others() -> None:
    done = opened(case([change("m.py", "ab")], known="a"), lambda back: back == set("ab"))

    assert done.tried[:2] == ["a", "ab"]
    assert done.found == [("a", NOTHING), ("a", REPAIRS), ("b", REPAIRS)]


def test_tests_are_taken_back_last_and_without_the_code() -> None:
    changes = [change("test_m.py", "tu", is_test=True), change("m.py", "ab")]

    done = opened(case(changes, known="abtu"), lambda back: "t" in back)

    assert done.tried == ["a", "b", "ab", "tu", "t"]
    assert done.found[-1] == ("t", REPAIRS)
    assert all(patch.fresh for patch in done.patches[3:])


def test_tests_are_left_alone_where_code_repairs() -> None:
    changes = [change("test_m.py", "t", is_test=True), change("m.py", "ab")]

    assert opened(case(changes), lambda back: back == set("ab")).tried[-1] != "t"


def test_change_of_a_default_is_taken_back_by_an_import() -> None:
    made = FileChange(
        before=SourceMap("def a(x=1):\n    return x\ndef b(): return 1\n", "m.py"),
        now=SourceMap("def a(x=2):\n    return x\ndef b(): return 2\n", "m.py"),
    )
    (a,) = (where for where in made.changed if where.qualname == "a")
    work = case([change("m.py", "a")])
    work.changes = since([made])
    work.belief = MODELS["single-fault"]({a: 1.0})

    done = opened(work, lambda back: "a" in back)

    assert done.patches[0].fresh


@pytest.mark.parametrize(
    "otherwise",
    [
        replace(FAILED, error="NameError: what it called is new"),
        replace(FAILED, verdict=Verdict.TIMEOUT),
    ],
    ids=["fail in another way", "do not end"],
)
def test_change_is_not_judged_by_tests_that(otherwise: TestRun) -> None:
    done = opened(case([change("m.py", "a")]), lambda _: False, otherwise=otherwise)

    assert done.found == [("a", InspectionOutcome.INCONCLUSIVE)]


def test_tests_that_pass_though_nothing_was_put_in_place_prove_nothing() -> None:
    done = opened(case([change("m.py", "ab")]), lambda _: True, n_swapped=0)

    assert {outcome for _, outcome in done.found} == {InspectionOutcome.INCONCLUSIVE}
    assert done.tried[:2] == ["a", "b"]


def test_change_that_repairs_some_of_the_tests_is_the_cause_of_these_alone() -> None:
    work = case([change("m.py", "a")], n_failing=2)
    runner = FakeRunner(answer=lambda _, node_id: PASSED if node_id == "f0" else FAILS)

    first, last = Counterfactual().open(work, Budget(as_port(runner), Clock(), 60.0, work))

    assert first.evidence.outcome is InspectionOutcome.INCONCLUSIVE
    assert (last.evidence.outcome, *last.tests) == (REPAIRS, "f0")
    assert work.explained() == (frozenset({"f0"}),)


def test_lines_that_repair_more_than_all_of_their_function_are_the_cause_of_all() -> None:
    """What else it was then does not fit to what others are now."""
    made = FileChange(
        before=SourceMap("def a():\n    x = 1\n    y = 1\n    z = 1\n", "m.py"),
        now=SourceMap("def a():\n    x = 2\n    y = 1\n    z = 2\n", "m.py"),
    )
    work = case([made], n_failing=2)
    wanted = {"f0": ("x = 1",), "f1": ("x = 1", "z = 2")}

    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        assert patch is not None
        return PASSED if all(text in patch.patched for text in wanted[node_id]) else FAILS

    budget = Budget(as_port(FakeRunner(answer=answer)), Clock(), 60.0, work)
    list(Counterfactual().open(work, budget))

    assert [(c.first_line, c.tests) for c in work.breaking] == [(2, ("f0", "f1"))]
    assert work.explained() == ()


def test_number_of_failing_tests_is_bounded() -> None:
    work, runner = case([change("m.py", "a")], n_failing=30), FakeRunner()

    list(Counterfactual().open(work, Budget(as_port(runner), Clock(), 60.0, work)))

    assert [len(tests) for _, tests in runner.asked] == [MAX_FAILING] * 2


def test_nothing_is_tried_without_time() -> None:
    work, runner = case([change("m.py", "ab")]), FakeRunner()

    assert list(Counterfactual().open(work, Budget(as_port(runner), Clock(), 0.0, work))) == []
    assert runner.asked == []


def test_search_ends_with_the_time() -> None:
    done = opened(case([change("m.py", "abcdefgh")]), lambda _: False, step_s=5.0)

    assert 0 < len(done.tried) < 5


def test_number_of_re_runs_is_bounded() -> None:
    letters = "".join(chr(n) for n in range(ord("a"), ord("z") + 1)) + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    needed = set(letters[::2])

    done = opened(case([change("m.py", letters)]), lambda back: back >= needed)

    assert len(done.tried) <= MAX_SINGLE + MAX_SETS + MAX_RERUNS
    assert {name for name, outcome in done.found if outcome is REPAIRS} >= needed


@pytest.mark.parametrize("history", [None, Past({"c": Changes(commit="c")})], ids=["now", "then"])
def test_nothing_is_done_where_nothing_is_known_to_differ(history: Past | None) -> None:
    work = case([change("m.py", "a")])
    work.changes = Changes()

    assert opened(work, lambda _: True, history=history).tried == []


def test_text_that_can_not_be_made_is_passed_over() -> None:
    made = FileChange(
        before=SourceMap("A = 1\n", "m.py"),
        now=SourceMap("A = 2\ndef a():\n    return 1\n", "m.py"),
    )
    module, a = made.changed
    work = case([change("m.py", "a")])
    work.changes = since([made])
    work.belief = MODELS["single-fault"]({module: 0.6, a: 0.4})

    done = opened(work, lambda _: False)

    assert done.tried == ["a", "<module>a"]  # the module's text of then has no place for it


def test_code_that_passes_is_looked_for_where_no_green_run_is_known() -> None:
    young, old = since([change("m.py", "a")], "young"), since([change("m.py", "abc")], "old")
    work = case([change("m.py", "abc")])
    rates = DataChange(file="rates.csv", before=None, now="2")
    work.changes = Changes(data=(rates,))

    done = opened(work, lambda back: "b" in back, history=Past({"young": young, "old": old}))

    assert done.tried[:2] == ["a", "abc"]
    assert done.found[-1] == ("b", REPAIRS)
    assert done.findings[-1].evidence.why.endswith("as it was at old")
    assert work.changes == replace(old, data=(rates,))
    assert {item.outcome for item in work.evidence} == {ChangeOutcome.CHANGED_SINCE_GREEN}


def test_change_is_no_evidence_where_the_tests_fail_with_all_older_code() -> None:
    work = case([change("m.py", "ab")])
    work.changes = Changes()
    past = Past({"c": since([change("m.py", "ab")], "c")})

    done = opened(work, lambda _: False, history=past)

    assert done.tried == ["ab"]
    assert done.found == []
    assert work.evidence == ()


def test_older_code_is_left_alone_where_a_green_run_is_known() -> None:
    past = Past({"c": since([change("m.py", "ab")], "c")})
    nothing_changed = case([change("m.py", "ab")])
    nothing_changed.changes = Changes(known=frozenset("m"))

    opened(case([change("m.py", "ab")]), lambda _: False, history=past)
    opened(nothing_changed, lambda _: False, history=past)

    assert past.asked == []


def test_looking_back_leaves_most_of_the_time_to_the_rest() -> None:
    work = case([change("m.py", "a")])
    work.changes = Changes()
    past = Past({str(n): since([change("m.py", "a")], str(n)) for n in range(8)})

    done = opened(work, lambda _: False, step_s=5.0, history=past)

    assert len(done.tried) == 1
