"""Sensitivities: exact values, stated norms, conversions that hold for every vector."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import Norm, Relation, Sensitivity

CHANGED = Relation.CHANGE_ONE
vectors = st.lists(st.integers(-50, 50), min_size=1, max_size=8).filter(any)


def norms(vector):
    """Return the squared norms of an integer vector, exactly."""
    return {
        Norm.L1: Fraction(sum(abs(x) for x in vector)) ** 2,
        Norm.L2: Fraction(sum(x * x for x in vector)),
        Norm.LINF: Fraction(max(abs(x) for x in vector)) ** 2,
    }


@pytest.mark.theorem("Sensitivity.to_norm.accuracy")
@given(vectors, st.sampled_from(list(Norm)), st.sampled_from(list(Norm)))
def test_a_converted_sensitivity_bounds_every_vector_within_the_first(vector, given_norm, wanted):
    squared = norms(vector)
    value = Fraction(math.nextafter(math.sqrt(squared[given_norm]), math.inf))
    start = Sensitivity(value, norm=given_norm, relation=CHANGED)
    found = start.to_norm(wanted, coordinates=len(vector))
    assert found.exact**2 >= squared[wanted]
    assert (found.norm, found.relation) == (wanted, CHANGED)


@pytest.mark.theorem("Sensitivity.to_norm.accuracy")
@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_equal_coordinates_attain_the_conversions_that_grow(count):
    one = Sensitivity(1, norm=Norm.LINF, relation=CHANGED)
    assert one.to_norm(Norm.L1, coordinates=count).value == count
    assert one.to_norm(Norm.L2, coordinates=count).value == pytest.approx(math.sqrt(count), rel=1e-15)


def test_an_integer_stays_an_integer_where_it_can():
    start = Sensitivity(3, norm=Norm.L1, relation=CHANGED)
    assert start.is_integer
    assert start.to_norm(Norm.L2).is_integer
    assert Sensitivity(3, norm=Norm.LINF, relation=CHANGED).to_norm(Norm.L1, coordinates=4).value == 12
    assert not Sensitivity(3.0, norm=Norm.L1, relation=CHANGED).is_integer
    assert not Sensitivity(Fraction(3), norm=Norm.L1, relation=CHANGED).is_integer


def test_a_growing_conversion_asks_for_the_number_of_coordinates():
    with pytest.raises(MissingParameter, match="coordinates="):
        Sensitivity(1, norm=Norm.L2, relation=CHANGED).to_norm(Norm.L1)
    with pytest.raises(ParameterError, match="coordinates"):
        Sensitivity(1, norm=Norm.L2, relation=CHANGED).to_norm(Norm.L1, coordinates=2.5)


def test_values_are_kept_exactly_and_numpy_scalars_become_pythons():
    assert Sensitivity(np.int64(3), norm=Norm.L1, relation=CHANGED).value == 3
    assert type(Sensitivity(np.int64(3), norm=Norm.L1, relation=CHANGED).value) is int
    assert type(Sensitivity(np.float32(0.1), norm=Norm.L1, relation=CHANGED).value) is float
    assert Sensitivity(0.1, norm=Norm.L1, relation=CHANGED).exact == Fraction(0.1)


@pytest.mark.parametrize("bad", [0, -1, 0.0, -0.0, math.nan, math.inf, True, np.True_, "1", None, 1j, [1], 10**400])
def test_values_that_are_no_sensitivity_are_refused(bad):
    with pytest.raises(ParameterError) as caught:
        Sensitivity(bad, norm=Norm.L1, relation=CHANGED)
    assert caught.value.parameter == "sensitivity"


def test_norm_and_relation_are_never_defaulted_nor_guessed():
    with pytest.raises(TypeError):
        Sensitivity(1, norm=Norm.L1)
    with pytest.raises(TypeError):
        Sensitivity(1, relation=CHANGED)
    with pytest.raises(ParameterError, match="norm"):
        Sensitivity(1, norm="L1", relation=CHANGED)
    with pytest.raises(ParameterError, match="relation"):
        Sensitivity(1, norm=Norm.L1, relation="change one")
