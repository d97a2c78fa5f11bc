import pytest

from cutshop.knots import check_knots, clamped_knots, domain, find_span, multiplicity


def test_clamped_knots_repeat_the_ends():
    assert clamped_knots(4, 3) == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]


def test_clamped_knots_are_evenly_spaced_inside():
    assert clamped_knots(5, 2, end=3.0) == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0]


def test_clamped_knots_need_enough_points():
    with pytest.raises(ValueError, match="more than 3 points"):
        clamped_knots(3, 3)


def test_check_knots_accepts_the_shortest_vector():
    check_knots([0, 0, 0, 1, 1, 1], degree=2)


def test_check_knots_refuses_too_few():
    with pytest.raises(ValueError, match="degree 2 needs at least 6 knots, got 5"):
        check_knots([0, 0, 0, 1, 1], degree=2)


def test_check_knots_refuses_descending_knots():
    with pytest.raises(ValueError, match="0.25 follows 0.5"):
        check_knots([0, 0, 0.5, 0.25, 1, 1], degree=1)


def test_check_knots_refuses_degree_zero():
    with pytest.raises(ValueError, match="degree 0 is too low"):
        check_knots([0, 1], degree=0)


def test_domain_leaves_out_the_outer_knots():
    assert domain([0, 1, 2, 3, 4, 5, 6, 7], degree=3) == (3, 4)


@pytest.mark.parametrize(
    ("t", "span"),
    [(0.0, 2), (0.3, 2), (0.5, 3), (0.99, 3), (1.0, 3)],
)
def test_find_span(t, span):
    assert find_span([0, 0, 0, 0.5, 1, 1, 1], 2, t) == span


def test_find_span_refuses_parameters_outside():
    with pytest.raises(ValueError, match="outside"):
        find_span([0, 0, 1, 1], 1, 1.5)


def test_multiplicity_counts_equal_knots():
    knots = [0, 0, 0, 0.5, 0.5, 1, 1, 1]

    assert [multiplicity(knots, t) for t in (0, 0.5, 0.7)] == [3, 2, 0]
