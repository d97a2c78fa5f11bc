"""The search asks tools within their time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.fixing import TAKE_BACK
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.fixes.ahead import Ahead
from pytest_bayesloc.fixes.candidate import CHANGE, OTHER_CONSTANT, Candidate, unlikelihood
from pytest_bayesloc.fixes.check import Checked, Checker, Status
from pytest_bayesloc.fixes.definition import parse_definition
from pytest_bayesloc.fixes.library import N_JUDGED, SLOW_S, Library, ToolRunner
from pytest_bayesloc.fixes.project import Proposal, Task
from pytest_bayesloc.fixes.search import ENOUGH, LEAST_GAIN, RIVAL, STORED, Objections, Search
from tests.fakes.case import location
from tests.fakes.project import TextProject
from tests.fakes.runner import FakeRunner, as_port
from tests.unit.fixes.candidates import candidate, tried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_bayesloc.fixes.project import Project

DEFINITION = b"""\
name: slow
description: Thinks for long.
command: python
metadata: {error_pattern: KeyError, auto_apply: true}
"""


class Thinker:
    """A tool that finds nothing, and takes its time."""

    def __init__(self, seconds: float) -> None:
        self.now, self.n_asked = 0.0, 0
        self._seconds = seconds

    def propose(self, task: Task, project: Project) -> Iterator[Proposal]:
        del task, project
        self.now += self._seconds
        self.n_asked += 1
        yield from ()


class Hinter(Thinker):
    """A tool that has a hint and changes nothing."""

    def propose(self, task: Task, project: Project) -> Iterator[Proposal]:
        del project
        yield Proposal(code=task.code, message="store it anew")


def search(
    tool: Thinker | None = None,
    text: bytes = DEFINITION,
    deadline: float = 1_000,
    judge: Callable[[Task, str], bool] = lambda *_: True,
    note: Callable[[str], None] = lambda _: None,
    checker: type[Checker] = Checker,
    **more: Any,  # noqa: ANN401 - what ``Search`` takes
) -> Search:
    """A search with that tool alone, in which nothing can be run."""

    def clock() -> float:
        return tool.now if tool is not None else 0.0

    made = [replace(parse_definition(text, "slow.yaml"), propose=tool.propose)] if tool else []
    checks = checker(
        runner=None,  # type: ignore[arg-type]  # there is nothing to run
        clock=clock,
        deadline=deadline,
        failing=("t",),
        covering=lambda _: (),
    )
    tools = ToolRunner(Library(made), TextProject({}), judge, note, clock)
    return Search(tools, checks, Objections(), **more)


def tasks(n: int = 3) -> list[Task]:
    return [Task(code="", filename=f"{i}.py", error="KeyError: 'a'") for i in range(n)]


def test_a_tool_that_takes_long_is_asked_once() -> None:
    tool, notes = Thinker(2 * SLOW_S), list[str]()

    search(tool, note=notes.append).run(tasks())

    assert tool.n_asked == 1
    assert "slow took 10 s for an answer" in notes[0]


def test_no_tool_is_asked_when_time_is_up() -> None:
    for deadline, n_asked in ((SLOW_S, 2), (1_000, 3)):
        tool = Thinker(SLOW_S / 2)

        search(tool, deadline=deadline).run(tasks())

        assert tool.n_asked == n_asked


def test_a_judge_is_asked_a_few_times() -> None:
    tool, questions = Thinker(0), list[str]()

    def judge(task: Task, description: str) -> bool:
        questions.append(f"{task.filename} {description}")
        return False

    unsure = DEFINITION.replace(b"auto_apply: true", b"auto_apply: false")
    search(tool, unsure, judge=judge).run(tasks(N_JUDGED + 2))

    assert len(questions) == N_JUDGED
    assert tool.n_asked == 2  # what nobody was asked about is tried


@pytest.mark.parametrize("name", [STORED, "slow"])
def test_no_constant_is_tried_to_fit_a_value_that_is_stored(name: str) -> None:
    tool, made = Hinter(0), list[str]()
    hints = DEFINITION.replace(b"name: slow", f"name: {name}".encode())
    hints = hints.replace(b"{error", b"{level: display-only, error")

    def constants() -> Iterator[Candidate]:
        made.append(name)
        yield from ()

    hinted = search(tool, hints)
    hinted.run(tasks(1), constants=constants())

    assert [hint.name for hint in hinted.shown] == [name]
    assert made == ([] if name == STORED else [name])


def passes(change: Candidate) -> Checked:
    return tried(change, Status.UNSURE)


def failed(change: Candidate, seconds: float, status: Status = Status.STILL_FAILS) -> Checked:
    return tried(change, status, why="no", seconds=seconds)


def trying(answer: Callable[[Candidate], Checked] = passes, **more: Any) -> Search:  # noqa: ANN401
    """A search in which ``answer`` says what comes of a change, and no tool knows one."""

    class Told(Checker):
        def attempt(self, candidate: Candidate) -> Checked:
            return answer(candidate)

        def confirm(self, done: Checked) -> Checked:
            return replace(done, status=Status.VERIFIED, failing=self.failing)

    return search(deadline=1.0, checker=Told, **more)


def constant(name: str) -> Candidate:
    return candidate(f"{name} = 5\n", f"{name} = 6\n", tools=(OTHER_CONSTANT,), message=name)


def edits(**chances: float) -> list[Candidate]:
    made = [replace(constant(name), chance=chance) for name, chance in chances.items()]
    return sorted(made, key=unlikelihood)


def names(search: Search) -> list[str]:
    return [checked.candidate.message for checked in search.verified]


def test_edits_are_tried_while_a_second_gains_enough() -> None:
    search = trying(lambda change: failed(change, 1.0))

    search.run([], edits=edits(a=0.8 * LEAST_GAIN, b=1.2 * LEAST_GAIN, c=1.1 * LEAST_GAIN, d=1.0))

    assert [search.last and search.last.candidate.message, search.n_tried] == ["c", 3]


@pytest.mark.parametrize(
    ("spare_s", "has_worked", "n_tried"),
    [(0.9, True, 3), (1.5, True, 0), (1.5, False, 3), (2.5, False, 0)],
)
def test_edits_are_tried_in_half_of_the_spare_time_if_there_was_no_cpu_before(
    spare_s: float, n_tried: int, *, has_worked: bool
) -> None:
    search = trying(  # a second is left
        lambda change: failed(change, 0.1), spare_s=spare_s, has_worked=lambda: has_worked
    )

    search.run([], edits=edits(a=1.0, b=1.0, c=1.0))

    assert search.n_tried == n_tried


def test_edits_that_come_next_are_begun_on_other_runners_but_not_past_a_constant() -> None:
    events: list[str] = []

    class Noting(Checker):
        def __init__(self, **given: Any) -> None:  # noqa: ANN401 - what a checker takes
            super().__init__(**given)
            self.ahead = Ahead(lambda: [as_port(FakeRunner())])

        def attempt(self, candidate: Candidate) -> Checked:
            events.append(candidate.message)
            return failed(candidate, 0.1)

        def begin(self, candidate: Candidate) -> None:
            events.append(f"begin {candidate.message}")

    where = location("f", "a.py")
    plain = [replace(made, tools=("tool",), target=where) for made in edits(a=0.9, b=0.8, d=0.6)]
    inside = [replace(made, target=where) for made in edits(c=0.7)]
    made = search(deadline=1.0, checker=Noting)
    made.run([], edits=plain, constants=inside)

    assert events == ["begin b", "a", "b", "c", "d"]


def test_edits_that_are_not_run_are_neither_counted_nor_known_to_be_no_fix() -> None:
    search = trying(lambda change: failed(change, 0.0, Status.UNSURE))

    search.run([], edits=edits(a=1.0))

    assert search.last is not None
    assert (search.n_tried, search.failed) == (0, [])


def test_edits_that_do_not_parse_are_not_tried() -> None:
    search = trying()
    search.run([], edits=[replace(constant("a"), after="a = \n"), constant("b")])

    assert search.attempts == {OTHER_CONSTANT: (1, 1)}
    assert search.rejected == []


def test_first_edits_of_functions_are_tried_for_some_seconds_in_any_case() -> None:
    search = trying(lambda change: failed(change, 4.0))
    where = Location(file="m.py", start_line=1, end_line=1, qualname="f")

    unlikely = edits(**dict.fromkeys("abcdef", LEAST_GAIN / 100))
    search.run([], edits=[replace(edit, target=where) for edit in unlikely])

    assert search.n_tried == 2


def test_long_check_of_one_edit_that_breaks_a_test_does_not_end_the_search() -> None:
    def answer(change: Candidate) -> Checked:
        is_long = change.message == "a"
        return failed(change, 100.0, Status.BREAKS) if is_long else failed(change, 0.1)

    search = trying(answer)
    search.run([], edits=edits(a=1.0, b=LEAST_GAIN, c=LEAST_GAIN))

    assert search.n_tried == 3


def test_behind_a_repair_that_inspections_saw_only_its_rivals_are_tried() -> None:
    search = trying()

    search.begin([constant("a")])
    search.run([], edits=[constant("b")], constants=[constant("c")])

    assert names(search) == ["a", "b"]


def test_edits_that_are_far_less_likely_than_one_that_passes_are_no_rivals() -> None:
    search = trying()
    search.run([], edits=edits(a=1.0, b=RIVAL, c=RIVAL / 2))

    assert names(search) == ["a", "b"]


def test_some_constants_that_fit_are_met_before_one_is_believed() -> None:
    search = trying()
    search.run([], constants=[constant(name) for name in "abcde"])

    assert len(search.verified) == ENOUGH
    assert all("pass with 2 other changes" in checked.shown_doubt for checked in search.verified)


@pytest.mark.parametrize(("others", "is_tried"), [("a", False), ("abcde", True)])
def test_what_changed_is_taken_back_where_no_edit_is_clearly_meant(
    others: str, is_tried: bool
) -> None:
    then = replace(constant("then"), tools=(TAKE_BACK,), stage=CHANGE)

    search = trying()
    search.run([], edits=map(constant, others), taken_back=[then])

    found = [checked for checked in search.verified if checked.candidate.stage == CHANGE]
    assert [checked.shown_doubt for checked in found] == ([""] if is_tried else [])


CODE = "def f(a):\n    return {}\n"


def written(*texts: str) -> list[Candidate]:
    """Changes of ``a - 1``."""
    before = CODE.format("a - 1")
    return [replace(constant("a"), before=before, after=CODE.format(text)) for text in texts]


@pytest.mark.parametrize(("passing", "shown"), [("a", "a"), ("a - 0", "a - 0")])
def test_change_is_shown_in_plainer_words_if_tests_agree_with_those(
    passing: str, shown: str
) -> None:
    def answer(change: Candidate) -> Checked:
        is_fine = change.after.endswith((f"return {passing}\n", "return a - 0\n"))
        return passes(change) if is_fine else failed(change, 0.1)

    search = trying(answer)
    search.run([], edits=written("a - 0"))

    assert [c.candidate.after for c in search.verified] == [CODE.format(shown)]


@pytest.mark.parametrize(
    ("agreeing", "shown", "asked", "n_verified"),
    [
        ("abcd", "ab", "ab", 3),
        ("bcd", "bc", "abc", 2),
        ("d", "d", "abcd", 1),
        ("", "", "abcd", 0),
    ],
)
def test_new_processes_are_asked_about_what_is_shown_alone(
    agreeing: str, shown: str, asked: str, n_verified: int
) -> None:
    seen: list[str] = []

    class Forking(Checker):
        def attempt(self, candidate: Candidate) -> Checked:
            return passes(candidate)

        def confirm(self, done: Checked) -> Checked:
            return replace(done, status=Status.VERIFIED, failing=self.failing, is_forked=True)

        def anew(self, done: Checked) -> Checked:
            seen.append(done.candidate.message)
            agrees = done.candidate.message in agreeing
            status = Status.VERIFIED if agrees else Status.STILL_FAILS
            return replace(done, status=status, is_forked=False)

    trying = search(deadline=1.0, checker=Forking)
    trying.run([], constants=map(constant, "abcd"))

    assert [checked.candidate.message for checked in trying.best] == list(shown)
    assert seen == list(asked)
    assert trying.failed == [constant(name).key for name in asked if name not in agreeing]
    assert trying.attempts[OTHER_CONSTANT][1] == n_verified


def test_search_goes_on_where_no_new_process_agrees_to_what_inspections_saw() -> None:
    class Refusing(Checker):
        def attempt(self, candidate: Candidate) -> Checked:
            return passes(candidate)

        def confirm(self, done: Checked) -> Checked:
            is_forked = done.candidate.message == "a"
            return replace(done, status=Status.VERIFIED, failing=("t",), is_forked=is_forked)

        def anew(self, done: Checked) -> Checked:
            return replace(done, status=Status.STILL_FAILS, is_forked=False)

    trying = search(deadline=1.0, checker=Refusing)
    trying.begin([constant("a")])
    trying.run([], constants=[constant("b")])

    assert names(trying) == ["b"]


def test_two_changes_that_are_one_in_plainer_words_are_shown_once() -> None:
    search = trying()

    search.run([], edits=written("a - 0", "a", "a + 0"))

    assert [c.candidate.after for c in search.verified] == [CODE.format("a")]
    assert search.verified[0].shown_doubt == ""
