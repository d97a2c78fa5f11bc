"""A suspect in words: its place, its belief and the evidence that moved it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pytest_bayesloc.report.text import count, one_line, percent, ratio, score

N_REASONS = 2  # in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A location in words.

    Attributes:
        where: ``calc.py:2``, of the first line; the anchor of that line as well.
        href: The fragment that leads to it.
        name: Qualified name.
        is_test: Whether it belongs to the tests.
    """

    where: str
    href: str
    name: str
    is_test: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One piece of evidence: its weight, ``incriminates``, ``exonerates`` or ``says nothing``."""

    ratio: str
    verdict: str
    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a parameter or ``return`` held in passing and in failing calls."""

    name: str
    passing: str
    failing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a ranking; ``bar`` and ``prior_bar`` are widths in [0, 100]."""

    rank: str
    place: Place
    posterior: str
    prior: str
    bar: float
    prior_bar: float
    suspiciousness: str
    counts: str
    why: tuple[Why, ...]
    values: tuple[Seen, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Where its evidence comes from, each source once."""
        return tuple(dict.fromkeys(why.source.replace(" ", "-") for why in self.why))

    @property
    def sentence(self) -> str:
        """What speaks against it, the strongest first, and which tests executed it."""
        against = [why.text for why in self.why if why.verdict == "incriminates"]
        text = "; ".join([*against[:N_REASONS], self.counts])
        return f"{text[0].upper()}{text[1:]}."

    @property
    def reason(self) -> str:
        """One sentence: the strongest evidence against it, else which tests executed it."""
        return next((why.text for why in self.why if why.verdict == "incriminates"), self.counts)


#: File, first line and qualified name: what tells one place from another.
Key = tuple[str, int, str]


def key_of(location: Mapping[str, Any]) -> Key:
    """The place of a row, a target or the end of a call."""
    return location["file"], location["start_line"], location["qualname"]


def place(location: Mapping[str, Any]) -> Place:
    """The location of a row, a target or the end of a call."""
    where = f"{location['file']}:{location['start_line']}"
    return Place(
        where=one_line(where),
        href=f"#{quote(one_line(where), safe='/:')}",
        name=one_line(location["qualname"]),
        is_test=location["is_test"],
    )


def row_of(row: Mapping[str, Any]) -> Row:
    """A row of a ranking."""
    return Row(
        rank=f"{row['rank']}=" if row["tied"] > 1 else str(row["rank"]),
        place=place(row),
        posterior=percent(row["posterior"]),
        prior=percent(row["prior"]),
        bar=round(row["posterior"] * 100, 1),
        prior_bar=round(row["prior"] * 100, 1),
        suspiciousness=score(row["suspiciousness"]) if row["counts"] else "-",
        counts=_counts(row["counts"]),
        why=tuple(map(why_of, row["evidence"])),
        values=tuple(
            Seen(
                name=one_line(name), passing=one_line(v["passing"]), failing=one_line(v["failing"])
            )
            for name, v in row["values"].items()
        ),
    )


def _counts(counts: Mapping[str, Any] | None) -> str:
    if counts is None:
        return "not part of the spectrum"
    failing = count(counts["ef"] + counts["nf"], "failing test")
    passing = count(counts["ep"] + counts["np"], "passing test")
    return f"executed by {counts['ef']} of {failing} and {counts['ep']} of {passing}"


def why_of(evidence: Mapping[str, Any]) -> Why:
    """The words of a piece of evidence, else its outcome."""
    faulty, clean = evidence["p_if_faulty"], evidence["p_if_clean"]
    verdict = "incriminates" if faulty > clean else "exonerates"
    return Why(
        ratio=ratio(faulty, clean),
        verdict=verdict if faulty != clean else "says nothing",
        text=one_line(evidence["why"]) or words_of(evidence["outcome"]),
        source=one_line(evidence.get("source", "")),
    )


def words_of(constant: str) -> str:
    """``A_CONSTANT`` as words."""
    return constant.replace("_LLM_", "_LLM ").replace("_", " ").lower().replace("llm", "LLM")
