from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.ranking.evidence.provenance import line_that_writes, mentions


@pytest.mark.parametrize(
    "body",
    [
        "CACHE['a']['b'] = 1",
        "del CACHE['a']",
        "CACHE.update(a=1)",
        "CACHE['a'].append(1)",
        "config.CACHE = {}",
        "config.CACHE.clear()",
        "setattr(config, 'CACHE', {})",
        "global CACHE; CACHE = {}",
    ],
)
def test_statement_that_changes_the_variable_is_a_writer(body: str) -> None:
    assert line_that_writes(ast.parse(f"def f():\n    {body}\n"), "shop.config.CACHE") == 2


@pytest.mark.parametrize(
    "body",
    [
        "return CACHE['a']",
        "return CACHE.get('a')",
        "OTHER['a'] = CACHE",
        "CACHE = {}; CACHE['a'] = 1",
        "return getattr(config, 'CACHE')",
    ],
)
def test_statement_that_only_reads_it_is_none(body: str) -> None:
    assert line_that_writes(ast.parse(f"def f():\n    {body}\n"), "shop.config.CACHE") == 0


def test_parameter_of_that_name_is_another_variable() -> None:
    assert line_that_writes(ast.parse("def f(CACHE):\n    CACHE['a'] = 1\n"), "m.CACHE") == 0


def test_variable_is_mentioned_by_its_last_part() -> None:
    tree = ast.parse("def f():\n    return config.CACHE\n")

    assert mentions(tree, "shop.config.CACHE")
    assert not mentions(tree, "shop.config.OTHER")
