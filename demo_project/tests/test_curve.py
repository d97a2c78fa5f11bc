import math

import pytest

from cutshop.curve import Spline, blend, segment

WAVE = [(0.0, 0.0), (10.0, 20.0), (30.0, 20.0), (40.0, -10.0), (60.0, 0.0), (70.0, 5.0)]


@pytest.fixture
def wave():
    return Spline.through_ends(WAVE)


def test_blend_goes_from_one_point_to_the_other():
    assert blend((0.0, 0.0), (4.0, 8.0), 0.25) == (1.0, 2.0)


def test_curve_starts_and_ends_on_its_outer_points(wave):
    assert wave.at(0.0) == pytest.approx(WAVE[0])
    assert wave.at(1.0) == pytest.approx(WAVE[-1])


def test_quadratic_passes_through_the_middle():
    arch = Spline(2, [0, 0, 0, 1, 1, 1], [(0.0, 0.0), (5.0, 10.0), (10.0, 0.0)])

    assert arch.at(0.5) == pytest.approx((5.0, 5.0))


def test_cubic_arch_is_symmetric():
    points = [(0.0, 0.0), (2.0, 8.0), (8.0, 8.0), (10.0, 0.0)]
    arch = Spline(3, [0, 0, 0, 1, 1, 1], points)

    for t in (0.1, 0.25, 0.4):
        left, right = arch.at(t), arch.at(1 - t)
        assert left[0] + right[0] == pytest.approx(10.0)
        assert left[1] == pytest.approx(right[1])


def test_number_of_points_must_fit_the_knots():
    with pytest.raises(ValueError, match="take 3 points, got 2"):
        Spline(2, [0, 0, 0, 1, 1, 1], [(0.0, 0.0), (1.0, 1.0)])


def test_degree_one_is_a_polyline():
    path = Spline.through_ends([(0.0, 0.0), (3.0, 4.0), (3.0, 10.0)], degree=1)

    assert path.at(0.25) == pytest.approx((1.5, 2.0))
    assert path.length(n=201) == pytest.approx(11.0)


def test_sample_includes_both_ends(wave):
    samples = wave.sample(5)

    assert len(samples) == 5
    assert samples[0] == pytest.approx(WAVE[0])
    assert samples[-1] == pytest.approx(WAVE[-1])


def test_segment_has_the_length_of_its_ends():
    assert segment((0.0, 0.0), (30.0, 40.0)).length() == pytest.approx(50.0)


def test_length_of_a_rounded_quarter_is_close_to_the_circle():
    k = 0.5522847498
    quarter = Spline(3, [0] * 4 + [1] * 4, [(1.0, 0.0), (1.0, k), (k, 1.0), (0.0, 1.0)])

    assert quarter.length() == pytest.approx(math.pi / 2, rel=1e-3)


@pytest.mark.parametrize("t", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_segment_is_travelled_at_an_even_pace(t):
    assert segment((1.0, 1.0), (4.0, 5.0)).velocity(t) == pytest.approx((3.0, 4.0))


@pytest.mark.parametrize("t", [0.15, 0.5, 0.8])
def test_velocity_is_the_limit_of_small_steps(wave, t):
    h = 1e-6
    (x0, y0), (x1, y1) = wave.at(t - h), wave.at(t + h)

    assert wave.velocity(t) == pytest.approx(((x1 - x0) / (2 * h), (y1 - y0) / (2 * h)), rel=1e-4)


def test_tangent_at_the_start_points_to_the_second_point(wave):
    assert wave.tangent(0.0) == pytest.approx((1 / math.sqrt(5), 2 / math.sqrt(5)))


def test_point_without_extent_has_no_tangent():
    dot = Spline.through_ends([(1.0, 1.0)] * 4)

    with pytest.raises(ValueError, match="stands still"):
        dot.tangent(0.5)


def test_inserted_knot_does_not_change_the_curve(wave):
    finer = wave.insert_knot(0.4)

    assert len(finer.points) == len(wave.points) + 1
    for i in range(21):
        assert finer.at(i / 20) == pytest.approx(wave.at(i / 20))


def test_knot_is_not_inserted_more_often_than_the_degree(wave):
    full = wave.insert_knot(0.4).insert_knot(0.4).insert_knot(0.4)

    with pytest.raises(ValueError, match="3 times already"):
        full.insert_knot(0.4)


def test_bounds_hold_every_sample(wave):
    (left, bottom), (right, top) = wave.bounds()

    for x, y in wave.sample(50):
        assert left <= x <= right
        assert bottom <= y <= top


def test_closed_curve_ends_where_it_starts(wave):
    loop = Spline.through_ends([(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0)])

    assert loop.is_closed()
    assert not wave.is_closed()
