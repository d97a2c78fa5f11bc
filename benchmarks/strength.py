"""Count how many mutants of our own code the tests kill.

    python -m benchmarks.strength draw 200 benchmarks/strength.json
    python -m benchmarks.strength run benchmarks/strength.json RESULT.json

``draw`` takes mutants of operators, constants, conditions and statements, one a function, by
chance. ``run`` plants one after the other into this checkout, so run it in a copy that nobody
edits. It runs the tests of the module's folder for all of them first (``near``), then those of
``make test`` for the ones that live (``short``), then the ``thorough`` ones. The result is the
test that failed first, or the last stage that a mutant lived through. A run that was ended goes on
where it stopped. A mutant whose lines are gone is called ``gone``.
"""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
import time
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.source import FunctionNode, SourceMap
from pytest_bayesloc.fixes.mutations import edits, operators
from pytest_bayesloc.syntax.text import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.fixes.site import Site
    from pytest_bayesloc.syntax.text import TextEdit

ROOT = Path(__file__).resolve().parents[1]
SEED = 47
LIMIT_S = 1200


def drop_statement(site: Site) -> Iterator[TextEdit]:
    """Leave out a statement that is there for its effect."""
    for node in site.nodes:
        if isinstance(node, ast.stmt) and _is_effect(node):
            yield site.replace(node, "pass", f"`{brief(site.of(node), 50)}` dropped")


def _is_effect(node: ast.stmt) -> bool:
    """A statement that is there for what it does, and without which the names still exist."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Await))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    if isinstance(node, ast.If):
        last = node.body[-1]
        return not node.orelse and isinstance(last, (ast.Return, ast.Raise, ast.Continue))
    return isinstance(node, (ast.AugAssign, ast.Raise, ast.Delete, ast.Break))


MUTATIONS = (
    operators.change_boolean,
    operators.change_arithmetic,
    operators.change_comparison,
    operators.change_constant,
    operators.negate_condition,
    operators.negate_clause,
    operators.change_return,
    drop_statement,
)
PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
STAGES = ("near", "short", "thorough")
SPREAD = ("-n", "auto", "--dist", "worksteal")


def draw(n: int) -> list[dict[str, str]]:
    """Draw ``n`` mutants; the same at each call."""
    rng = random.Random(SEED)
    places = []
    for path in sorted((ROOT / "pytest_bayesloc").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        source = SourceMap(path.read_text(encoding="utf-8"), name)
        places += [(source, unit) for unit in source.units if isinstance(unit.node, FunctionNode)]
    rng.shuffle(places)
    drawn: list[dict[str, str]] = []
    for source, unit in places:
        span = range(unit.location.start_line, unit.location.end_line + 1)
        made = list(edits(MUTATIONS, source, unit, dict.fromkeys(span, 1.0)))
        if made and len(drawn) < n:
            mutation, edit, changed = rng.choice(made)
            named = {"file": unit.location.file, "function": unit.location.qualname}
            words = {"mutation": mutation, "words": edit.words}
            drawn.append({**named, **words, **_change(source.text, changed)})
    return drawn


def _change(before: str, after: str) -> dict[str, str]:
    """Return the lines that differ, old and new, with enough of those above to find them again."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    steps = [s for s in SequenceMatcher(a=old, b=new).get_opcodes() if s[0] != "equal"]
    start, end, new_start, new_end = steps[0][1], steps[-1][2], steps[0][3], steps[-1][4]
    above = 0
    while before.count("".join(old[start - above : end])) != 1:
        above += 1
    return {
        "old": "".join(old[start - above : end]),
        "new": "".join(new[new_start - above : new_end]),
    }


def run(mutants: list[dict[str, str]], path: Path) -> None:
    """Run the tests on each mutant, and keep after each which one killed it, in ``path``."""
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for stage in STAGES:
        for number, mutant in enumerate(mutants):
            known = results.get(str(number), "")
            if not known or (known in STAGES and STAGES.index(known) < STAGES.index(stage)):
                begun = time.monotonic()
                results[str(number)] = found = _planted(mutant, stage)
                path.write_text(json.dumps(results, indent=1), encoding="utf-8")
                took = time.monotonic() - begun
                place = f"{mutant['file']} {mutant['function']}"
                print(f"{number} {place}: {found} ({took:.0f} s)", flush=True)
    print(dict(Counter(found.partition(":")[0] for found in results.values())))


def _planted(mutant: dict[str, str], stage: str) -> str:
    """Return the test that fails in ``stage``, with it in front; its name alone if none does."""
    file = ROOT / mutant["file"]
    text = file.read_text(encoding="utf-8")
    if text.count(mutant["old"]) != 1:
        return "gone"
    file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        failed = _first_failure(_tests(stage, Path(mutant["file"]).parts[1].removesuffix(".py")))
    finally:
        file.write_text(text, encoding="utf-8")
    return f"{stage}: {failed}" if failed else stage


def _tests(stage: str, package: str) -> list[str]:
    if stage == "thorough":
        return [*SPREAD, "-m", "thorough"]
    near = [f"tests/{kind}/{package}" for kind in ("unit", "integration")]
    found = [folder for folder in near if (ROOT / folder).is_dir()]
    return found if stage == "near" and found else [*SPREAD, "-m", "not thorough"]


def _first_failure(args: list[str]) -> str:
    try:
        done = subprocess.run(
            [*PYTEST, *args], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "too long"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].partition(" - ")[0] if lines else "no report" if done.returncode else ""


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["draw", number, name]:
            Path(name).write_text(json.dumps(draw(int(number)), indent=1), encoding="utf-8")
        case ["run", name, result]:
            run(json.loads(Path(name).read_text(encoding="utf-8")), Path(result))
        case _:
            sys.exit(__doc__)
