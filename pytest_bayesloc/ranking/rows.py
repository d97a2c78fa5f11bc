"""The rows that a person reads, in an order that never depends on chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import Evidence
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Ranked, RankedLine
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.formulas import scorer

_NONE: Mapping[str, tuple[str, str]] = MappingProxyType({})

#: Probabilities that differ by less tie.
TIE = 1e-12


def rank(  # noqa: PLR0913 - a row shows all of these, and they come from different rooms
    posterior: Mapping[Location, float],
    prior: Mapping[Location, float],
    spectrum: Spectrum,
    suspiciousness: Mapping[Location, float],
    evidence: Mapping[Location, Sequence[Evidence]],
    *,
    values: Mapping[Location, Mapping[str, tuple[str, str]]] = MappingProxyType({}),
    limit: int | None = None,
) -> tuple[Ranked, ...]:
    """The locations of ``posterior``, best first.

    Order: posterior, then suspiciousness, both falling, then location. Posteriors that are equal
    to 1e-12 share a rank.

    Args:
        posterior: P(faulty) after the evidence; its locations are ranked.
        prior: P(faulty) before it; 0 where missing.
        spectrum: Where counts and lines come from. Tests and what it does not know get neither.
        suspiciousness: Raw scores in [0, 1]; 0 where missing.
        evidence: Per location, what moved it.
        values: Per location, parameter or ``return`` to what passing and failing calls had.
        limit: How many rows at most; ``rank`` and ``tied`` speak of all locations even so.
    """
    score = scorer(spectrum, "ochiai")
    rows: list[Ranked] = []
    n_before = 0
    for tied in _ties(posterior, suspiciousness):
        if limit is not None and n_before >= limit:
            break
        rows.extend(
            Ranked(
                rank=n_before + 1,
                tied=len(tied),
                location=where,
                counts=spectrum.counts(where) if _is_ranked(where, spectrum) else None,
                suspiciousness=suspiciousness.get(where, 0.0),
                prior=prior.get(where, 0.0),
                posterior=posterior[where],
                lines=_lines(where, spectrum, score),
                evidence=strongest_first(evidence.get(where, ())),
                values=values.get(where, _NONE),
            )
            for where in tied[: None if limit is None else limit - n_before]
        )
        n_before += len(tied)
    return tuple(rows)


def strongest_first(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """By the size of its log likelihood ratio, whichever way it points."""
    return tuple(sorted(evidence, key=lambda item: -abs(item.log_ratio)))


def _ties(
    posterior: Mapping[Location, float], suspiciousness: Mapping[Location, float]
) -> list[list[Location]]:
    """Locations by falling posterior, those within rounding of the first of a tie together."""
    ties: list[list[Location]] = []
    for where in sorted(posterior, key=lambda where: (-posterior[where], where)):
        if ties and posterior[ties[-1][0]] - posterior[where] <= TIE:
            ties[-1].append(where)
        else:
            ties.append([where])
    for tied in ties:
        tied.sort(key=lambda where: (-suspiciousness.get(where, 0.0), where))
    return ties


def _is_ranked(where: Location, spectrum: Spectrum) -> bool:
    return not where.is_test and where in spectrum.executed


def _lines(
    where: Location, spectrum: Spectrum, score: Callable[[int], float]
) -> tuple[RankedLine, ...]:
    if not _is_ranked(where, spectrum):
        return ()
    return tuple(
        RankedLine(
            line=line,
            ef=(executed & spectrum.failing).bit_count(),
            ep=(executed & spectrum.passing).bit_count(),
            suspiciousness=score(executed),
        )
        for line, executed in sorted(spectrum.lines[where].items())
    )
