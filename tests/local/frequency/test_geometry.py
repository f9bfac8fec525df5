"""Points and planes by number: checked against vectors, every point reached equally often."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.local.frequency import geometry
from discreet.local.frequency.geometry import Geometry, division, is_prime
from discreet.local.protocol.rational_coin import COIN_TOTAL
from tests.local.claims.enumeration import exact_law
from tests.local.frequency.projective import SMALL, incidence, vectors

BOTH = pytest.mark.parametrize("fast", [pytest.param(True, marks=pytest.mark.needs("numba")), False])


@pytest.mark.parametrize(("prime", "dimension"), SMALL)
def test_points_planes_and_what_two_planes_share_are_counted_right(prime: int, dimension: int) -> None:
    space, table = Geometry(prime, dimension), incidence(prime, dimension)
    assert space.points == len(vectors(prime, dimension))
    assert set(table.sum(axis=1)) == {space.on_plane}
    assert space.outside == space.points - space.on_plane
    shared = table @ table
    assert set(shared[~np.eye(space.points, dtype=bool)]) == {space.common}


@pytest.mark.parametrize(("prime", "dimension"), SMALL)
def test_a_plane_holds_the_orthogonal_points(prime: int, dimension: int) -> None:
    space = Geometry(prime, dimension)
    for point, row in enumerate(incidence(prime, dimension)):
        assert space.plane(point).tolist() == np.flatnonzero(row).tolist()


@BOTH
@pytest.mark.parametrize(("prime", "dimension"), SMALL)
def test_free_numbers_reach_every_point_on_a_plane_and_off_it_equally_often(
    prime: int, dimension: int, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(geometry, "available", lambda: fast)
    space = Geometry(prime, dimension)
    for point, row in enumerate(incidence(prime, dimension)):
        for off in (False, True):
            free = np.arange(0 if off else 1, space.outside)
            reports = space.place(np.full(free.size, point), np.full(free.size, off), free)
            expected = 1 - row if off else (prime - 1) * row
            assert np.bincount(reports, minlength=space.points).tolist() == expected.tolist()


@pytest.mark.needs("numba")
@pytest.mark.parametrize(("prime", "dimension"), [(2, 30), (3, 19), (5, 7), (149, 4), (997, 3), (32749, 2), (31, 6)])
def test_the_compiled_loop_and_numpy_place_alike_up_to_the_largest_spaces(
    prime: int, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, draws = Geometry(prime, dimension), coins(prime, dimension)
    points = np.concatenate([[0, space.points - 1], draws.integers(0, space.points, 3_000)])
    free = np.concatenate([[space.outside - 1] * 2, draws.integers(1, space.outside, 3_000)])
    off = draws.integers(0, 2, points.size).astype(bool)
    found = space.place(points, off, free)
    assert found.min() >= 0
    assert found.max() < space.points
    monkeypatch.setattr(geometry, "available", lambda: False)
    assert np.array_equal(found, space.place(points, off, free))


@pytest.mark.parametrize("prime", [2, 3, 7, 127, 131, 8191, 32749])
def test_the_reciprocal_divides_exactly_below_two_to_the_thirty(prime: int) -> None:
    reciprocal, scale = division(prime)
    multiples = [prime * k for k in range(1, 200)] + [(1 << 30) // prime * prime - prime * k for k in range(200)]
    for number in [n + step for n in multiples for step in (-1, 0, 1) if 0 <= n + step < 1 << 30] + [(1 << 30) - 1]:
        assert number * reciprocal >> scale == number // prime
    assert ((1 << 30) - 1) * reciprocal < 1 << 63


@pytest.mark.parametrize(("prime", "dimension"), [(2, 2), (2, 3), (3, 2), (3, 3), (5, 2)])
def test_the_law_of_a_draw_is_the_coin_and_uniform_on_both_sides(prime: int, dimension: int) -> None:
    space, coin = Geometry(prime, dimension), 3 * 2**61 + 1
    preference = Fraction(coin, COIN_TOTAL)
    for point in {0, space.on_plane, space.points - 1}:
        law = exact_law(lambda points: space.draw(points, coin), np.array([point]))
        row = incidence(prime, dimension)[point]
        masses = {0: (1 - preference) / space.outside, 1: preference / space.on_plane}
        assert law == {report: masses[int(row[report])] for report in range(space.points)}


@pytest.mark.parametrize("count", [0, 1, 65, 8_192, 20_000])
def test_draws_of_any_number_lie_where_the_coin_says(count: int) -> None:
    space = Geometry(3, 4)
    points, table = np.arange(count, dtype=np.int64) % space.points, incidence(3, 4)
    assert np.all(table[points, space.draw(points, COIN_TOTAL - 1)] == 1)  # off the plane with probability 2^-64
    assert np.all(table[points, space.draw(points, 0)] == 0)


@pytest.mark.parametrize(
    ("prime", "dimension"),
    [
        *[(1, 3), (4, 3), (9, 2), (0, 2), (-3, 2), (3, 1), (3, 0), (True, 2), (3, 2.0), ("3", 2), (None, 2)],
        *[(32771, 2), (2, 31), (2, 10**9), (10**100, 2), (1031, 4), (32761, 2)],
    ],
)
def test_spaces_that_are_none_or_too_large_are_refused(prime: object, dimension: object) -> None:
    with pytest.raises(ParameterError):
        Geometry(prime, dimension)  # type: ignore[arg-type]


def test_numpy_integers_are_taken_as_ints() -> None:
    assert type(Geometry(np.int64(3), np.int32(4)).prime) is int  # type: ignore[arg-type]


@pytest.mark.parametrize("point", [-1, 13])
def test_a_point_outside_the_space_has_no_plane(point: int) -> None:
    with pytest.raises(ParameterError):
        Geometry(3, 3).plane(point)


def test_a_plane_of_a_large_space_is_not_listed() -> None:
    with pytest.raises(ParameterError, match="2\\^20"):
        Geometry(2, 21).plane(0)


def test_primes_are_told_from_the_others() -> None:
    assert [number for number in range(50) if is_prime(number)] == [
        *[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    ]
    assert not is_prime(181**2)
