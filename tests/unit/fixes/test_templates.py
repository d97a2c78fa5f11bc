"""Each template's examples, and that what it makes can be put in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.fixes.edits import TEMPLATES, repairs

if TYPE_CHECKING:
    from pytest_bayesloc.fixes.edits.site import Template

HEAD = "def f(self, first, second):\n    "
EXAMPLES = [
    pytest.param(template, before, after, id=f"{template.name}: {before}")
    for template in TEMPLATES
    for before, after in template.examples
]


def repaired(body: str, template: Template | None = None) -> list[str]:
    """The bodies that templates make of ``body``, whose every line is hot."""
    text = f"{HEAD}{body}\n"
    source = SourceMap(text, "m.py")
    hot = dict.fromkeys(range(1, text.count("\n") + 1), 1.0)
    wholes = [
        made
        for used, _, made in repairs(source, source.units[1], hot)
        if template is None or used is template
    ]
    assert all(whole.startswith(HEAD) for whole in wholes)
    return [whole.removeprefix(HEAD).removesuffix("\n") for whole in wholes]


@pytest.mark.parametrize(("template", "before", "after"), EXAMPLES)
def test_a_template_does_what_its_example_says(template: Template, before: str, after: str) -> None:
    assert after in repaired(before, template)


BODIES = (
    "'''Docs.'''\n    return self.x[first:second]",
    "try:\n        a, b = first\n    except KeyError as e:\n        raise ValueError(e) from e",
    "with first() as g:\n        for i in range(3):\n            if i and second:\n"
    "                break\n            g.append(i)\n    return g",
    "return {k: v for k, v in first.items() if k != 'a'}",
    "if first: return second\n    return 'ß' + str(second)",
    "while first:\n        first -= 1\n    else:\n        second = '''\n  x\n'''\n    return 1",
    "async def g():\n        await first.read()\n    return g",
)


@pytest.mark.parametrize("body", BODIES)
def test_what_templates_make_parses(body: str) -> None:
    made = repaired(body)

    assert made
    for text in made:
        ast.parse(f"{HEAD}{text}\n")


def test_lines_that_no_failing_test_executed_are_left_alone() -> None:
    source = SourceMap(f"{HEAD}a = first\n    b = second\n    return a\n", "m.py")

    found = {edit.line for _, edit, _ in repairs(source, source.units[1], {2: 0.5, 3: 0.0})}

    assert found == {2}


def test_every_template_has_a_name_of_its_own_and_an_example() -> None:
    assert len({template.name for template in TEMPLATES}) == len(TEMPLATES)
    assert all(template.examples for template in TEMPLATES)
