"""The search asks tools within their time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.fixing import TAKE_BACK, Level
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.fixes.candidate import CHANGE, EDIT, OTHER_CONSTANT, Candidate, patch_of
from pytest_bayesloc.fixes.check import Checked, Checker, Status
from pytest_bayesloc.fixes.definition import parse_definition
from pytest_bayesloc.fixes.library import N_JUDGED, SLOW_S, Library, ToolRunner
from pytest_bayesloc.fixes.project import Proposal, Task
from pytest_bayesloc.fixes.search import ENOUGH, LEAST_GAIN, RIVAL, STORED, Objections, Search
from tests.fakes.project import TextProject

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
    tool: Thinker,
    text: bytes = DEFINITION,
    deadline: float = 1_000,
    judge: Callable[[Task, str], bool] = lambda *_: True,
    note: Callable[[str], None] = lambda _: None,
) -> Search:
    """A search with that tool alone, in which nothing can be run."""
    made = replace(parse_definition(text, "slow.yaml"), propose=tool.propose)
    checker = Checker(
        runner=None,  # type: ignore[arg-type]  # there is nothing to run
        clock=lambda: tool.now,
        deadline=deadline,
        failing=("t",),
        covering=lambda _: (),
    )
    tools = ToolRunner(Library([made]), TextProject({}), judge, note, lambda: tool.now)
    return Search(tools, checker, Objections(lambda _: ""))


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


class PassingChecker(Checker):
    """Tests pass with any change."""

    def attempt(self, candidate: Candidate) -> Checked:
        return Checked(candidate=candidate, patch=patch_of(candidate), status=Status.UNSURE)

    def confirm(self, done: Checked) -> Checked:
        return replace(done, status=Status.VERIFIED, failing=self.failing)


def failed(candidate: Candidate, seconds: float, status: Status = Status.STILL_FAILS) -> Checked:
    return Checked(
        candidate=candidate, patch=patch_of(candidate), status=status, why="no", seconds=seconds
    )


class FailingChecker(Checker):
    """Tests fail with any change, and take a second."""

    def attempt(self, candidate: Candidate) -> Checked:
        return failed(candidate, 1.0)


def passing(checker_type: type[Checker] = PassingChecker) -> Search:
    """A search in which all changes pass, or all fail, and no tool knows one."""
    checker = checker_type(
        runner=None,  # type: ignore[arg-type]  # nothing is run
        clock=lambda: 0.0,
        deadline=1.0,
        failing=("t",),
        covering=lambda _: (),
    )
    tools = ToolRunner(Library([]), TextProject({}), lambda *_: None, lambda _: None, lambda: 0.0)
    return Search(tools, checker, Objections(lambda _: ""))


def constant(name: str) -> Candidate:
    return Candidate(
        tools=(OTHER_CONSTANT,),
        stage=EDIT,
        level=Level.UNSAFE,
        file="m.py",
        before=f"{name} = 1\n",
        after=f"{name} = 2\n",
        message=name,
    )


def test_edits_are_tried_while_a_second_gains_enough() -> None:
    search = passing(FailingChecker)
    chances = {"a": 0.8 * LEAST_GAIN, "b": 1.2 * LEAST_GAIN, "c": 1.1 * LEAST_GAIN, "d": 1.0}

    edits = [replace(constant(name), chance=chance) for name, chance in chances.items()]
    search.run([], edits=edits)

    assert [search.last and search.last.candidate.message, search.n_tried] == ["c", 3]


def test_edits_that_are_not_run_are_neither_counted_nor_known_to_be_no_fix() -> None:
    class Idle(Checker):
        def attempt(self, candidate: Candidate) -> Checked:
            return failed(candidate, 0.0, Status.UNSURE)

    search = passing(Idle)
    search.run([], edits=[replace(constant("a"), chance=1.0)])

    assert search.last is not None
    assert (search.n_tried, search.failed) == (0, [])


def test_edits_that_do_not_parse_are_not_tried() -> None:
    search = passing()
    search.run([], edits=[replace(constant("a"), after="a = \n"), constant("b")])

    assert search.attempts == {OTHER_CONSTANT: (1, 1)}
    assert search.rejected == []


def test_first_edits_of_functions_are_tried_for_some_seconds_in_any_case() -> None:
    class Slow(Checker):
        def attempt(self, candidate: Candidate) -> Checked:
            return failed(candidate, 4.0)

    search = passing(Slow)
    where = Location(file="m.py", start_line=1, end_line=1, qualname="f")
    edits = [replace(constant(name), chance=LEAST_GAIN / 100, target=where) for name in "abcdef"]
    search.run([], edits=edits)

    assert search.n_tried == 2


class BreakingChecker(Checker):
    """The first change takes long until it is seen to break a test; all others fail at once."""

    def attempt(self, candidate: Candidate) -> Checked:
        if candidate.message == "a":
            return failed(candidate, 100.0, Status.BREAKS)
        return failed(candidate, 0.1)


def test_long_check_of_one_edit_does_not_end_the_search() -> None:
    search = passing(BreakingChecker)
    chances = {"a": 1.0, "b": LEAST_GAIN, "c": LEAST_GAIN}

    edits = [replace(constant(name), chance=chance) for name, chance in chances.items()]
    search.run([], edits=edits)

    assert search.n_tried == 3


def test_behind_a_repair_that_inspections_saw_only_its_rivals_are_tried() -> None:
    search = passing()

    search.begin([constant("a")])
    search.run([], edits=[constant("b")], constants=[constant("c")])

    assert [checked.candidate.message for checked in search.verified] == ["a", "b"]


def test_edits_that_are_far_less_likely_than_one_that_passes_are_no_rivals() -> None:
    chances = {"a": 1.0, "b": RIVAL, "c": RIVAL / 2}
    edits = [replace(constant(name), chance=chance) for name, chance in chances.items()]

    search = passing()
    search.run([], edits=edits)

    assert [checked.candidate.message for checked in search.verified] == ["a", "b"]


def test_some_constants_that_fit_are_met_before_one_is_believed() -> None:
    search = passing()
    search.run([], constants=[constant(name) for name in "abcde"])

    assert len(search.verified) == ENOUGH
    assert all("pass with 2 other changes" in checked.shown_doubt for checked in search.verified)


@pytest.mark.parametrize(("edits", "is_tried"), [("a", False), ("abcde", True)])
def test_what_changed_is_taken_back_where_no_edit_is_clearly_meant(
    edits: str, is_tried: bool
) -> None:
    then = replace(constant("then"), tools=(TAKE_BACK,), stage=CHANGE)

    search = passing()
    search.run([], edits=map(constant, edits), taken_back=[then])

    found = [checked for checked in search.verified if checked.candidate.stage == CHANGE]
    assert [checked.shown_doubt for checked in found] == ([""] if is_tried else [])


class LiteralChecker(PassingChecker):
    """Tests pass with changes that have a number in them alone."""

    def attempt(self, candidate: Candidate) -> Checked:
        is_plain = not any(character.isdigit() for character in candidate.after)
        return failed(candidate, 0.1) if is_plain else super().attempt(candidate)


@pytest.mark.parametrize(
    ("checker", "shown"), [(PassingChecker, "a"), (LiteralChecker, "a - 0")], ids=["plain", "not"]
)
def test_change_is_shown_in_plainer_words_if_tests_agree_with_those(
    checker: type[Checker], shown: str
) -> None:
    search = passing(checker)
    code = "def f(a):\n    return {}\n"

    whole = replace(constant("a"), before=code.format("a - 1"), after=code.format("a - 0"))
    search.run([], edits=[whole])

    assert [c.candidate.after for c in search.verified] == [code.format(shown)]


def test_two_changes_that_are_one_in_plainer_words_are_shown_once() -> None:
    search = passing()
    code = "def f(a):\n    return {}\n"
    edits = [
        replace(constant("a"), before=code.format("a - 1"), after=code.format(text))
        for text in ("a - 0", "a", "a + 0")
    ]

    search.run([], edits=edits)

    assert [c.candidate.after for c in search.verified] == [code.format("a")]
    assert search.verified[0].shown_doubt == ""
