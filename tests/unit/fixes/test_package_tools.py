"""Each tool of the package does what its examples say."""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.source import tree_of
from pytest_bayesloc.fixes.project import Proposal, Task
from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS
from tests.fakes.project import TextProject
from tests.unit.fixes import examples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.unit.fixes.examples import Example

NAMES = [tool.name for tool in PACKAGE_TOOLS]
N_SHOWN = 3


def examples_of(name: str) -> tuple[Example, ...]:
    module = import_module(f"{examples.__name__}.{name.replace('-', '_')}")
    found: tuple[Example, ...] = module.EXAMPLES
    return found


EXAMPLES = [(name, number) for name in NAMES for number in range(len(examples_of(name)))]


def answer(name: str, task: Task, files: Mapping[str, str]) -> list[Proposal]:
    """What the tool ``name`` proposes first."""
    (propose,) = (tool.propose for tool in PACKAGE_TOOLS if tool.name == name)
    assert propose is not None
    return list(islice(propose(task, TextProject(files)), N_SHOWN))


@pytest.mark.parametrize(("name", "number"), EXAMPLES)
def test_a_tool_does_what_its_example_says_and_makes_python_of_python(
    name: str, number: int
) -> None:
    example = examples_of(name)[number]

    found = answer(name, example.task(), example.files)

    if example.after is None:
        assert found == []
    else:
        made = [p.message for p in found if p.code == example.after]
        assert any(example.says in message for message in made)
        assert all(proposal.message for proposal in found)
    if example.filename.endswith(".py") and tree_of(example.before) is not None:
        assert [proposal.code for proposal in found if tree_of(proposal.code) is None] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_has_an_example_that_it_leaves_alone(name: str) -> None:
    is_fixed = [example.after is not None for example in examples_of(name)]

    assert any(is_fixed)
    assert not all(is_fixed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("code", ["", "\n", "def f(:\n", "\ufeffx = 1\n", "\x00"])
def test_a_tool_takes_any_text(name: str, code: str) -> None:
    tasks = [
        Task(code=code, filename="app.py", error=example.error, line=1, lines=(1,))
        for example in examples_of(name)
    ]

    made = [proposal.code for task in tasks for proposal in answer(name, task, {})]

    assert code not in made


@pytest.mark.parametrize(
    ("text", "is_guess"),
    [("{'a': 1,}\n", False), ('{"a": [1, 2\n', True), ('{"a": 1}\n{"a": 2}\n', True)],
)
def test_brackets_that_json_lacks_are_a_guess(text: str, is_guess: bool) -> None:
    task = Task(code=text, filename="a.json", error="json.decoder.JSONDecodeError: Expecting")

    (found,) = answer("json-syntax", task, {})

    assert found.is_guess == is_guess
