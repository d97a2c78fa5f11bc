"""Serves the questions to coding agents, by the Model Context Protocol."""

from __future__ import annotations

import json
from contextlib import closing
from functools import wraps
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.pipeline.last_run import read_last
from pytest_bayesloc.pipeline.questions import QUESTIONS, Questions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INSTRUCTIONS = """\
Where a pytest suite is red: ask `ranking` first, then `why`, `source` and `values` of a suspect. \
`evaluate` looks into a running test, `try` tries an edit in memory; neither changes a file. Edit \
a file yourself, then run pytest: it remembers what was tried.
"""


def serve(rootdir: Path) -> None:
    """Answer on standard input and output until the client hangs up."""
    with closing(Questions(rootdir)) as questions:
        server_of(questions, rootdir).run("stdio")


def server_of(questions: Questions, rootdir: Path) -> MCPServer[Any]:
    """Return a server with a tool for each question, and the last result as a resource."""
    server: MCPServer[Any] = MCPServer("pytest-bayesloc", instructions=INSTRUCTIONS)
    for name, question in QUESTIONS.items():
        text = " ".join((question.__doc__ or "").split())
        server.tool(name, description=text, structured_output=False)(_asked(question, questions))

    def last_run() -> str:
        """The JSON result of the last failed run."""
        return json.dumps(read_last(rootdir).document)

    server.resource("bayesloc://last-run", mime_type="application/json")(last_run)
    return server


def _asked(question: Callable[..., Any], questions: Questions) -> Callable[..., Any]:
    """Return a question with its errors told in the way of the protocol."""

    @wraps(getattr(questions, question.__name__))
    def ask(**given: Any) -> Any:  # noqa: ANN401 - what the schema of the question says
        try:
            return question(questions, **given)
        except BayeslocError as error:
            raise ToolError(str(error)) from error

    return ask
