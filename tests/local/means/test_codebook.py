"""Public directions: written down once, the same everywhere, and uniform as far as it can be told."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from discreet.local.means.directions import UNIT_BITS, Codebook, _quantiles


def _plainly(seed: int, dimension: int, number: int) -> list[int]:
    """The written-down derivation in Python integers."""
    size = 1 << 64
    digest = hashlib.sha256(b"discreet.local.codebook/1" + seed.to_bytes(32, "little")).digest()
    first, second = (int.from_bytes(digest[i : i + 8], "little") for i in (0, 8))
    golden = 0x9E3779B97F4A7C15

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % size
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % size
        return z ^ (z >> 31)

    start = mix((number * golden + first) % size)
    places: list[int] = []
    block = 1
    while len(places) < dimension:
        word = mix((start + block * golden + second) % size)
        places += [word >> (16 * i) & 0xFFFF for i in range(4)]
        block += 1
    vector = [int(_quantiles()[place]) for place in places[:dimension]]
    length = math.sqrt(sum(entry * entry for entry in vector))
    return [round(entry / length * 2**24) for entry in vector]


@pytest.mark.parametrize("dimension", [2, 3, 4, 9])
@pytest.mark.parametrize("seed", [0, 12345])
def test_directions_are_those_of_the_written_derivation(dimension: int, seed: int) -> None:
    numbers = [0, 1, 77, 2**40 + 3, 2**53 - 1]
    rows = Codebook(seed=seed, dimension=dimension).directions(np.array(numbers))
    assert rows.tolist() == [_plainly(seed, dimension, number) for number in numbers]


def test_published_directions_stay_as_they_are() -> None:
    rows = Codebook(seed=0, dimension=3).directions(np.arange(2))
    assert rows.tolist() == [[-5579636, -531370, 15813295], [11882632, -5047950, -10714301]]


def test_no_quantile_is_near_a_tie_and_none_is_zero() -> None:
    from scipy.special import ndtri

    exact = ndtri((np.arange(1 << 16) + 0.5) / (1 << 16)) * 2.0**16
    assert np.abs(exact - np.floor(exact) - 0.5).min() > 2.0**-20
    table = _quantiles()
    assert np.array_equal(table, -table[::-1])
    assert np.abs(table).min() == 1
    scaled = table / 2.0**16
    assert np.mean(scaled**2) == pytest.approx(1, abs=3e-5)
    assert np.mean(scaled**4) == pytest.approx(3, abs=2e-3)


def test_directions_look_uniform() -> None:
    count = 200_000
    rows = Codebook(seed=3, dimension=5).directions(np.arange(count)) / 2.0**UNIT_BITS
    assert np.allclose((rows**2).sum(axis=1), 1, atol=1e-6)
    # no draw is made: the directions are fixed, and the tolerances six standard errors of uniform ones
    assert np.abs(rows.mean(axis=0)).max() < 6 * math.sqrt(1 / 5 / count)
    covariance = rows.T @ rows / count
    assert np.abs(covariance - np.eye(5) / 5).max() < 6 * math.sqrt(2 / 35 / count)
    assert np.abs((rows**4).mean(axis=0) - 3 / 35).max() < 6 * math.sqrt(0.03 / count)
    neighbors = (rows[1:] * rows[:-1]).sum(axis=1)
    assert abs(neighbors.mean()) < 6 * math.sqrt(1 / 5 / count)
