"""The benchmark of the memory.

python -m benchmarks.memory collect [PACKAGE ...]    a labelled set of failures, an hour
python -m benchmarks.memory report                   fingerprints and retrieval on it
python -m benchmarks.memory replay [WORD ...]        stories whose names hold a word: what is told
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults.pool import over_packages
from benchmarks.memory.labelled import collect, read
from benchmarks.memory.minilm import MiniLM
from benchmarks.memory.replay import is_good, table, tallied
from benchmarks.memory.scoring import by_meaning, hits, pairs, reference
from benchmarks.memory.stories import STORIES
from pytest_bayesloc.memory.advice import MIN_SCORE
from pytest_bayesloc.memory.retrieval import Score, by_words

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKOUT = Path(__file__).resolve().parents[2]
#: Small suites, and large ones with many failing tests.
PACKAGES = (
    "boltons", "click", "colander", "funcy", "h11", "jsonpickle", "markdown", "mako", "marshmallow",
    "parsel", "prettytable", "pydash", "pyjwt", "sqlparse", "structlog", "toolz", "traitlets",
    "webob", "werkzeug", "wtforms",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it could do its work."""
    given = _arguments().parse_args(argv)
    if given.command == "replay":
        return _replay(given.packages, show=given.show)
    work = given.work.resolve()
    if given.command == "collect":
        task = partial(
            collect, work=work, python=given.python.absolute(), plugin=given.plugin.resolve()
        )
        return over_packages(given.packages or PACKAGES, task, jobs=given.jobs)
    print(_report(work, with_embeddings=given.embeddings))
    return 0


def _replay(words: Sequence[str], *, show: bool) -> int:
    """Replay stories and print what was told; 1 if a target is missed."""
    chosen = [story for story in STORIES if all(word in story.name for word in words)]
    tally = tallied(chosen, show=show)
    print(table(tally))
    return 0 if is_good(tally) else 1


def _report(work: Path, *, with_embeddings: bool) -> str:
    rows = read(work)
    scores: dict[str, Score] = {"reference": reference(rows), "bm25": by_words}
    if with_embeddings:
        scores["bm25 and embeddings"] = by_meaning(MiniLM())
    found = pairs(rows)
    n_bugs = len({row["bug"] for row in rows})
    lines = [
        f"{len(rows)} failures of {n_bugs} bugs",
        "",
        "| precision | recall | recall of a bug, mean | stable |",
        "|---|---|---|---|",
        f"| {found.precision:.4f} | {found.recall:.3f} | {found.recall_of_bug:.3f} "
        f"| {found.stable:.3f} |",
        "",
        "| retrieval | queries | hit@3 | MRR |",
        "|---|---|---|---|",
    ]
    for name, score in scores.items():
        of = hits(rows, score)
        lines.append(f"| {name} | {of.n} | {of.at_3:.3f} | {of.mrr:.3f} |")
    shown = hits(rows, by_words, above=MIN_SCORE)
    lines.append(f"| bm25, as shown | {shown.n} | {shown.at_3:.3f} | {shown.mrr:.3f} |")
    return "\n".join(lines)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    add = parser.add_argument
    add("command", choices=("collect", "report", "replay"))
    add("packages", nargs="*", metavar="PACKAGE or WORD")
    add("--work", type=Path, default=cache / "bayesloc-real-suites", metavar="DIR")
    add("--python", type=Path, default=Path(sys.executable), metavar="PY")
    add("--plugin", type=Path, default=CHECKOUT, metavar="DIR", help="checkout that is measured")
    add("--embeddings", action="store_true", help="measure them too (benchmarks/memory/minilm.py)")
    add("--show", action="store_true", help="print what each run of a replay told")
    add("--jobs", type=int, default=2, metavar="N", help="packages worked on at a time (2)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
