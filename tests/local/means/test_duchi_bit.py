"""The one-bit mean: its exact privacy, its exact variance, its sampler, its spec."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import audit
from discreet.data.invention import coins
from discreet.errors import InputError, NotCopyable, ParameterError, StreamSpent
from discreet.laws.number import Number
from discreet.local.means.one_bit_and_hybrid import DuchiBit
from discreet.local.protocol.aggregator import Aggregator
from discreet.local.protocol.spec import Spec
from tests.local.means.mean_checks import exponential, follows, largest_ratio

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
EXTREMES = [Fraction(1, 1024), *EPSILONS, Fraction(20)]
VALUES: list[Number] = [0, Fraction(1, 3), 2.5, 0.1, Fraction(19, 2), 10]


def spec(epsilon: Fraction = Fraction(1)) -> DuchiBit:
    return DuchiBit(epsilon=epsilon, bounds=(0, 10))


@pytest.mark.theorem("DuchiBit.privacy", "ScalarMean.privacy")
@pytest.mark.parametrize("epsilon", EXTREMES)
def test_no_bit_tells_two_values_apart_by_more_than_e_to_the_epsilon(epsilon: Fraction) -> None:
    ratio = largest_ratio([spec(epsilon).law(value) for value in VALUES])
    assert exponential(Fraction(99, 100) * epsilon)[1] <= ratio <= exponential(epsilon)[0]


@pytest.mark.theorem("DuchiBit.privacy", "Randomizer.privacy")
def test_the_audit_finds_the_guarantee_kept_and_a_smaller_one_broken() -> None:
    verdict = audit(spec().mechanism())
    assert verdict.outcome.name == "KEPT"
    assert verdict.low == pytest.approx(1, abs=1e-9)
    assert spec().loss.epsilon(0.0).upper <= 1
    assert spec().loss.epsilon(0.0).lower == pytest.approx(1, abs=1e-9)


@pytest.mark.theorem("DuchiBit.accuracy", "ScalarMean.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_bit_is_unbiased_and_has_the_stated_variance(epsilon: Fraction) -> None:
    protocol = spec(epsilon)
    for value in VALUES:
        law, exact = protocol.law(value), Fraction(value)
        decoded = [protocol.exact_bounds[0] + protocol.width * relative for relative in protocol.decoded]
        mean = sum(p * d for p, d in zip(law.probabilities, decoded, strict=True))
        square = sum(p * d * d for p, d in zip(law.probabilities, decoded, strict=True))
        assert mean == exact
        assert protocol.variance(1, value) == float(square - exact**2)
        x = float(exact) / 5 - 1
        expected = 25 * (1 / math.tanh(epsilon / 2) ** 2 - x * x)
        assert protocol.variance(1, value) == pytest.approx(expected, rel=1e-9)
    assert protocol.variance(4) == pytest.approx(25 / math.tanh(epsilon / 2) ** 2 / 4, rel=1e-12)


@pytest.mark.theorem("DuchiBit.privacy")
@pytest.mark.parametrize("value", VALUES)
def test_the_sampler_draws_from_the_law(value: float | Fraction) -> None:
    reports = spec().client().report_many([value] * 20_000)
    assert follows(np.bincount(reports, minlength=2), spec().law(value))


@pytest.mark.theorem("ScalarMean.accuracy")
def test_the_mean_of_a_crowd_is_found() -> None:
    ages = coins(1).uniform(0, 10, 50_000)
    found = spec().aggregator().add(spec().client().batch(ages)).estimate()
    # the mean of so many bits is nearly normal: 1e-9 either way
    assert abs(found.value - ages.mean()) < 6.2 * math.sqrt(spec().variance(50_000))
    assert found.standard_error < 1.01 * math.sqrt(spec().variance(50_000))


def test_a_client_answers_once_and_is_not_copied() -> None:
    client = spec().client()
    with pytest.raises(InputError):
        client.report(11)
    assert client.report(3.5) in (0, 1)
    with pytest.raises(StreamSpent):
        client.report(3.5)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            attempt(client)


def test_any_split_of_reports_gives_the_same_bytes() -> None:
    reports = spec().client().report_many(coins(2).uniform(0, 10, 3000))
    whole = spec().aggregator().add(reports)
    parts = [spec().aggregator().add(part) for part in np.array_split(reports[::-1], 7)]
    merged = spec().aggregator()
    for part in parts:
        merged.merge(part)
    assert merged.to_bytes() == whole.to_bytes()
    assert Aggregator.from_bytes(spec(), whole.to_bytes()).estimate().value == whole.estimate().value


def test_a_spec_survives_its_text_and_a_changed_one_is_refused() -> None:
    protocol = DuchiBit(epsilon=Fraction(1, 2), bounds=(Fraction(-1, 3), 2))
    text = protocol.to_json()
    assert Spec.from_json(text) == protocol
    for old, new in (
        ('"-1/3"', '"-1/2e9"'),
        ('"-1/3"', '"1e999999999"'),
        ('"-1/3"', "-1"),
        ('"-1/3"', '"-2/6"'),
        ('["-1/3","2"]', '["-1/3",null]'),
        ('["-1/3","2"]', '["-1/3","2","3"]'),
        ('["-1/3","2"]', '"-1/3"'),
        ('"cells":2', '"cells":3'),
    ):
        assert old in text
        with pytest.raises(ParameterError):
            Spec.from_json(text.replace(old, new))


def test_no_reports_give_no_estimate() -> None:
    with pytest.raises(InputError, match="no reports"):
        spec().aggregator().estimate()
    with pytest.raises(InputError, match="no reports"):
        spec().estimate(np.array([0, 0]), 0)
    with pytest.raises(InputError, match="sum of the counts"):
        spec().estimate(np.array([1, 1]), "2")  # type: ignore[arg-type]
