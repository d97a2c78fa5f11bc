"""Which kinds of faults are planted, and how much each weighs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.faults.shares import weights
from benchmarks.suites.drawing import KINDS, draw
from benchmarks.suites.table import Subject
from benchmarks.suites.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

CART = """\
def total(prices, limit):
    net = 0
    for price in prices:
        if price < limit:
            net = net + price
    return net
"""


def test_single_edits_are_planted_and_weigh_a_third_of_regressions(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text(CART, encoding="utf-8")
    workspace = Workspace(
        subject=Subject(name="shop", version="1", import_name="shop"),
        root=tmp_path,
        tree=tmp_path,
        python=tmp_path / "python",
        source="shop",
    )

    change = next(draw(workspace, "edit", seed=1, work=tmp_path))
    weight_of = weights(["edit", "regression", "import", "test"])

    assert (change.kind, set(change.lines)) == ("edit", {"shop/cart.py"})
    assert set(weight_of) == set(KINDS)
    # Of bug fixes, 23 % and 69 %: benchmarks/faults/shares.py says where that is from.
    assert weight_of["edit"] / weight_of["regression"] == pytest.approx(1 / 3)
