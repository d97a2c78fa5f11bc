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

#: Where ``suspiciousness`` puts a score of 0 by Op2. The reference prior's floor is the same, so
#: that locations that no failing test executed all start from the floor, under any formula.
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


def suspiciousness(name: str, counts: Counts) -> float:
    """The score of formula ``name`` of ``FORMULAS``, in [0, 1], in the formula's own order.

    DStar, in [0, inf], becomes ``x / (1 + x)``. Op2, in (-1, F], gets a knee at 0: a score above it
    means that a failing test executed the location, and those share (0.01, 1]. The others, which
    the formula still orders, share (0, 0.01].
    """
    score = FORMULAS[name](counts)
    if name == "dstar2":
        return 1.0 if isinf(score) else score / (1.0 + score)
    if name == "op2" and score <= 0:
        return OP2_ZERO * (1.0 + score)
    if name == "op2":
        return OP2_ZERO + (1.0 - OP2_ZERO) * score / (counts.ef + counts.nf)
    return score


def scorer(spectrum: Spectrum, name: str) -> Callable[[int], float]:
    """From the bitset of tests that executed something to its suspiciousness.

    Scores are kept per distinct ``(ef, ep)``: a spectrum has few of them, and hundreds of
    thousands of lines.
    """
    failing, passing = spectrum.failing, spectrum.passing
    known: dict[tuple[int, int], float] = {}

    def score(executed: int) -> float:
        pair = ((executed & failing).bit_count(), (executed & passing).bit_count())
        if pair not in known:
            known[pair] = suspiciousness(name, spectrum.count(executed))
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
