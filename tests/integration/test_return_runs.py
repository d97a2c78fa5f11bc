"""Results that are replaced: the deepest function whose result suffices stands out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Projects, Run

pytestmark = pytest.mark.traced

FORGETFUL = True

FILES = {
    "shop.py": """
        LOG = []


        def rate(kind):
            LOG.append(kind)
            names = sorted({"a": 1, "b": 3})
            return sum(map(ord, names)) - sum(map(ord, names[1:])) - 94


        def price(kind):
            return rate(kind)


        def save(kind):
            return price(kind)


        def known(kind):
            return kind in LOG
    """,
    "test_shop.py": """
        import unittest

        from shop import known, price, save


        def test_price():
            assert price("a") == 2


        class TestOther(unittest.TestCase):
            def test_other_price(self):
                self.assertEqual(price("b"), 5)


        def test_saved():
            assert save("a") == 2
            assert known("a")


        def test_unknown():
            assert not known("c")
    """,
}


def _of(run: Run, qualname: str) -> dict[str, Any]:
    (inspection,) = (
        i for i in run.inspections if (i["kind"], i["target"]["qualname"]) == ("returns", qualname)
    )
    return inspection


def test_function_whose_result_suffices_repairs_and_its_caller_less(projects: Projects) -> None:
    run = projects.make(FILES).localize(
        "--bayesloc",
        "--bayesloc-threshold=0.9999",
        "--bayesloc-without=assertions",
    )

    assert _of(run, "rate")["outcome"] == "RETURN_REPAIRS"
    assert _of(run, "price")["outcome"] == "RETURN_REPAIRS_BY_CALLEE"
    assert run.names()[0] == "shop.py rate"
    # Each failing test is given the value that it expects.
    *_, trial = _of(run, "rate")["trials"]
    assert trial["words"] == "`2` instead of `3`"
    assert trial["n_passed"] == 3


def test_who_wants_no_edits_gets_no_other_results_either(projects: Projects) -> None:
    run = projects.make(FILES).localize("--bayesloc", "--bayesloc-without=mutants")

    assert {i["kind"] for i in run.inspections}.isdisjoint({"mutants", "returns"})
