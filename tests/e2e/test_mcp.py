"""Coding agents ask by the Model Context Protocol: a real client, a real server process."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

from pytest_bayesloc.pipeline.questions import QUESTIONS
from tests.integration.conftest import (
    BUGGY,
    Projects,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.integration.conftest import Project

ARGUMENTS: dict[str, dict[str, Any]] = {
    "why": {"place": "add"},
    "source": {"place": "calc.py:2"},
    "values": {"place": "add"},
    "calls": {"place": "add"},
    "try": {"file": "calc.py", "old": "a - b", "new": "a + b"},
    "evaluate": {"file": "calc.py", "line": 2, "expression": "a, b"},
}


@pytest.fixture(scope="module")
def project(projects: Projects) -> Project:
    project = projects.make(BUGGY)
    project.run("-q", "--bayesloc")
    return project


def talk(project: Project, *talks: Callable[[Client], Awaitable[None]]) -> None:
    """Let each talk have a client, and a server process, of its own, at the same time."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pytest_bayesloc", "mcp"],
        cwd=str(project.root),
        env=project.environment(),
    )

    async def one(talk: Callable[[Client], Awaitable[None]]) -> None:
        async with Client(server) as client:
            await talk(client)

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for talk in talks:
                group.start_soon(one, talk)

    anyio.run(all_of_them)


async def called(client: Client, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - JSON
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)  # type: ignore[union-attr]  # a text


def test_each_question_is_a_tool_that_answers(project: Project) -> None:
    answers: dict[str, Any] = {}

    async def ask(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == set(QUESTIONS)
        for name in QUESTIONS:
            answers[name] = await called(client, name, **ARGUMENTS.get(name, {}))
        resource = await client.read_resource("bayesloc://last-run")
        answers["resource"] = json.loads(resource.contents[0].text)  # type: ignore[union-attr]

    talk(project, ask)

    assert answers["ranking"]["faults"][0]["suspects"][0]["place"] == "calc.py:1 add"
    assert answers["try"]["verified"]
    assert answers["evaluate"]["value"] == "(1, 2)"
    assert answers["resource"]["schema"] == "bayesloc/1"


def test_bad_arguments_are_told_and_the_server_goes_on(project: Project) -> None:
    said = []

    async def ask(client: Client) -> None:
        for name, arguments in (("why", {"place": "nothing"}), ("why", {}), ("no_tool", {})):
            with suppress(MCPError):  # of a tool that there is not, the protocol's own
                result = await client.call_tool(name, arguments)
                assert result.is_error
                said.append(result.content[0].text)  # type: ignore[union-attr]  # a text
        assert (await called(client, "values", place="add"))["values"]

    talk(project, ask)

    assert "names no suspect" in said[0]


def test_question_that_is_cancelled_leaves_the_server_at_work(project: Project) -> None:
    async def ask(client: Client) -> None:
        with anyio.move_on_after(0.05):
            await client.call_tool("run", {})
        assert (await called(client, "run"))["n_passed"] == 0

    talk(project, ask)


def test_two_clients_ask_fifty_times_each(project: Project) -> None:
    n_answered = []

    async def ask(client: Client) -> None:
        for _ in range(50):
            await called(client, "evaluate", file="calc.py", line=2, expression="a - b")
            n_answered.append(1)

    talk(project, ask, ask)

    assert len(n_answered) == 100


def test_project_without_a_failed_run_is_told(projects: Projects) -> None:
    said = []

    async def ask(client: Client) -> None:
        result = await client.call_tool("ranking", {})
        assert result.is_error
        said.append(result.content[0].text)  # type: ignore[union-attr]  # a text

    talk(projects.make({}), ask)

    assert "run the failing tests once" in said[0]
