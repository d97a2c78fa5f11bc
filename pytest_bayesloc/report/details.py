"""The details of a fault in words: how its tests failed, inspections, and fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import dedent
from typing import TypeAlias

from pytest_bayesloc.domain.fixing import TAKE_BACK
from pytest_bayesloc.report.document import N_REACHED, Document
from pytest_bayesloc.report.rows import SuspectRow, Why, location_view, short_name, why_of
from pytest_bayesloc.report.text import count, one_line

#: A line of a unified diff: its kind (``add``, ``del``, ``hunk``, ``file`` or ``same``), its text.
DiffLine: TypeAlias = tuple[str, str]

N_NAMED = 3  # tests or functions in one sentence
TREATS = "It may treat the symptom rather than the cause."
LOSES = "It loses what the change was to do."


#: Tests that failed with the same error, but for what differs from run to run: the first one's
#: error, how many they are, and each of them.
FailureGroup: TypeAlias = tuple[str, str, tuple[Document, ...]]


def failure_groups(fault: Document) -> tuple[FailureGroup, ...]:
    """Return the failing tests of a fault, the most frequent error first."""
    groups: dict[str, list[Document]] = {}
    for failure in fault["failures"]:
        first = failure["masked"].strip().partition("\n")[0]
        groups.setdefault(f"{failure['type']}: {first}", []).append(failure)
    ordered = sorted(groups.values(), key=lambda failures: -len(failures))
    return tuple(
        (headline(failures[0]), count(len(failures), "test"), tuple(failures))
        for failures in ordered
    )


def headline(error: Document) -> str:
    """Return the type and the first line of the message of an error or a failure."""
    first = next((line for line in error["message"].splitlines() if line.strip()), "")
    return ": ".join(part for part in (one_line(error["type"]), one_line(first)) if part)


def spoiled_words(spoiled: Document) -> str:
    """Return which earlier tests make a test fail, and by which state that they leave."""
    earlier = [node_id.rpartition("::")[2] for node_id in spoiled["after"]]
    some, n_more = ", ".join(earlier[:N_NAMED]), len(earlier) - N_NAMED
    after = f"{some} and {n_more} more" if n_more > 0 else some
    matter = " matters" if len(earlier) == 1 else " matter"
    if not spoiled["is_smallest"]:
        matter = ", not narrowed down further: the time was up"
    text = (
        f"{spoiled['test'].rpartition('::')[2]} passes alone and fails after {after} "
        f"({len(earlier)} of {count(spoiled['n_earlier'], 'earlier test')}{matter})"
    )
    if spoiled["state"]:
        leaves = "it leaves" if len(earlier) == 1 else "they leave"
        text += f": {leaves} {', '.join(map(_changed_words, spoiled['state']))}"
        n_unnamed = spoiled["n_changed"] - len(spoiled["state"])
        text += f" and {count(n_unnamed, 'more variable')}" if n_unnamed > 0 else ""
    return one_line(text)


def _changed_words(changed: Document) -> str:
    writers = [
        f"{writer['file']}:{writer['line']} {writer['qualname']}" for writer in changed["writers"]
    ]
    written = f", written by {' and '.join(writers[:N_NAMED])}" if writers else ""
    return f"{changed['name']} changed{written}"


def reached(failure: Document, rows: Sequence[SuspectRow]) -> list[tuple[str, bool]]:
    """Return the likeliest places, each with whether the test executed it."""
    names = (row.place.name for row in rows[:N_REACHED])
    return [(name, i in failure["executed"]) for i, name in enumerate(names)]


def tracebacks(failure: Document) -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    """Yield a heading and frames, of the last exception first, then of those behind it.

    A frame is where it is, and a name; for foreign frames that were left out it is an empty text,
    and how many.
    """
    for i, frames in enumerate([failure["frames"], *failure["causes"]]):
        if frames:
            heading = "raised while handling, or because of, this" if i else ""
            yield heading, _frames(frames)


def _frames(frames: Sequence[Document]) -> Iterator[tuple[str, str]]:
    for in_app, run in groupby(frames, key=lambda frame: frame["in_app"]):
        if in_app:
            yield from (
                (one_line(f"{frame['file']}:{frame['line']}"), one_line(frame["name"]))
                for frame in run
            )
        else:
            yield "", f"{count(len(list(run)), 'frame')} outside of the project"


def inspection_why(step: Document) -> Why:
    """Return what an entry of the document's ``inspections`` says of its target."""
    return why_of({**step["likelihoods"], "why": step["why"], "outcome": step["outcome"]})


def next_step(fix: Document) -> str:
    """Return how to have a change; empty where there is no patch of it, or it is applied."""
    patch = fix["patch_file"]
    return f"git apply {one_line(patch)}" if patch and not fix["applied"] else ""


def caution(fix: Document) -> str:
    """Return what a change may be that was not searched for but come across."""
    if not fix["diff"]:
        return ""
    return LOSES if fix["tool"] == TAKE_BACK else TREATS


def summary_of(fix: Document) -> str:
    """Return what a change was checked against, in a sentence."""
    doubt = f", probably wrong ({fix['doubt']})" if fix["doubt"] else ""
    if fix["stage"] == "inspection":
        name, n = short_name(location_view(fix["target"])), len(fix["checked"])
        how = f"undo the change of {name}" if fix["tool"] == TAKE_BACK else f"this edit of {name}"
        return f"possible fix, not applied{doubt}: {how}; {_pass(n, 'test')} with it"
    words = f"{one_line(fix['words'])} ({one_line(fix['tool'])})"
    if not fix["verified"]:
        what = "possible fix, not checked since it changes a test" if fix["diff"] else "hint"
        return f"{what}: {words}"
    done = "applied fix" if fix["applied"] else "possible fix, not applied"
    others = "no other test runs it"
    if fix["n_passing"]:
        others = _pass(fix["n_passing"], "other test", "still ")
    return f"{done}{doubt}: {words}; {_pass(fix['n_failing'], 'failing test')} with it, {others}"


def _pass(n: int, noun: str, still: str = "") -> str:
    return f"{count(n, noun)} {still}{'passes' if n == 1 else 'pass'}"


def changed_lines(patch: str) -> list[DiffLine]:
    """Return the lines that a unified diff takes away and adds, less indented."""
    lines = [(kind, text) for kind, text in diff_lines(patch) if kind in {"add", "del"}]
    texts = dedent("\n".join(text[1:] for _, text in lines)).split("\n")
    return [(kind, f"{sign[0]} {text}") for (kind, sign), text in zip(lines, texts, strict=False)]


def diff_lines(patch: str) -> Iterator[DiffLine]:
    """Yield the lines of a unified diff, each with its kind."""
    kinds = {"+++": "file", "---": "file", "@@": "hunk", "+": "add", "-": "del"}
    for text in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        kind = next((kind for start, kind in kinds.items() if text.startswith(start)), "same")
        yield kind, text
