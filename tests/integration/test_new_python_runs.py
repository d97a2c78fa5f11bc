"""What Python 3.14 and 3.15 brought, in the project under test."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Projects

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="Python 3.14 has these")

CODE = """
    from string.templatelib import Interpolation


    def shown(template):
        return "".join(
            str(part.value) if isinstance(part, Interpolation) else part for part in template
        )


    def total(prices: Unknown, n: int = 1) -> AlsoUnknown:
        return sum(prices) - n


    def receipt(prices: list[Later]) -> str:
        for _ in prices:
            try:
                return shown(t"to pay: {total(prices, n=0) + 1} EUR")
            finally:
                return shown(t"to pay: {total(prices, n=0) + 1} EUR")


    class Later:
        pass
    """
TESTS = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    from shop import receipt, total


    def test_total():
        assert total([3, 4], 0) == 7


    def test_receipt():
        assert receipt([3, 4]) == "to pay: 7 EUR"


    def test_receipt_of_a_child():
        with ProcessPoolExecutor(1) as pool:
            assert pool.submit(receipt, [5]).result() == "to pay: 6 EUR"
    """


@pytest.mark.parametrize("options", [(), ("--cov=.", "--cov-report=", "--cov-context=test")])
def test_fault_within_a_t_string_is_found_and_fixed(
    projects: Projects, options: tuple[str, ...]
) -> None:
    project = projects.make({"shop.py": CODE, "test_shop.py": TESTS})
    strict = ("-Werror", "-Wignore::SyntaxWarning", "-Wignore::coverage.exceptions.CoverageWarning")

    run = project.localize(
        "--bayesloc", "--bayesloc-fix=suggest", *strict[: 3 if options else 2], *options, lean=False
    )

    assert run.names()[0] == "shop.py receipt"
    assert run.failing == {"test_shop.py::test_receipt"}
    assert run.inspections
    assert "own-fault" not in run.output
    assert "Warning" not in run.stderr
