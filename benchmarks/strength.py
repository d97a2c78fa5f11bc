"""Count how many mutants of our own code the tests kill.

    python -m benchmarks.strength draw 200 benchmarks/strength.json
    python -m benchmarks.strength run benchmarks/strength.json RESULT.json

``draw`` takes mutants of operators, constants, conditions and statements, one a function, by
chance. ``run`` plants one after the other into this checkout, so run it in a copy that nobody
edits. It runs the tests of the module's folder first, then those of ``make test``, then the
thorough ones, and stops at the first failure. A mutant with a result is not run again, so that a
run that was ended goes on where it stopped. One whose lines are gone is called ``gone``.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

from pytest_bayesloc.domain.source import FunctionNode, SourceMap
from pytest_bayesloc.fixes.mutations import edits, operators

ROOT = Path(__file__).resolve().parents[1]
SEED = 47
LIMIT_S = 1200
MUTATIONS = (
    operators.change_boolean,
    operators.change_arithmetic,
    operators.change_comparison,
    operators.change_constant,
    operators.negate_condition,
    operators.negate_clause,
    operators.change_return,
    operators.drop_statement,
)
PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
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
    for number, mutant in enumerate(mutants):
        if str(number) not in results:
            begun = time.monotonic()
            results[str(number)] = found = _planted(mutant)
            path.write_text(json.dumps(results, indent=1), encoding="utf-8")
            took = time.monotonic() - begun
            print(f"{number} {mutant['file']} {mutant['function']}: {found} ({took:.0f} s)")
    print(dict(Counter(found.partition(":")[0] for found in results.values())))


def _planted(mutant: dict[str, str]) -> str:
    file = ROOT / mutant["file"]
    text = file.read_text(encoding="utf-8")
    if text.count(mutant["old"]) != 1:
        return "gone"
    file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        return _killed(Path(mutant["file"]).parts[1].removesuffix(".py"))
    finally:
        file.write_text(text, encoding="utf-8")


def _killed(package: str) -> str:
    """Return which test failed first, with its stage in front; ``survived`` if none did."""
    near = [f"tests/{kind}/{package}" for kind in ("unit", "integration")]
    stages = {
        "near": [folder for folder in near if (ROOT / folder).is_dir()],
        "short": [*SPREAD, "-m", "not thorough"],
        "thorough": [*SPREAD, "-m", "thorough"],
    }
    for stage, args in stages.items():
        if args:
            failed = _first_failure(args)
            if failed:
                return f"{stage}: {failed}"
    return "survived"


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
