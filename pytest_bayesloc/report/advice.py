"""Advice as lines: short, in a stable order, the same for a person and for a program."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_bayesloc.report.text import one_line

N_FAULTS = 3  # unless advice was asked for
N_LAST = 5  # failed attempts, and lessons


@dataclass(frozen=True, slots=True)
class Line:
    """One line; ``kind`` is ``head``, ``warning`` or empty."""

    text: str
    kind: str = ""


def advice_lines(memory: Mapping[str, Any], *, in_full: bool, n_last: int = N_LAST) -> list[Line]:
    """What the memory says.

    Args:
        memory: That part of a ``bayesloc/1`` result.
        in_full: Whether all is said, or what is new and the likest past bug only.
        n_last: Failed attempts, and lessons, that are shown at most.
    """
    lines = [Line(one_line(text)) for text in memory["said"]]
    loops = {entry["fault"]: entry for entry in memory["loops"]}
    advice: Sequence[Mapping[str, Any]] = memory["advice"]
    for entry in advice if in_full else advice[:N_FAULTS]:
        lines += _full(entry, n_last) if in_full else _brief(entry)
        lines += _loop(loops.get(entry["fault"]))
    if in_full and advice:
        said = {text for entry in advice for text in entry["constraints"]}
        lines += _world(memory["world_model"], said)
    return lines


def brief_lines(memory: Mapping[str, Any], fault: int) -> Iterator[str]:
    """The few lines that are worth a place beside the answer to a fault."""
    for entry in memory["advice"]:
        if entry["fault"] == fault:
            if entry["said"] and "begins" not in entry["said"]:
                yield one_line(entry["said"])
            for similar in entry["similar"][:1]:
                yield f"like {_past(similar)}"
    for loop in memory["loops"]:
        if loop["fault"] == fault:
            yield one_line(loop["said"][0])


def _brief(entry: Mapping[str, Any]) -> Iterator[Line]:
    if entry["said"] and "begins" not in entry["said"]:
        yield Line(f"memory: fault {entry['fault']}: {one_line(entry['said'])}")
    for similar in entry["similar"][:1]:
        yield Line(f"memory: fault {entry['fault']} is like {_past(similar)}")


def _full(entry: Mapping[str, Any], n_last: int) -> Iterator[Line]:
    yield Line(f"advice on fault {entry['fault']}, bug {entry['bug']}", "head")
    if entry["said"]:
        yield Line(f"  {one_line(entry['said'])}")
    yield Line(f"  the error lies {one_line(entry['lies'])}")
    if entry["guard"]:
        yield Line(f"  {one_line(entry['guard'])}")
    for similar in entry["similar"]:
        yield Line(f"  like {_past(similar)}")
        yield Line(f"    score {similar['score']:.2f}: {one_line(similar['why'])}")
        notes = [("note", text) for text in similar["notes"]]
        known = [("root cause", similar["root_cause"]), ("lesson", similar["insight"]), *notes]
        yield from (Line(f"    {label}: {one_line(text)}") for label, text in known if text)
    if not entry["similar"]:
        yield Line("  no past bug is like it")
    for label, texts in (
        ("failed before", entry["failed_strategies"]),
        ("learned", entry["constraints"]),
        ("note", entry["notes"]),
    ):
        for text in texts[-n_last:] if n_last else ():
            yield Line(f"  {label}: {one_line(text)}")


def _world(world: Mapping[str, Sequence[str]], said: Collection[str]) -> Iterator[Line]:
    """What is known beyond single bugs, and was not ``said`` of one."""
    for kind, texts in world.items():
        new = (text for text in texts if text not in said)
        yield from (Line(f"{kind.rstrip('s')}: {one_line(text)}") for text in new)


def _past(similar: Mapping[str, Any]) -> str:
    head = f"bug {similar['bug']} of {similar['seen_at'][:10]}"
    if similar["strategy"]:
        return f"{head}, mended by {one_line(similar['strategy'])}"
    failed = "; ".join(one_line(text) for text in similar["failed"])
    return f"{head}, {similar['state']}{f'; in vain: {failed}' if failed else ''}"


def _loop(loop: Mapping[str, Any] | None) -> Iterator[Line]:
    if loop is not None:
        head, *rest = loop["said"]
        yield Line(f"  {one_line(head)}", "warning")
        for text in rest:
            yield Line(f"    {one_line(text)}", "warning")
