"""Plane sums of a projective space in exact integers: a discrete Radon transform, one coordinate at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled

Integers = NDArray[np.int64]
_SMALL = (1 << 31) - 1


def plane_sums(counts: Integers, prime: int, dimension: int) -> Integers:
    """Return, for every point of PG(dimension - 1, prime), the sum of the counts on its plane; the last axis is points.

    Write a point y as (u, b) with b its top coordinate. The points with b = 0 are a space of one dimension less and
    come first in our order; those with b = 1 are all u of an affine space. The plane of x = (w, a) is b = 0 if w = 0.
    Otherwise w = mu * direction for one canonical direction and one mu, and the plane holds the plane of `direction`
    among the points with b = 0, and the affine points with <direction, u> = -a / mu. So it takes the sums over all
    parallel affine planes of all directions.

    Cost. About (dimension - 2) * prime additions a point, and a few copies of the table; int32 inside where all sums
        fit.

    >>> plane_sums(np.array([1, 10, 100]), prime=2, dimension=2)
    array([ 10,   1, 100])
    """
    table = np.ascontiguousarray(counts).reshape(-1, counts.shape[-1])
    sizes = table if table.min(initial=0) >= 0 else np.abs(table)
    small = int(sizes.sum(axis=1, dtype=np.int64).max(initial=0)) <= _SMALL
    working: NDArray[Any] = table.astype(np.int32 if small else np.int64)
    return _sums(working, prime, dimension).astype(np.int64).reshape(counts.shape)


def _sums(table: NDArray[Any], prime: int, dimension: int) -> NDArray[Any]:
    """Return the plane sums of every row."""
    if dimension == 1:
        return np.zeros_like(table)
    infinite = (prime ** (dimension - 1) - 1) // (prime - 1)
    sums = np.empty_like(table)
    parallel = _sums(np.ascontiguousarray(table[:, :infinite]), prime, dimension - 1)
    sums[:, infinite] = table[:, :infinite].sum(axis=1)
    affine = table[:, infinite:]
    for leading in range(dimension - 2, -1, -1):
        affine = affine.reshape(len(table), prime, prime**leading)
        _directions(sums, affine, parallel, prime, leading)
        affine = affine.sum(axis=1, dtype=table.dtype)
    return sums


def _directions(sums: NDArray[Any], affine: NDArray[Any], parallel: NDArray[Any], prime: int, leading: int) -> None:
    """Fill in the points whose direction has its leading 1 at a position; `affine` is summed over the digits above."""
    size = prime**leading
    start, infinite = (size - 1) // (prime - 1), parallel.shape[1]
    along = parallel[:, start : start + size]
    offsets = _radon(affine, prime, leading)
    sums[:, start : start + size] = offsets(0) + along
    for factor in range(1, prime):
        places = infinite + factor * size + _multiples(factor, prime, leading)
        sums[:, places] = offsets(-pow(factor, -1, prime) % prime) + along


def _radon(affine: NDArray[Any], prime: int, leading: int) -> Any:
    """Return offset -> the sums of the planes <direction, u> = offset, for every direction with that leading position.

    With s = u_leading the sums over u_0, u_1, ... are taken one after the other: A(.., w_j, ..; s) is the sum over u_j
    of A(.., u_j, ..; s - w_j u_j). The low half of the digits waits behind s while the high half is done, and then the
    other way round, so that the inner loops are long whatever the prime.
    """
    rows, low = len(affine), leading // 2
    first, second = prime ** (leading - low), prime**low
    table = np.ascontiguousarray(affine.reshape(rows, prime, first, second).transpose(0, 2, 1, 3))
    table = _shear_all(table, prime, leading - low)
    table = np.ascontiguousarray(table.transpose(0, 3, 2, 1))
    table = _shear_all(table, prime, low)
    return lambda offset: table[:, :, offset, :].transpose(0, 2, 1).reshape(rows, first * second)


def _shear_all(table: NDArray[Any], prime: int, digits: int) -> NDArray[Any]:
    """Replace every digit of the axis before s by the same digit of the direction."""
    rows, size, _, behind = table.shape
    for digit in range(digits):
        lower = prime**digit
        cut = table.reshape(rows * size // (lower * prime), prime, lower, prime * behind)
        table = (_shear if available() else _shear_plain)(cut, prime, behind)
    return table.reshape(rows, size, prime, behind)


def _shear_plain(table: NDArray[Any], prime: int, behind: int) -> NDArray[Any]:
    """Sum over one digit u for every w, the axis (s, behind) turned by w u."""
    result = np.zeros_like(table)
    for w in range(prime):
        for u in range(prime):
            turn = w * u % prime * behind
            result[:, w, :, turn:] += table[:, u, :, : prime * behind - turn]
            result[:, w, :, :turn] += table[:, u, :, prime * behind - turn :]
    return result


@compiled
def _shear(table: NDArray[Any], prime: int, behind: int) -> NDArray[Any]:
    """Do as `_shear_plain` does."""
    result = np.zeros_like(table)
    length = prime * behind
    for high in range(table.shape[0]):
        for w in range(prime):
            for u in range(prime):
                turn = w * u % prime * behind
                for low in range(table.shape[2]):
                    target = result[high, w, low]
                    source = table[high, u, low]
                    for s in range(length - turn):
                        target[turn + s] += source[s]
                    for s in range(turn):
                        target[s] += source[length - turn + s]
    return result


def _multiples(factor: int, prime: int, digits: int) -> Integers:
    """Return every number of that many digits with each digit multiplied by a factor, modulo the prime."""
    digit = factor * np.arange(prime, dtype=np.int64) % prime
    numbers = np.zeros(1, dtype=np.int64)
    for _ in range(digits):
        numbers = (numbers[:, None] * prime + digit).ravel()
    return numbers
