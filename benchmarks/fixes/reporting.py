"""What the searches came to, as tables."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Row = dict[str, Any]


def report(folder: Path, names: Iterable[str]) -> None:
    """Print the tables: by kind of fault, by stage, and by tool."""
    rows: list[Row] = []
    for name in names:
        path = folder / f"{name}.json"
        if path.is_file():
            rows += json.loads(path.read_text("utf-8"))
    if not rows:
        print("Nothing was searched yet: run `python -m benchmarks.fixes search`.")
        return
    _by_kind(rows)
    _by("stage", rows, lambda fix: fix["stage"])
    _by("tool", rows, lambda fix: fix["tool"])
    shown = [fix for row in rows for fix in row["fixes"]]
    wrong = sum(not fix["held_pass"] for fix in shown)
    print(
        f"\n{wrong} of {len(shown)} fixes shown fail a test that was held back: "
        f"{_share(wrong, len(shown))}"
    )
    first = [row["fixes"][0] for row in rows if row["fixes"]]
    wrong = sum(not fix["held_pass"] for fix in first)
    print(f"{wrong} of {len(first)} shown first do: {_share(wrong, len(first))}")
    troubles = [row for row in rows if row["trouble"]]
    for row in troubles:
        print(f"TROUBLE: {row['package']} {row['fault']}: {row['trouble'][-200:]!r}")


def _by_kind(rows: Sequence[Row]) -> None:
    print("| fault | n | verified | first is right | any is right | as it was | fix, s | run, s |")
    print("|---|---|---|---|---|---|---|---|")
    kinds = dict.fromkeys(row["kind"] for row in rows)
    shelf = [row for row in rows if row["kind"] not in {"edit", "regression"}]
    groups = [(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    for kind, own in [*groups, ("the shelf's kinds", shelf), ("all", rows)]:
        if not own:
            continue
        found = [row for row in own if row["fixes"]]
        first = sum(row["fixes"][0]["all_pass"] for row in found)
        anyway = sum(any(fix["all_pass"] for fix in row["fixes"]) for row in found)
        same = sum(any(fix["is_original"] for fix in row["fixes"]) for row in found)
        print(
            f"| {kind} | {len(own)} | {len(found)} ({_share(len(found), len(own))}) "
            f"| {first} ({_share(first, len(found))}) | {anyway} | {same} "
            f"| {median(row['fix_s'] for row in own):.1f} "
            f"| {median(row['seconds'] for row in own):.1f} |"
        )


def _by(title: str, rows: Sequence[Row], key: Callable[[Row], str]) -> None:
    shown = [fix for row in rows for fix in row["fixes"]]
    print(f"\n| {title} | shown | all tests pass | held back pass | check, s |")
    print("|---|---|---|---|---|")
    for name in sorted({key(fix) for fix in shown}):
        own = [fix for fix in shown if key(fix) == name]
        right = sum(fix["all_pass"] for fix in own)
        held = sum(fix["held_pass"] for fix in own)
        print(
            f"| {name} | {len(own)} | {right} ({_share(right, len(own))}) "
            f"| {held} ({_share(held, len(own))}) | {median(f['seconds'] for f in own):.1f} |"
        )


def _share(n: int, of: int) -> str:
    return f"{n / of:.0%}" if of else "-"
