import pytest

from cutshop.basis import basis_row, greville, nonzero_basis
from cutshop.knots import clamped_knots


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_basis_sums_to_one(degree):
    knots = clamped_knots(7, degree)

    for i in range(11):
        assert sum(basis_row(knots, degree, i / 10)) == pytest.approx(1.0)


def test_basis_without_inner_knots_is_bernstein():
    knots = clamped_knots(4, 3)

    assert nonzero_basis(knots, 3, 3, 0.25) == pytest.approx(
        [0.421875, 0.421875, 0.140625, 0.015625]
    )


def test_linear_basis_is_a_hat():
    assert basis_row([0, 0, 1, 2, 2], 1, 0.75) == pytest.approx([0.25, 0.75, 0.0])


def test_basis_row_is_local():
    row = basis_row(clamped_knots(8, 2), 2, 0.05)

    assert row[3:] == [0.0] * 5


def test_greville_of_a_cubic():
    assert greville(clamped_knots(5, 3), 3) == pytest.approx([0, 1 / 6, 0.5, 5 / 6, 1])
