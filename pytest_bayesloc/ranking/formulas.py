"""Suspiciousness formulas of spectrum-based fault localization.

``F`` is the number of failing tests (``ef + nf``), ``P`` of passing ones (``ep + np``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isinf, sqrt
from types import MappingProxyType
from typing import TypeAlias

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Counts, Spectrum

Formula: TypeAlias = Callable[[Counts], float]

#: Where ``unit_op2`` puts a score of 0. The reference prior's floor is the same number, so that
#: locations that no failing test executed all start from the floor, under any formula.
OP2_ZERO = 0.01


def tarantula(counts: Counts) -> float:
    """``(ef/F) / (ep/P + ef/F)``, in [0, 1].

    0 where ``ef = 0``; the passed term ``ep/P`` is 0 where ``P = 0``.

    Reference:
        Jones, Harrold, Stasko: Visualization of test information to assist fault localization.
        ICSE 2002.
    """
    if counts.ef == 0:
        return 0.0
    n_passing = counts.ep + counts.np
    failed = counts.ef / (counts.ef + counts.nf)
    passed = counts.ep / n_passing if n_passing else 0.0
    return failed / (passed + failed)


def ochiai(counts: Counts) -> float:
    """``ef / sqrt(F * (ef + ep))``, in [0, 1]; 0 where ``ef = 0``.

    Reference:
        Abreu, Zoeteweij, van Gemund: An evaluation of similarity coefficients for software fault
        localization. PRDC 2006.
    """
    if counts.ef == 0:
        return 0.0
    return counts.ef / sqrt((counts.ef + counts.nf) * (counts.ef + counts.ep))


def dstar2(counts: Counts) -> float:
    """``ef^2 / (ep + nf)``, in [0, inf].

    0 where ``ef = 0``; infinite where ``ef > 0`` and ``ep + nf = 0``.

    Reference:
        Wong, Debroy, Gao, Li: The DStar method for effective software fault localization.
        IEEE Transactions on Reliability, 2014 (star = 2).
    """
    if counts.ef == 0:
        return 0.0
    others = counts.ep + counts.nf
    return counts.ef**2 / others if others else inf


def op2(counts: Counts) -> float:
    """``ef - ep / (P + 1)``, in (-1, F]; never divides by 0.

    Reference:
        Naish, Lee, Ramamohanarao: A model for spectra-based software diagnosis. TOSEM 2011.
    """
    return counts.ef - counts.ep / (counts.ep + counts.np + 1)


def barinel(counts: Counts) -> float:
    """``1 - ep / (ep + ef)``, in [0, 1]; 0 where ``ef = 0``.

    Reference:
        Abreu, Zoeteweij, van Gemund: Spectrum-based multiple fault localization. ASE 2009, for
        one fault.
    """
    if counts.ef == 0:
        return 0.0
    return counts.ef / (counts.ef + counts.ep)


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "tarantula": tarantula,
        "ochiai": ochiai,
        "dstar2": dstar2,
        "op2": op2,
        "barinel": barinel,
    }
)


def unit_dstar2(score: float) -> float:
    """``x / (1 + x)``: [0, inf] to [0, 1], infinity to 1."""
    return 1.0 if isinf(score) else score / (1.0 + score)


def unit_op2(score: float, n_failing: int) -> float:
    """(-1, F] to (0, 1], strictly increasing, with a knee at 0.

    A score above 0 means that a failing test executed the location: those share (0.01, 1]. The
    others, which the formula still orders, share (0, 0.01].
    """
    if score <= 0:
        return OP2_ZERO * (1.0 + score)
    return OP2_ZERO + (1.0 - OP2_ZERO) * score / n_failing


def suspiciousness(name: str, counts: Counts) -> float:
    """The score of formula ``name`` of ``FORMULAS``, in [0, 1], in the formula's own order."""
    score = FORMULAS[name](counts)
    if name == "dstar2":
        return unit_dstar2(score)
    if name == "op2":
        return unit_op2(score, counts.ef + counts.nf)
    return score


def scorer(spectrum: Spectrum, name: str) -> Callable[[int], float]:
    """From the bitset of tests that executed something to its suspiciousness.

    Scores are kept per distinct ``(ef, ep)``: a spectrum has few of them, and hundreds of
    thousands of lines.
    """
    failing, passing = spectrum.failing, spectrum.passing
    n_failing, n_passing = failing.bit_count(), passing.bit_count()
    known: dict[tuple[int, int], float] = {}

    def score(executed: int) -> float:
        pair = ((executed & failing).bit_count(), (executed & passing).bit_count())
        if pair not in known:
            ef, ep = pair
            counts = Counts(ef=ef, ep=ep, nf=n_failing - ef, np=n_passing - ep)
            known[pair] = suspiciousness(name, counts)
        return known[pair]

    return score


def function_scores(spectrum: Spectrum, name: str) -> dict[Location, float]:
    """Per location, the suspiciousness of "a test executed any of its lines"."""
    score = scorer(spectrum, name)
    return {where: score(executed) for where, executed in spectrum.executed.items()}


def line_maximum(spectrum: Spectrum, name: str) -> dict[Location, float]:
    """Per location, the highest suspiciousness of its lines; without lines, as if unexecuted."""
    score = scorer(spectrum, name)
    return {
        where: max(map(score, rows.values()), default=score(0))
        for where, rows in spectrum.lines.items()
    }
