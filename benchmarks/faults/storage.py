"""The rows of collected evidence, as they are kept with the project: facts, no code."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.faults.split import packages_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROWS = Path(__file__).resolve().parent / "data" / "rows"


def write_rows(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Keep the rows of one package; the same rows give the same bytes."""
    write_packed(ROWS / f"{name}.jsonl.xz", rows)


def write_packed(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write ``rows`` as one file; an interruption leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, separators=(",", ":"), sort_keys=True) for row in rows]
    draft = path.with_name(f"{path.name}.new")
    draft.write_bytes(lzma.compress("\n".join(lines).encode("ascii"), preset=9))
    draft.replace(path)


def read_rows(name: str) -> Iterator[dict[str, Any]]:
    """The rows of one package, in the order that they were planted."""
    return read_packed(ROWS / f"{name}.jsonl.xz")


def read_packed(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of one file."""
    text = lzma.decompress(path.read_bytes()).decode("ascii")
    return (json.loads(line) for line in text.splitlines())


def packages(part: str) -> list[str]:
    """The packages of one part that have rows."""
    known = set(with_rows())
    return [name for name in packages_of(part) if name in known]


def with_rows() -> list[str]:
    """The packages that have rows."""
    return sorted(path.name.removesuffix(".jsonl.xz") for path in ROWS.glob("*.jsonl.xz"))
