"""Each tool of the package does what its examples say."""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_bayesloc.fixes.tools as shelf
from pytest_bayesloc.fixes.syntax import tree_of
from tests.fakes.project import TextProject
from tests.unit.fixes import examples

if TYPE_CHECKING:
    from pytest_bayesloc.fixes.project import Propose
    from tests.unit.fixes.examples import Example

FOLDER = Path(shelf.__path__[0])
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
N_SHOWN = 3


def _examples() -> list[tuple[str, int]]:
    return [(name, i) for name in MODULES for i in range(len(_tool(name)[1]))]


def _tool(name: str) -> tuple[Propose, tuple[Example, ...]]:
    return (
        import_module(f"{shelf.__name__}.{name}").propose,
        import_module(f"{examples.__name__}.{name}").EXAMPLES,
    )


@pytest.mark.parametrize(("name", "number"), _examples())
def test_a_tool_does_what_its_example_says(name: str, number: int) -> None:
    propose, examples = _tool(name)
    example = examples[number]

    found = list(islice(propose(example.task(), TextProject(example.files)), N_SHOWN))

    if example.after is None:
        assert found == []
    else:
        made = [p.message for p in found if p.code == example.after]
        assert any(example.says in message for message in made)
        assert all(proposal.message for proposal in found)


@pytest.mark.parametrize("name", MODULES)
def test_a_tool_has_an_example_that_it_leaves_alone(name: str) -> None:
    _, examples = _tool(name)

    assert any(example.after is None for example in examples)
    assert any(example.after is not None for example in examples)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("code", ["", "\n", "def f(:\n", "x = '\n", "\ufeffx = 1\n", "\x00"])
def test_a_tool_takes_any_text(name: str, code: str) -> None:
    propose, examples = _tool(name)
    for example in examples:
        task = example.task()
        odd = type(task)(code=code, filename="app.py", error=task.error, line=1, lines=(1,))

        for proposal in islice(propose(odd, TextProject({})), N_SHOWN):
            assert proposal.code != code


@pytest.mark.parametrize(("name", "number"), _examples())
def test_what_a_tool_makes_of_code_that_parses_parses(name: str, number: int) -> None:
    propose, examples = _tool(name)
    example = examples[number]
    if not example.filename.endswith(".py") or tree_of(example.before) is None:
        return  # such a file is allowed to stay broken

    made = [p.code for p in propose(example.task(), TextProject(example.files))]

    assert [code for code in made if tree_of(code) is None] == []
