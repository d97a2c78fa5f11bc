"""Check an edit in seconds: lint, imports, types, and the tests of the parts that it concerns.

A test file is concerned if it imports, over any number of modules, one that differs from the
commit that is named (``HEAD`` if none is). Runs of whole projects are left to ``make test``.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "pytest_bayesloc"
#: Folders of modules that no package holds: their imports are read here.
LOOSE = ("tests", "benchmarks")
#: Tests that run in seconds: units, and the same parts on a disk or in a database.
PARTS = ("tests/unit/**/test_*.py", "tests/integration/*/test_*.py")
PAGES = "tests/docs"
OF_PAGES = ("docs/", "README.md", "mkdocs.yml", ".ci/", "pytest_bayesloc/options", PAGES)
OF_ALL = frozenset({"pyproject.toml", "tests/conftest.py"})
#: Up to so many files, two workers take longer to start than they save.
N_FILES_ALONE = 12


def main(base: str = "HEAD") -> int:
    """Return 0 if all checks and tests pass, else 1."""
    files = changed(base)
    tests = concerned(files)
    print(f"{len(files)} changed files concern {len(tests)} files of tests.", flush=True)
    commands = [
        ["mypy"],
        ["ruff", "check", "--quiet"],
        ["ruff", "format", "--check", "--quiet"],
        ["lint-imports", "--no-logo"],
    ]
    if tests:
        workers = "2" if len(tests) > N_FILES_ALONE else "0"
        commands.append(["pytest", "--quiet", "-n", workers, *tests])
    # mypy keeps one core busy, and the others have the rest.
    with ThreadPoolExecutor(2) as pool:
        return int(any(list(pool.map(run, commands))))


def run(command: list[str]) -> int:
    """Run a tool of this environment, print what it says if it fails, and return its status."""
    begun = time.monotonic()
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    text = done.stdout + done.stderr if done.returncode else "".join(done.stdout.splitlines()[-1:])
    print(f"{command[0]} ({time.monotonic() - begun:.1f} s): {text}".rstrip(), flush=True)
    return done.returncode


def changed(base: str) -> list[str]:
    """List the files that differ from ``base``, and those that git does not know yet."""
    commands = (
        ["git", "diff", "--name-only", base],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    outputs = [subprocess.check_output(command, cwd=ROOT, text=True) for command in commands]
    return "".join(outputs).splitlines()


def concerned(files: list[str]) -> list[str]:
    """List the test files that import what is changed, and the tests of pages if one is."""
    tests = sorted(path for pattern in PARTS for path in ROOT.glob(pattern))
    if OF_ALL.isdisjoint(files):
        affected = importers(files)
        tests = [path for path in tests if not affected.isdisjoint(imports_of(path))]
    names = [str(path.relative_to(ROOT)) for path in tests]
    return names + [PAGES] * any(file.startswith(OF_PAGES) for file in files)


def importers(files: list[str]) -> set[str]:
    """Name the modules that are changed, and those of the package that import them."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    modules: set[str] = set()
    for path in (ROOT / file for file in files):
        module = module_of(path)
        # Data may be read by each module of the package that it lies in.
        modules.add(module)
        if path.suffix != ".py" and module in graph.modules:
            modules |= graph.find_descendants(module)
    known = modules & graph.modules
    return modules.union(*(graph.find_downstream_modules(module) for module in known))


def module_of(path: Path) -> str:
    """Return the dotted name of a module; for data, that of the package around it."""
    if path.suffix != ".py":
        packages = (folder for folder in path.parents if (folder / "__init__.py").exists())
        path = next(packages, path)
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> set[str]:
    """Name all modules that a test file imports, itself or by its helpers."""
    names = {module_of(path)}
    waiting = [path]
    while waiting:
        new = named_in(waiting.pop()) - names
        names |= new
        loose = (ROOT.joinpath(*name.split(".")) for name in new if name.startswith(LOOSE))
        waiting += [file for file in (name.with_suffix(".py") for name in loose) if file.exists()]
    return names


@cache
def named_in(path: Path) -> frozenset[str]:
    """Name what a file imports, and the conftests that pytest loads for it."""
    names = {
        module_of(folder / "conftest.py") for folder in path.parents if folder.is_relative_to(ROOT)
    }
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
