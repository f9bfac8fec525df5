"""Shapes, outcomes and probabilities that cannot be used are refused in one sentence."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    Finite,
    NoisyMaxGapLaw,
    NoisyMaxLaw,
    OnGrid,
    Outside,
    Peeling,
    PermuteAndFlipLaw,
    Product,
    RoundedGaussian,
    Softmax,
    Truncated,
)
from discreet.laws.choices.noisy_max import Winner
from discreet.laws.law import as_integers, as_size

LAWS = {
    "laplace": DiscreteLaplace(2),
    "wide laplace": DiscreteLaplace(2**30),
    "huge laplace": DiscreteLaplace(2**70),
    "gaussian": DiscreteGaussian(2),
    "wide gaussian": DiscreteGaussian(2**30),
    "rounded gaussian": RoundedGaussian(2),
    "huge rounded gaussian": RoundedGaussian(2**70),
    "finite": Finite("ab", [Fraction(1, 3), Fraction(2, 3)]),
    "conditioned": Truncated(DiscreteLaplace(2), -1, 5, outside=Outside.CONDITIONED),
    "clamped": Truncated(DiscreteGaussian(2), -1, 5, outside=Outside.CLAMPED),
    "grid": OnGrid(DiscreteLaplace(2), Fraction(1, 8)),
    "softmax": Softmax([0, 1, 2], Fraction(1)),
    "noisy max": NoisyMaxLaw(np.array([0, 1, 2]), DiscreteLaplace(2)),
    "noisy max with its lead": NoisyMaxGapLaw(np.array([0, 1, 2]), DiscreteLaplace(2)),
    "permute and flip": PermuteAndFlipLaw([0, 1, 2], Fraction(1)),
    "peeling": Peeling([0, 1, 2], Fraction(1), 2),
}
law_named = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


@law_named
@pytest.mark.parametrize("shape", [0, 1, 5, (), (0,), (3,), (2, 3), (2, 0, 3), np.int64(4), (np.int32(2), 2)], ids=repr)
def test_a_sample_has_the_shape_asked_for(law, shape):
    expected = tuple(int(size) for size in shape) if isinstance(shape, tuple) else (int(shape),)
    assert law.sample(shape).shape == expected


BAD_SHAPES = [-1, (2, -1), True, (True,), 2.0, (2.0,), math.nan, "3", [3], np.bool_(True), (None,), {}, 1j, ((2,),)]


@law_named
@pytest.mark.parametrize("shape", BAD_SHAPES, ids=repr)
def test_a_shape_that_is_none_is_refused(law, shape):
    with pytest.raises(ParameterError) as refusal:
        law.sample(shape)
    assert refusal.value.parameter == "shape"


def test_a_product_of_samples_has_the_components_last():
    law = Product([DiscreteLaplace(1), DiscreteGaussian(1)])
    assert law.sample().shape == (2,)
    assert law.sample(5).shape == (5, 2)
    assert law.sample((3, 4)).shape == (3, 4, 2)
    for shape in (-1, True, 2.5):
        with pytest.raises(ParameterError):
            law.sample(shape)


@law_named
def test_one_draw_is_an_outcome_and_not_an_array(law):
    drawn = law.sample()
    assert isinstance(drawn, int | float | str | tuple | Winner)
    assert not isinstance(drawn, bool | np.generic)


def test_sizes_multiply():
    assert as_size(7) == ((7,), 7)
    assert as_size((2, 3, 4)) == ((2, 3, 4), 24)
    assert as_size(()) == ((), 1)
    assert as_size((5, 0)) == ((5, 0), 0)


BAD_OUTCOMES = [1.0, 0.5, math.nan, True, [1.5], [True], "1", None, 1j, np.array([1.0]), np.array(["a"]), [1, "a"]]


@pytest.mark.parametrize("outcome", BAD_OUTCOMES, ids=repr)
@pytest.mark.parametrize(
    "law", [DiscreteLaplace(1), DiscreteGaussian(1), RoundedGaussian(1), LAWS["conditioned"]], ids="lgrt"
)
def test_an_outcome_that_is_no_integer_is_refused(law, outcome):
    for ask in (law.pmf, law.cdf, law.sf):
        with pytest.raises(ParameterError) as refusal:
            ask(outcome)
        assert refusal.value.parameter == "outcome"


@pytest.mark.parametrize("item", [0.5, Fraction(1, 2), None, "1", True, math.nan], ids=repr)
def test_an_object_that_is_no_integer_is_refused_too(item):
    with pytest.raises(ParameterError):
        as_integers(np.array([3, item], dtype=object))


def test_integers_of_any_size_are_outcomes():
    for values in ([1, 2], np.array([1], dtype=np.uint8), 2**63, 2**64, -(2**63), [2**70, -(2**70)]):
        assert as_integers(values).shape == np.shape(np.array(values, dtype=object))


WIDTHS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("width", WIDTHS, ids=lambda width: width.__name__)
@pytest.mark.parametrize("center", [0, 5, 1000, 2**62])
@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
def test_the_width_of_an_integer_type_does_not_change_a_probability(kind, center, width):
    law = kind(10, center=center)
    values = [int(np.iinfo(width).min), 0, 5, int(np.iinfo(width).max)]
    for ask in (law.pmf, law.cdf, law.sf):
        expected = [float(ask(np.array([value], dtype=object))[0]) for value in values]
        assert ask(np.array(values, dtype=width)).tolist() == pytest.approx(expected, rel=1e-12)
        assert [float(ask(width(value))) for value in values] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("probability", [0, 1, 0.0, 1.0, -0.0, -1, 2, 1.5, Fraction(3, 2), 1e-300 - 1, 10**400])
@pytest.mark.parametrize(
    "law", [DiscreteLaplace(1), DiscreteGaussian(1), RoundedGaussian(1), LAWS["clamped"]], ids="lgrt"
)
def test_a_quantile_outside_zero_and_one_is_refused(law, probability):
    with pytest.raises(ParameterError):
        law.quantile(probability)


@pytest.mark.parametrize("probability", [math.nan, math.inf, None, "0.5", True, 0.5j, [0.5]], ids=repr)
@pytest.mark.parametrize(
    "law", [DiscreteLaplace(1), DiscreteGaussian(1), RoundedGaussian(1), LAWS["clamped"]], ids="lgrt"
)
def test_a_quantile_at_what_is_no_number_is_refused(law, probability):
    with pytest.raises(ParameterError) as refusal:
        law.quantile(probability)
    assert refusal.value.parameter == "probability"


def test_a_probability_too_long_to_print_is_refused_like_any_other():
    with pytest.raises(ParameterError):
        DiscreteLaplace(1).quantile(10**5000)
