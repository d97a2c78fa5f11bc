"""Faults in tests: the program is right, and a test, fixture or test data is not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.suites.bodies import bodies
from benchmarks.suites.edits import Operator, Site, drawn
from benchmarks.suites.functions import read
from benchmarks.suites.operators_tests import (
    bad_data,
    missing_set_up,
    wrong_call,
    wrong_comparison,
    wrong_exception_expected,
    wrong_expectation,
    wrong_fixture,
    wrong_row,
    wrong_use,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.suites.change import Change
    from benchmarks.suites.functions import SourceFile

KIND = "test"

OPERATORS: tuple[Operator[Site], ...] = (
    wrong_expectation,
    wrong_comparison,
    wrong_exception_expected,
    bad_data,
    wrong_row,
    wrong_fixture,
    wrong_call,
    wrong_use,
    missing_set_up,
)


def faulty_tests(files: Sequence[SourceFile], dice: random.Random) -> Iterator[Change]:
    """Faults in the order that ``dice`` gives: first the operator, then the place.

    Args:
        files: Files of tests.
        dice: Decides the order.
    """
    return drawn(KIND, OPERATORS, (site for file in files for site in sites(file)), dice)


def test_source_files(tree: Path, *roots: str) -> Iterator[SourceFile]:
    """The files of tests that can be parsed, named relative to ``tree``.

    They are those that pytest collects or reads by their name, and among the others in folders
    of tests those that one of these imports: what else lies there is data.

    Args:
        tree: The folder of everything.
        roots: Files and folders of ``tree`` that are looked into; none means all of it.
    """
    found = sorted({path for root in roots or (".",) for path in _python_files(tree / root)})
    sources = [(path, source) for path in found if (source := read(path, tree)) is not None]
    collected = [source for path, source in sources if _is_collected(path.name)]
    imported = set[str]().union(*(_imported(source.syntax) for source in collected))
    for path, source in sources:
        among_tests = {"tests", "test"} & set(path.relative_to(tree).parts[:-1])
        if _is_collected(path.name) or (among_tests and path.stem in imported):
            yield source


def sites(file: SourceFile) -> Iterator[Site]:
    """Tests, fixtures and what helps them, then test data of the module and its classes."""
    yield from (function for function in file.functions if function.stands_alone)
    yield from bodies(file)


def _python_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for path in root.rglob("*.py"):
        if not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path


def _is_collected(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def _imported(syntax: ast.Module) -> set[str]:
    """The words of all import statements."""
    words = set[str]()
    for node in ast.walk(syntax):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            words.update(word for alias in node.names for word in alias.name.split("."))
        if isinstance(node, ast.ImportFrom) and node.module:
            words.update(node.module.split("."))
    return words
