"""A statistic and the function named after it take the same parameters, with the same types and defaults."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from discreet import statistics
from discreet.errors import ConflictingParameters
from discreet.privacy import Relation
from discreet.statistics import options as shared

PAIRS = {
    "count": ("Count", shared.NoiseOptions, {"values", "where", "unit"}, {"filtered"}),
    "sum": ("Sum", shared.SumOptions, {"values", "unit"}, set()),
    "mean": ("Mean", shared.MeanOptions, {"values", "unit"}, set()),
    "variance": ("Variance", shared.VarianceOptions, {"values", "unit"}, set()),
    "standard_deviation": ("StandardDeviation", shared.VarianceOptions, {"values", "unit"}, set()),
    "count_distinct": ("CountDistinct", shared.GroupOptions, {"values", "unit"}, set()),
    "histogram": ("Histogram", shared.TableOptions, {"values", "unit", "groups"}, set()),
    "quantile": ("Quantile", shared.QuantileOptions, {"values", "unit"}, set()),
    "quantiles": ("Quantiles", shared.SeveralQuantilesOptions, {"values", "unit"}, {"tie_bits"}),
    "clipping_bounds": ("ClippingBounds", shared.ClippingOptions, {"values", "unit"}, set()),
    "covariance": ("Covariance", shared.CovarianceOptions, {"table"}, set()),
}
pairs = pytest.mark.parametrize(("name", "pair"), PAIRS.items(), ids=PAIRS)


def parameters(named):
    return inspect.signature(getattr(statistics, named)).parameters


@pairs
def test_function_and_class_take_the_same_parameters(name, pair):
    kind, _, data, left_out = pair
    own, of_class = parameters(name), parameters(kind)
    assert set(own) - data == set(of_class) - left_out
    same = set(own) - data - {"keys", "level", "levels"}  # how these are passed differs
    assert {one: (own[one].default, own[one].annotation) for one in same} == {
        one: (of_class[one].default, of_class[one].annotation) for one in same
    }


@pairs
def test_the_types_that_callers_are_checked_by_are_those_of_the_class(name, pair):
    kind, typed, *_ = pair
    code = getattr(statistics, name).__code__
    names = set(parameters(name)) - set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    assert set(get_type_hints(typed)) == names
    assert {one: typed.__annotations__[one].__forward_arg__ for one in names} == {
        one: parameters(kind)[one].annotation for one in names
    }


@pytest.mark.parametrize("kind", [kind for kind, *_ in PAIRS.values()])
def test_an_unknown_parameter_raises_a_type_error_that_names_it(kind):
    with pytest.raises(TypeError, match=rf"{kind}\(\) .*'unknown'"):
        getattr(statistics, kind)(unknown=1)


def test_a_parameter_of_another_statistic_raises_a_type_error_that_names_it():
    with pytest.raises(TypeError, match=r"Sum\(\) .*'target'"):
        statistics.Sum(bounds=(0, 1), relation=Relation.ADD_REMOVE, epsilon=1, target=None)
    with pytest.raises(TypeError, match=r"Quantile\(\) .*'delta'"):
        statistics.Quantile(level=0.5, bounds=(0, 1), relation=Relation.ADD_REMOVE, epsilon=1, delta=1e-6)


def test_help_lists_the_parameters():
    assert str(inspect.signature(statistics.mean)).startswith(
        "(values: 'Any', *, unit: 'Any' = None, bounds: 'Any' = None"
    )
    assert "epsilon" in inspect.signature(statistics.Mean).parameters


def test_a_histogram_bounds_rows_of_public_keys_and_groups_of_private_ones():
    asked = {"relation": Relation.ADD_REMOVE, "epsilon": 1}
    with pytest.raises(ConflictingParameters, match="write groups= with keys=None"):
        statistics.histogram(["a"], keys=None, unit=[1], rows=1, delta=1e-6, **asked)
    with pytest.raises(ConflictingParameters, match="write rows= with public keys"):
        statistics.histogram(["a"], keys=["a"], unit=[1], groups=1, **asked)
