"""A tool of the package as a program: ``python -m pytest_bayesloc.fixes.run NAME``.

It reads a JSON object from standard input and writes one to standard output, as each fix tool does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from pytest_bayesloc.fixes.library import MAX_PROPOSALS
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS


def main(argv: Sequence[str]) -> int:
    """Answer one request; 2 if there is no such tool or nothing to read."""
    tools = {tool.name: tool for tool in PACKAGE_TOOLS}
    if len(argv) != 1 or argv[0] not in tools:
        known = ", ".join(tools)
        sys.stderr.write(
            f"{' '.join(argv) or 'Nothing'} is no fix tool: expected one of {known}.\n"
        )
        return 2
    try:
        task = task_of(json.load(sys.stdin))
    except (ValueError, TypeError, KeyError) as error:
        sys.stderr.write(f"Standard input holds no request ({error}): see docs/fixes.md.\n")
        return 2
    propose = tools[argv[0]].propose
    assert propose is not None  # noqa: S101 - those of the package may always run
    write_answer(task, propose(task, Project((), lambda _: None)))
    return 0


def write_answer(task: Task, proposals: Iterable[Proposal]) -> None:
    """Write the first proposals to standard output, as a fix tool does."""
    made = [
        {"fixed": True, "fixed_code": found.code, "message": found.message}
        for found in islice(proposals, MAX_PROPOSALS)
    ]
    first = made[0] if made else {"fixed": False, "fixed_code": task.code, "message": ""}
    json.dump({**first, "alternatives": made[1:]}, sys.stdout)


def task_of(read: Mapping[str, object]) -> Task:
    """Returns the task in a request, which needs ``code``, ``filename`` and ``error``.

    Raises:
        KeyError: If one of them is missing.
    """
    return Task(
        code=str(read["code"]),
        filename=str(read["filename"]),
        error=str(read["error"]),
        line=int(str(read.get("line", 0))),
        test=str(read.get("test", "")),
        test_file=str(read.get("test_file", "")),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
