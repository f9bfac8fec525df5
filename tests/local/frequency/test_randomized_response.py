"""Direct response: private exactly as stated, unbiased, and sampled by the law it states."""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1, log

import numpy as np
import pytest

from discreet.audit import Outcome, audit
from discreet.errors import InputError
from discreet.local import DirectResponse
from discreet.local.protocol.rational_coin import COIN_TOTAL
from discreet.privacy import PureDP, Relation
from discreet.randomness.rigor import ball, precision
from discreet.testing import Subject, conformance_checks
from tests.conftest import Rounds

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]


@pytest.mark.theorem("DirectResponse.privacy")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("values", [2, 3, 10])
def test_no_report_is_more_likely_by_more_than_e_to_the_epsilon_and_some_nearly_are(
    epsilon: Fraction, values: int
) -> None:
    spec = DirectResponse(epsilon=epsilon, categories=values)
    laws = [spec.law(value).probabilities for value in range(values)]
    assert all(sum(law) == 1 for law in laws)
    largest = max(a / b for first in laws for second in laws for a, b in zip(first, second, strict=True))
    with precision(512):
        assert ball(largest).log() <= ball(epsilon)
        assert ball(largest).log() >= ball(epsilon) * (1 - ball(Fraction(1, 1 << 50)))


@pytest.mark.theorem("DirectResponse.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_variance_of_a_rare_value_is_the_closed_form(epsilon: Fraction) -> None:
    for values in (2, 5, 1000):
        stated = (values - 2 + exp(epsilon)) / (1000 * expm1(epsilon) ** 2)
        assert DirectResponse(epsilon=epsilon, categories=values).variance(1000) == pytest.approx(stated, rel=1e-9)


@pytest.mark.theorem("DirectResponse.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_it_beats_the_optimum_of_large_domains_as_long_as_there_are_few_values(epsilon: Fraction) -> None:
    most = int(3 * exp(epsilon) + 2)
    few, many = DirectResponse(epsilon=epsilon, categories=most), DirectResponse(epsilon=epsilon, categories=most + 1)
    assert few.variance(1) <= few.optimum(1) * (1 + 1e-9)
    assert many.variance(1) >= many.optimum(1) * (1 - 1e-9)


def test_two_values_are_warners_coin() -> None:
    spec = DirectResponse(epsilon=Fraction(log(3)), categories=2)
    assert spec.coin / COIN_TOTAL == pytest.approx(0.75, abs=1e-15)
    assert spec.variance(100) == pytest.approx(0.0075)
    assert spec.report_bits == 1


def test_the_exact_audit_keeps_the_claim() -> None:
    assert audit(DirectResponse(epsilon=Fraction(1), categories=5).mechanism()).outcome is Outcome.KEPT


@pytest.mark.theorem("Randomizer.privacy")
@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("values", [2, 6])
def test_the_sampler_conforms(check, values: int, rounds: Rounds) -> None:
    spec = DirectResponse(epsilon=Fraction(1), categories=values)
    check(Subject(make=spec.mechanism, inputs=[0, values - 1], draws=rounds(sample=500, full=1000)))


def test_the_sampler_as_a_mechanism_takes_one_value_or_a_column() -> None:
    mechanism = DirectResponse(epsilon=Fraction(1), categories=("a", "b", "c")).mechanism()
    assert mechanism.guarantee == PureDP(1.0, relation=Relation.CHANGE_ONE)
    assert mechanism("b") in range(3)
    assert mechanism([0, "b", 2]).shape == (3,)
    assert mechanism(np.array([], dtype=np.int64)).shape == (0,)
    assert mechanism.law("b").pmf(1) == pytest.approx(float(mechanism.spec.preference))
    with pytest.raises(InputError, match="one person"):
        mechanism.law([0, 1])
    assert repr(mechanism) == "Randomizer(DirectResponse(epsilon=1, categories=('a', 'b', 'c')))"


def test_the_pairs_to_audit_are_different_values_of_the_domain() -> None:
    for values in (2, 3, 4, 100):
        pairs = list(DirectResponse(epsilon=Fraction(1), categories=values).mechanism().neighbors())
        assert pairs
        assert all(a != b and 0 <= a < values and 0 <= b < values for a, b in pairs)
