"""Measure the structure of the package: what a newcomer has to hold in the head.

    python -m benchmarks.structure [FOLDER]

It prints one table. Lines include docstrings and blanks; a function's length is that of its body
without its docstring; a module's importers are the other modules of the package that import it.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = Path(__file__).resolve().parents[1] / "pytest_bayesloc"
RIDDLES = ("What", "How", "Whose", "Which", "Who", "Where", "Why")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main(folder: Path) -> None:
    """Print the table of ``folder``, a package."""
    texts = {path: path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    for name, value in {
        "modules": len(trees),
        "lines": sum(len(text.splitlines()) for text in texts.values()),
        "options": _n_options(),
        **_classes(trees),
        "public names": sum(len(list(_public(tree))) for tree in trees.values()),
        "modules with one importer": _n_single(folder, trees),
        **_functions(trees),
        "docstrings that begin with a riddle": sum(map(_n_riddles, trees.values())),
    }.items():
        print(f"{name:38}{value:>8}")


def _classes(trees: Mapping[Path, ast.Module]) -> dict[str, int]:
    classes = [n for tree in trees.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    names = Counter(node.name for node in classes)
    return {
        "classes": len(classes),
        "class names defined more than once": sum(n > 1 for n in names.values()),
        "dataclasses and structs": sum(_is_record(node) for node in classes),
        "protocols": sum("Protocol" in _bases(node) for node in classes),
    }


def _bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def _is_record(node: ast.ClassDef) -> bool:
    decorators = {ast.unparse(d).partition("(")[0] for d in node.decorator_list}
    return "dataclass" in decorators or bool(_bases(node) & {"NamedTuple", "Struct"})


def _public(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (Function, ast.ClassDef)) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                t.id for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_")
            )


def _functions(trees: Mapping[Path, ast.Module]) -> dict[str, float]:
    lengths = [
        _length(node)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, Function)
    ]
    return {
        "function body, median": median(lengths),
        "function body, 90th percentile": quantiles(lengths, n=10)[-1],
        "function body, longest": max(lengths),
    }


def _length(node: Function) -> int:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return 0 if not body else (body[-1].end_lineno or 0) - body[0].lineno + 1


def _n_riddles(tree: ast.Module) -> int:
    kinds = (ast.Module, ast.ClassDef, *Function.__args__)
    texts = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds))
    return sum(text is not None and text.split(" ", 1)[0] in RIDDLES for text in texts)


def _n_single(folder: Path, trees: Mapping[Path, ast.Module]) -> int:
    """Count the modules that one other module of the package imports."""
    modules = {_dotted(folder, path): path for path in trees}
    importers = Counter(
        target
        for path, tree in trees.items()
        for target in {name for name in _imported(tree) if name in modules}
        if modules[target] != path
    )
    inits = {name for name, path in modules.items() if path.name == "__init__.py"}
    return sum(n == 1 for name, n in importers.items() if name not in inits)


def _dotted(folder: Path, path: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _n_options() -> int:
    from pytest_bayesloc.options.settings import declarations

    return len(declarations())


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE)
