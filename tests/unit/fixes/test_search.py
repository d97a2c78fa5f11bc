"""The search asks tools within their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.fixing import Task
from pytest_bayesloc.fixes.checking import Checker
from pytest_bayesloc.fixes.definition import parsed
from pytest_bayesloc.fixes.library import Library, Source, Tool
from pytest_bayesloc.fixes.search import SLOW_S, Search
from tests.fakes.project import TextProject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Proposal

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


def asked(seconds: float, deadline: float) -> tuple[int, list[str]]:
    """How often a tool is asked that takes ``seconds``, and what is said."""
    tool, notes = Thinker(seconds), list[str]()
    made = Tool(
        definition=parsed(DEFINITION, "slow.yaml"), source=Source.PACKAGE, propose=tool.propose
    )
    checker = Checker(
        runner=None,  # type: ignore[arg-type]  # there is nothing to run
        clock=lambda: tool.now,
        deadline=deadline,
        failing=("t",),
        covering=lambda _: (),
    )
    search = Search(
        library=Library([made]),
        project=TextProject({}),
        checker=checker,
        forbids=lambda _: "",
        judge=lambda *_: True,
        note=notes.append,
    )
    search.run([Task(code="", filename=f"{i}.py", error="KeyError: 'a'") for i in range(3)])
    return tool.n_asked, notes


def test_a_tool_that_takes_long_is_asked_once() -> None:
    n_asked, notes = asked(2 * SLOW_S, deadline=1_000)

    assert n_asked == 1
    assert "slow took 10 s for an answer" in notes[0]


def test_no_tool_is_asked_when_time_is_up() -> None:
    assert asked(SLOW_S / 2, deadline=SLOW_S) == (2, [])
    assert asked(SLOW_S / 2, deadline=1_000) == (3, [])
