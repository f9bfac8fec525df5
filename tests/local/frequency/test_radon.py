"""Sums over planes: the coordinates one by one, the definition and the Fourier transform give the same integers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.local.frequency import geometry as radon
from discreet.local.frequency.geometry import Geometry, plane_sums
from tests.local.frequency.projective import SMALL, incidence, vectors

BOTH = pytest.mark.parametrize("fast", [pytest.param(True, marks=pytest.mark.needs("numba")), False])


def fourier_sums(counts: NDArray[np.int64], prime: int, dimension: int) -> NDArray[np.int64]:
    """The textbook way: sum over y of counts(y) (1 + sum over j of w^(j <x, y>)) / prime, all vectors y at once."""
    points = vectors(prime, dimension)
    places = points @ prime ** np.arange(dimension)
    cube = np.zeros(prime**dimension)
    for factor in range(1, prime):
        cube[factor * points % prime @ prime ** np.arange(dimension)] = counts
    turned = np.fft.fftn(cube.reshape((prime,) * dimension)).real.ravel()
    return np.asarray(np.rint((counts.sum() + turned[places]) / prime), dtype=np.int64)


@BOTH
@pytest.mark.parametrize(("prime", "dimension"), SMALL)
def test_plane_sums_are_those_of_the_definition(
    prime: int, dimension: int, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(radon, "available", lambda: fast)
    table = incidence(prime, dimension)
    counts = coins(1, prime, dimension).integers(0, 1_000, (3, len(table)))
    assert np.array_equal(plane_sums(counts, prime, dimension), counts @ table)


@BOTH
@pytest.mark.parametrize(("prime", "dimension"), [(2, 11), (3, 7), (5, 5), (7, 4), (11, 4), (31, 3), (101, 2)])
def test_plane_sums_are_those_of_the_fourier_transform(
    prime: int, dimension: int, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(radon, "available", lambda: fast)
    counts = coins(2, prime, dimension).integers(0, 50, Geometry(prime, dimension).points)
    assert np.array_equal(plane_sums(counts, prime, dimension), fourier_sums(counts, prime, dimension))


def test_each_point_alone_lies_on_the_planes_of_its_plane() -> None:
    space = Geometry(3, 4)
    sums = space.plane_sums(np.eye(space.points, dtype=np.int64))
    assert np.array_equal(sums, incidence(3, 4))


@BOTH
def test_totals_beyond_int32_and_negative_counts_are_exact(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radon, "available", lambda: fast)
    table = incidence(5, 3)
    large = coins(3).integers(0, 1 << 52, (2, len(table)))
    assert np.array_equal(plane_sums(large, 5, 3), large @ table)
    signed = coins(4).integers(-(1 << 31), 1 << 31, len(table))
    assert np.array_equal(plane_sums(signed, 5, 3), signed @ table)
    edge = np.zeros(len(table), dtype=np.int64)
    edge[[3, 4]] = (1 << 31) - 1, 1
    assert np.array_equal(plane_sums(edge, 5, 3), edge @ table)
    edge[[3, 4]] = 1 << 33, -(1 << 33)  # the total is small, the sums over planes are not
    assert np.array_equal(plane_sums(edge, 5, 3), edge @ table)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3)])
def test_every_row_of_a_table_is_summed_by_itself(shape: tuple[int, ...]) -> None:
    space = Geometry(2, 4)
    counts = coins(5).integers(0, 9, (*shape, space.points))
    before = counts.copy()
    sums = space.plane_sums(counts)
    assert sums.shape == counts.shape
    assert sums.dtype == np.int64
    assert np.array_equal(sums, counts @ incidence(2, 4))
    assert np.array_equal(counts, before)


@pytest.mark.parametrize("counts", [np.zeros(12, dtype=np.int64), np.zeros(13), np.zeros((13, 1), dtype=np.int64)])
def test_counts_of_another_shape_or_kind_are_refused(counts: NDArray[np.int64]) -> None:
    with pytest.raises(ParameterError):
        Geometry(3, 3).plane_sums(counts)
