"""The fast transform is the matrix of signs, exact on whole numbers and within its rounding bound on all others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.laws.walsh_hadamard import rounding, walsh_hadamard


def signs(size: int) -> np.ndarray:
    index = np.arange(size)
    return 1 - 2 * (np.bitwise_count(index[:, None] & index) & 1).astype(np.int64)


@pytest.mark.theorem("walsh_hadamard.accuracy")
@given(power=st.integers(0, 9), columns=st.integers(1, 7), seed=st.integers(0, 2**32))
def test_every_column_is_multiplied_by_the_signs(power, columns, seed):
    values = np.random.default_rng(seed).integers(-1000, 1000, (2**power, columns))
    assert np.array_equal(walsh_hadamard(values.astype(float)), signs(2**power) @ values)
    assert np.array_equal(walsh_hadamard(values[:, 0].astype(float)), signs(2**power) @ values[:, 0])


@pytest.mark.theorem("walsh_hadamard.accuracy")
@pytest.mark.parametrize("power", [4, 5, 9, 10])
def test_whole_numbers_that_add_up_to_two_to_the_53_are_exact(power):
    size = 2**power
    most = 2**53 // size
    for seed in range(5):
        values = np.random.default_rng(seed).integers(-most, most, size, endpoint=True)
        assert np.abs(values).sum() <= 2**53
        assert np.array_equal(walsh_hadamard(values.astype(float)).astype(np.int64), signs(size) @ values)


@pytest.mark.theorem("walsh_hadamard.accuracy")
@pytest.mark.parametrize("power", [3, 6, 10])
@pytest.mark.parametrize("spread", [0, 30])
def test_other_numbers_are_within_the_rounding_bound(power, spread):
    size = 2**power
    random = np.random.default_rng(power)
    values = random.normal(size=size) * 2.0 ** random.integers(0, spread + 1, size)
    found = walsh_hadamard(values)
    allowed = rounding(size) * math.fsum(np.abs(values))
    matrix = signs(size)
    for place in range(0, size, max(1, size // 64)):
        assert abs(found[place] - math.fsum(matrix[place] * values)) <= allowed
    assert 0 < rounding(size) <= 16 * power * 2.0**-53


def test_twice_the_transform_is_the_size_times_the_values():
    values = np.random.default_rng(1).integers(0, 2**20, 2**16).astype(float)
    assert np.array_equal(walsh_hadamard(walsh_hadamard(values)), 2**16 * values)


def test_the_values_given_are_not_changed():
    values = np.arange(8.0)
    walsh_hadamard(values)
    assert values.tolist() == list(range(8))


@pytest.mark.parametrize("size", [0, 3, 6, 100])
def test_other_lengths_are_refused(size):
    with pytest.raises(InputError, match="power of two"):
        walsh_hadamard(np.zeros(size))
