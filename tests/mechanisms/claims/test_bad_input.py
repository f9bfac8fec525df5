"""Bad input gets one clear error that says what to change, or has a stated meaning."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import (
    ConflictingParameters,
    DiscreetError,
    InputError,
    MissingParameter,
    ParameterError,
    SenselessParameter,
)
from discreet.mechanisms import KeyNoise, PermuteAndFlip, ThresholdedHistogram, Top, TruncatedGeometric

NAN, INF = math.nan, math.inf
COUNTS = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
ADD_REMOVE = dp.Relation.ADD_REMOVE
REALS = dp.Sensitivity(1.0, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)

HISTOGRAM = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD_REMOVE)

STREAM = dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1)
CHOICES = [
    dp.Exponential(epsilon=1, sensitivity=1), PermuteAndFlip(epsilon=1, sensitivity=1),
    Top(k=1, epsilon=1, sensitivity=1),
]  # fmt: skip

PARAMETERS: list[tuple[Any, type[DiscreetError], str]] = [
    (lambda: dp.Laplace(sensitivity=1), MissingParameter, "epsilon"),
    (lambda: dp.Laplace(epsilon=1), MissingParameter, "sensitivity"),
    (lambda: dp.Laplace(epsilon=1, scale=1, sensitivity=1), ConflictingParameters, "not both"),
    (lambda: dp.Laplace(epsilon=0, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(epsilon=-1, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(epsilon=-0.0, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(epsilon=NAN, sensitivity=1), ParameterError, "finite"),
    (lambda: dp.Laplace(epsilon=INF, sensitivity=1), ParameterError, "finite"),
    (lambda: dp.Laplace(epsilon="1", sensitivity=1), ParameterError, "not str"),
    (lambda: dp.Laplace(epsilon=True, sensitivity=1), ParameterError, "truth value"),
    (lambda: dp.Laplace(epsilon=Decimal("0.5"), sensitivity=1), ParameterError, "not Decimal"),
    (lambda: dp.Laplace(epsilon=1j, sensitivity=1), ParameterError, "not complex"),
    (lambda: dp.Laplace(epsilon=np.array([1.0]), sensitivity=1), ParameterError, "not ndarray"),
    (lambda: dp.Laplace(epsilon=np.longdouble(1), sensitivity=1), ParameterError, "longdouble"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=0), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=-3), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=INF), ParameterError, "finite"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=NAN), ParameterError, "finite"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=True), ParameterError, "truth value"),
    (lambda: dp.Laplace(epsilon=1, sensitivity="one"), ParameterError, "not str"),
    (lambda: dp.Laplace(scale=0, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(scale=-2, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Laplace(scale=INF, sensitivity=1), ParameterError, "finite"),
    (lambda: dp.Laplace(scale=5e-324, sensitivity=1.0), ParameterError, "another unit"),
    (lambda: dp.Laplace(scale=1e-300, sensitivity=1), ParameterError, "2\\^-600"),
    (lambda: dp.Laplace(scale=10**400, sensitivity=1), ParameterError, "2\\^600"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1.0, grid=0.3), ParameterError, "power of two"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1.0, grid=0), ParameterError, "power of two"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1.0, grid=-0.5), ParameterError, "power of two"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1.0, grid=NAN), ParameterError, "finite"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1, grid=0.5), ConflictingParameters, "sensitivity=1.0"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1, length=3), ConflictingParameters, "Sensitivity"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=REALS, length=0), ParameterError, "at least 1"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=REALS, length=2.0), ParameterError, "int"),
    (
        lambda: dp.Laplace(epsilon=1, sensitivity=dp.Sensitivity(1, norm=dp.Norm.L2, relation=dp.Relation.ADD_REMOVE)),
        ParameterError,
        "to_norm",
    ),
    (lambda: dp.Gaussian(epsilon=1, sensitivity=1), MissingParameter, "delta"),
    (lambda: dp.Gaussian(epsilon=1, delta=0, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Gaussian(epsilon=1, delta=-1e-9, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: dp.Gaussian(epsilon=1, delta=1.5, sensitivity=1), ParameterError, "delta"),
    (lambda: dp.Gaussian(epsilon=1, delta=NAN, sensitivity=1), ParameterError, "finite"),
    (lambda: dp.Gaussian(scale=1, delta=1e-6, sensitivity=1), ConflictingParameters, "delta"),
    (lambda: dp.RandomizedResponse(categories=2), MissingParameter, "epsilon"),
    (lambda: dp.RandomizedResponse(epsilon=1, categories=1), ParameterError, "at least 2"),
    (lambda: dp.RandomizedResponse(epsilon=1, categories=True), ParameterError, "at least 2"),
    (lambda: dp.RandomizedResponse(epsilon=1, categories=2.5), ParameterError, "at least 2"),
    (lambda: dp.RandomizedResponse(truth=0.5, categories=2), ParameterError, "chance"),
    (lambda: dp.RandomizedResponse(truth=1, categories=2), ParameterError, "no privacy"),
    (lambda: dp.RandomizedResponse(truth=NAN, categories=2), ParameterError, "finite"),
    (lambda: dp.Exponential(sensitivity=1), MissingParameter, "epsilon"),
    (lambda: dp.Exponential(epsilon=1), MissingParameter, "sensitivity"),
    (lambda: dp.Exponential(epsilon=1, sensitivity=1, monotone="yes"), ParameterError, "True or False"),
    (lambda: PermuteAndFlip(sensitivity=1), MissingParameter, "epsilon"),
    (lambda: PermuteAndFlip(epsilon=1), MissingParameter, "sensitivity"),
    (lambda: PermuteAndFlip(epsilon=0, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: PermuteAndFlip(epsilon=NAN, sensitivity=1), ParameterError, "finite"),
    (lambda: PermuteAndFlip(epsilon=1, sensitivity=-1), ParameterError, "greater than 0"),
    (lambda: PermuteAndFlip(epsilon=1, sensitivity=1, monotone=1), ParameterError, "True or False"),
    (lambda: PermuteAndFlip(epsilon=1, sensitivity=COUNTS), ParameterError, "LINF"),
    (lambda: PermuteAndFlip(epsilon=1, sensitivity=1).error(0.95, candidates=2, best=3), ParameterError, "best"),
    (lambda: PermuteAndFlip(epsilon=1, sensitivity=1).error(1.5, candidates=2), ParameterError, "confidence"),
    (lambda: Top(epsilon=1, sensitivity=1), MissingParameter, "k="),
    (lambda: Top(k=2, sensitivity=1), MissingParameter, "epsilon= or rho="),
    (lambda: Top(k=2, epsilon=1), MissingParameter, "sensitivity"),
    (lambda: Top(k=2, epsilon=1, rho=1, sensitivity=1), ConflictingParameters, "not both"),
    (lambda: Top(k=0, epsilon=1, sensitivity=1), ParameterError, "at least 1"),
    (lambda: Top(k=2.0, epsilon=1, sensitivity=1), ParameterError, "whole number"),
    (lambda: Top(k=True, epsilon=1, sensitivity=1), ParameterError, "truth value"),
    (lambda: Top(k=2, epsilon=-1, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: Top(k=2, rho=0, sensitivity=1), ParameterError, "rho must be greater than 0"),
    (lambda: Top(k=2, rho=INF, sensitivity=1), ParameterError, "finite"),
    (lambda: Top(k=3, rho=1e-323, sensitivity=1), ParameterError, "rho / k is below every float"),
    (lambda: Top(k=2, rho=Fraction(1, 10**400), sensitivity=1), ParameterError, "larger rho="),
    (lambda: Top(k=2, epsilon=Fraction(1, 10**400), sensitivity=1), ParameterError, "larger epsilon="),
    (lambda: Top(k=2, rho=Fraction(10) ** 400, sensitivity=1), ParameterError, "rho must not exceed"),
    (lambda: Top(k=2, epsilon=Fraction(10) ** 400, sensitivity=1), ParameterError, "epsilon must not exceed"),
    (lambda: Top(k=2, epsilon=1, sensitivity=1, monotone=None), ParameterError, "True or False"),
    (lambda: Top(k=2, epsilon=1, sensitivity=1).error(0.0, candidates=5), ParameterError, "confidence"),
    (lambda: dp.NoisyMax(epsilon=1, sensitivity=1, gap="yes"), ParameterError, "gap must be True or False"),
    (lambda: dp.NoisyMax(epsilon=1, sensitivity=1).gap_error(0.9, candidates=2), MissingParameter, "gap=True"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, gap=1), ParameterError, "gap must be True or False"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1).gap(2), MissingParameter, "gap=True"),
    (lambda: dp.NoisyMax(epsilon=1, sensitivity=1, grid=0.25), ConflictingParameters, "float"),
    (lambda: dp.AboveThreshold(epsilon=1, sensitivity=1), MissingParameter, "threshold"),
    (lambda: dp.AboveThreshold(threshold=1, sensitivity=1), MissingParameter, "epsilon"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, hits=0), ParameterError, "hits"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, hits=1.0), ParameterError, "hits"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, hits=10**400), ParameterError, "hits"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, hits=2**61), ParameterError, "hits"),
    (lambda: STREAM.alpha(queries=3, beta="a"), ParameterError, "beta"),
    (lambda: STREAM.alpha(queries=3, beta=1), ParameterError, "beta"),
    (lambda: STREAM.alpha(queries=10**400, beta=0.1), ParameterError, "queries"),
    (lambda: STREAM.alpha(queries=True, beta=0.1), ParameterError, "queries"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, split="half"), ParameterError, "Split"),
    (lambda: dp.AboveThreshold(threshold=0.5, epsilon=1, sensitivity=1), InputError, "sensitivity=1.0"),
    (lambda: dp.AboveThreshold(threshold=NAN, epsilon=1, sensitivity=1.0), InputError, "finite"),
    (lambda: dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, answer_epsilon=0), ParameterError, "answer"),
    (lambda: TruncatedGeometric(epsilon=1, sensitivity=1), MissingParameter, "delta"),
    (lambda: TruncatedGeometric(delta=1e-6, sensitivity=1), MissingParameter, "epsilon"),
    (lambda: TruncatedGeometric(epsilon=1, delta=1e-6), MissingParameter, "sensitivity"),
    (lambda: TruncatedGeometric(epsilon=1, delta=0, sensitivity=1), ParameterError, "greater than 0"),
    (lambda: TruncatedGeometric(epsilon=1, delta=0.5, sensitivity=1), ParameterError, "below 1/2"),
    (lambda: TruncatedGeometric(epsilon=1, delta=Fraction(1, 10**400), sensitivity=1), ParameterError, "floats"),
    (lambda: TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=1.0), ConflictingParameters, "as an int"),
    (lambda: ThresholdedHistogram(delta=1e-6, keys=1, relation=ADD_REMOVE), MissingParameter, "epsilon= or rho="),
    (lambda: ThresholdedHistogram(epsilon=1, keys=1, relation=ADD_REMOVE), MissingParameter, "delta"),
    (lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, relation=ADD_REMOVE), MissingParameter, "keys=1"),
    (lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1), MissingParameter, "relation="),
    (
        lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=dp.Relation.UNSTATED),
        MissingParameter,
        "relation=",
    ),
    (lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation="add"), ParameterError, "ADD_REMOVE"),
    (lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, keys=0, relation=ADD_REMOVE), ParameterError, "at least 1"),
    (lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1.5, relation=ADD_REMOVE), ParameterError, "whole"),
    (lambda: ThresholdedHistogram(epsilon=1, delta=0, keys=1, relation=ADD_REMOVE), ParameterError, "greater than 0"),
    (
        lambda: ThresholdedHistogram(epsilon=1, rho=1, delta=1e-6, keys=1, relation=ADD_REMOVE),
        ConflictingParameters,
        "not both",
    ),
    (
        lambda: ThresholdedHistogram(rho=1, delta=1e-6, keys=1, relation=ADD_REMOVE, noise=KeyNoise.LAPLACE),
        ConflictingParameters,
        "Gaussian",
    ),
    (
        lambda: ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD_REMOVE, noise="laplace"),
        ParameterError,
        "KeyNoise",
    ),
    (lambda: HISTOGRAM.chance(-1), ParameterError, "number of people"),
    (lambda: HISTOGRAM.chance(1.0), ParameterError, "number of people"),
    (lambda: HISTOGRAM.error(confidence=2), ParameterError, "strictly between"),
    (lambda: HISTOGRAM.error(confidence=0.5, count=0), ParameterError, "count"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1).error(confidence=1.0), ParameterError, "strictly between"),
    (lambda: dp.Laplace(epsilon=1, sensitivity=1).error(confidence=0.95, count=0), ParameterError, "count"),
    (lambda: dp.Exponential(epsilon=1, sensitivity=1).error(0.95, candidates=2, best=3), ParameterError, "best"),
]

VALUES: list[tuple[Any, Any, str]] = [
    (dp.Laplace(epsilon=1, sensitivity=1), 1.5, "sensitivity=1.0"),
    (dp.Laplace(epsilon=1, sensitivity=1), 41.0, "sensitivity=1.0"),
    (dp.Laplace(epsilon=1, sensitivity=1), True, "truth value"),
    (dp.Laplace(epsilon=1, sensitivity=1), "41", "not str"),
    (dp.Laplace(epsilon=1, sensitivity=1), None, "not NoneType"),
    (dp.Laplace(epsilon=1, sensitivity=1), [41], "numpy array"),
    (dp.Laplace(epsilon=1, sensitivity=1), np.array([41]), "bare number"),
    (dp.Laplace(epsilon=1, sensitivity=COUNTS), np.array([1.5]), "sensitivity=1.0"),
    (dp.Laplace(epsilon=1, sensitivity=COUNTS), np.array([True]), "truth value"),
    (dp.Laplace(epsilon=1, sensitivity=COUNTS), np.array(["a"]), "integers"),
    (dp.Laplace(epsilon=1, sensitivity=COUNTS), np.ma.masked_array([1, 2], mask=[True, False]), "masked"),
    (dp.Laplace(epsilon=1, sensitivity=REALS, length=2), np.ma.masked_array([1.0, 2.0], mask=[True, False]), "masked"),
    (dp.Laplace(epsilon=1, sensitivity=1.0), NAN, "finite number"),
    (dp.Laplace(epsilon=1, sensitivity=1.0), -INF, "finite number"),
    (dp.Laplace(epsilon=1, sensitivity=1.0), np.array([1.0]), "length="),
    (dp.Laplace(epsilon=1, sensitivity=REALS), np.array([1.0]), "length="),
    (dp.Laplace(epsilon=1, sensitivity=REALS, length=2), np.array([1.0]), "2 numbers"),
    (dp.Laplace(epsilon=1, sensitivity=REALS, length=2), np.array([1.0, NAN]), "finite number"),
    (dp.Laplace(epsilon=1, sensitivity=REALS, length=2), 1.0, "array of 2"),
    (dp.RandomizedResponse(epsilon=1, categories=3), 3, "0 to 2"),
    (dp.RandomizedResponse(epsilon=1, categories=3), -1, "0 to 2"),
    (dp.RandomizedResponse(epsilon=1, categories=3), 1.0, "0 to 2"),
    (dp.RandomizedResponse(epsilon=1, categories=3), True, "0 to 2"),
    (dp.Exponential(epsilon=1, sensitivity=1), [], "at least one"),
    (dp.Exponential(epsilon=1, sensitivity=1), [1.0, NAN], "finite"),
    (dp.Exponential(epsilon=1, sensitivity=1), [[1, 2]], "finite"),
    (dp.Exponential(epsilon=1, sensitivity=1), 5, "one-dimensional"),
    (PermuteAndFlip(epsilon=1, sensitivity=1), [], "at least one"),
    (PermuteAndFlip(epsilon=1, sensitivity=1), [1.0, NAN], "finite"),
    (PermuteAndFlip(epsilon=1, sensitivity=1), [True, 1], "finite"),
    (PermuteAndFlip(epsilon=1, sensitivity=1), 5, "one-dimensional"),
    (Top(k=2, epsilon=1, sensitivity=1), [41], "fewer candidates"),
    (Top(k=1, epsilon=1, sensitivity=1), [], "at least one"),
    (Top(k=1, epsilon=1, sensitivity=1), [None], "finite"),
    (dp.NoisyMax(epsilon=1, sensitivity=1, gap=True), [41], "two candidates"),
    (dp.NoisyMax(epsilon=1, sensitivity=1, gap=True), [0.5, 1.5], "sensitivity=1.0"),
    (dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1, gap=True).gap, 1.5, "sensitivity=1.0"),
    (dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1.0, gap=True).gap, NAN, "finite"),
    (dp.NoisyMax(epsilon=1, sensitivity=1), [0.5, 1.5], "sensitivity=1.0"),
    (dp.NoisyMax(epsilon=1, sensitivity=1), np.array([[1], [2]]), "one-dimensional"),
    (TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=1), 41.0, "sensitivity=1.0"),
    (TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=1), np.array([41]), "bare number"),
    (HISTOGRAM, 41, "mapping"),
    (HISTOGRAM, {"41": 1.0}, "whole numbers of people"),
    (HISTOGRAM, {"41": -1}, "whole numbers of people"),
    (HISTOGRAM, (["41", "41"], [1, 2]), "twice"),
    (HISTOGRAM, ([["41"]], [1]), "hashable"),
    (dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1), 1.5, "sensitivity=1.0"),
    (dp.AboveThreshold(threshold=1, epsilon=1, sensitivity=1), np.array([1, 2]), "single number"),
]


def test_there_are_at_least_sixty_hostile_inputs() -> None:
    assert len(PARAMETERS) >= 60
    assert len(VALUES) >= 25


@pytest.mark.parametrize(("make", "error", "words"), PARAMETERS)
def test_a_bad_parameter_is_refused_by_name(make: Any, error: type[DiscreetError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        make()
    assert type(caught.value) is error
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("mechanism", CHOICES)
@pytest.mark.parametrize("candidates", [0, -1, 2.5, 2.0, True, "2", NAN, 10**400])
def test_an_error_is_told_for_a_whole_number_of_candidates(mechanism: Any, candidates: Any) -> None:
    with pytest.raises(ParameterError, match="candidates"):
        mechanism.error(0.9, candidates=candidates)


@pytest.mark.parametrize("mechanism", CHOICES[:2])
@pytest.mark.parametrize("best", [0, 1.5, True, "1", 10**400])
def test_an_error_is_told_for_a_whole_number_of_best_candidates(mechanism: Any, best: Any) -> None:
    with pytest.raises(ParameterError, match="best"):
        mechanism.error(0.9, candidates=10, best=best)


@pytest.mark.parametrize("mechanism", CHOICES)
@pytest.mark.parametrize("confidence", ["a", None, NAN, 0, 1, True])
def test_an_error_is_told_at_a_confidence_strictly_between_0_and_1(mechanism: Any, confidence: Any) -> None:
    with pytest.raises(ParameterError, match="confidence"):
        mechanism.error(confidence, candidates=10)


@pytest.mark.parametrize(("mechanism", "value", "words"), VALUES)
def test_a_bad_value_is_refused_without_being_shown(mechanism: dp.Mechanism, value: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        mechanism(value)
    assert caught.value.__cause__ is None
    assert "41" not in str(caught.value)


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), 2**63, np.int8(-128), np.uint64(2**64 - 1), np.array(5), np.int64(2**63 - 1)]
)
def test_integers_of_any_size_are_answered_exactly(value: Any) -> None:
    answer = dp.Laplace(epsilon=1, sensitivity=1)(value)
    assert type(answer) is int
    assert abs(answer - int(value)) < 100


@pytest.mark.parametrize("value", [-0.0, 5e-324, 1e308, -1e308, np.float32(0.1), np.float16(2), Fraction(1, 3), 7])
def test_every_finite_number_is_answered_on_the_grid(value: Any) -> None:
    mechanism = dp.Laplace(epsilon=1, sensitivity=1.0)
    answer = mechanism(value)
    assert type(answer) is float
    assert math.isfinite(answer)
    assert not (answer == 0.0 and math.copysign(1.0, answer) < 0)
    assert (Fraction(answer) / mechanism.grid).denominator == 1


def test_an_empty_array_gives_an_empty_answer() -> None:
    assert dp.Laplace(epsilon=1, sensitivity=COUNTS)(np.array([], dtype=np.int64)).shape == (0,)


def test_int64_arrays_saturate_instead_of_wrapping() -> None:
    ends = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min])
    mechanism = dp.Laplace(scale=1000, sensitivity=COUNTS)
    for _ in range(50):
        answer = mechanism(ends)
        assert answer.dtype == np.int64
        assert answer[0] > 2**62
        assert answer[1] < -(2**62)


def test_the_type_of_an_array_answer_follows_the_type_of_the_question_alone() -> None:
    mechanism = dp.Laplace(scale=10, sensitivity=COUNTS)
    for values in ([0, 1], [2**63 - 1, 5], [-(2**63), 0]):
        assert mechanism(np.array(values, dtype=np.int64)).dtype == np.int64
        assert mechanism(np.array(values, dtype=object)).dtype == object


def test_parameters_that_protect_nobody_come_with_a_warning() -> None:
    with pytest.warns(SenselessParameter):
        dp.Laplace(epsilon=50, sensitivity=1)
    with pytest.warns(SenselessParameter):
        dp.Gaussian(epsilon=1, delta=0.1, sensitivity=1)
