"""How often faults of each kind are met, for weights of what was planted.

Of 178 bug fixes of BugsInPy, drawn from all its 17 projects by even steps of their numbers and
classified by reading: 31 % change one statement, three in four of these by a pattern of TSSB-3M or
a single token (planted as edits; the rest is left to regressions); 4 % change bodies of classes or
modules alone; 29 % change two functions or more. Of the failures of red suites, a few per cent are
mistakes of tests.

Reference:
    Widyasari et al.: BugsInPy: a database of existing bugs in Python programs. ESEC/FSE 2020.
    Richter, Wehrheim: TSSB-3M: Mining single statement bugs at massive scale. MSR 2022.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The kind of a real bug (``benchmarks.bugs``), in a row.
REAL = "bug"
SHARES = {"edit": 0.23, "regression": 0.69, "import": 0.04, "test": 0.04}


def weights(kinds: Sequence[str]) -> dict[str, float]:
    """Weights per kind by which those in ``kinds`` have their shares; their mean is 1."""
    n_of = Counter(kinds)
    total = sum(SHARES[kind] for kind in n_of)
    return {kind: SHARES[kind] / total * len(kinds) / n for kind, n in n_of.items()}
