"""Prices: how they are read and refused, the cheapest one for an error, and the largest rho for a guarantee."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError, SenselessParameter
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Price, cheapest, implies, largest_mu, largest_rho

ALL = ("epsilon", "rho", "mu", "share", "error")
HALF = Fraction(1, 2)
WRONG = (0, -1, float("nan"), float("inf"), "1", True, 1e-301, Fraction(10) ** 301, Fraction(1, 3**2000))


@pytest.mark.parametrize(
    ("given_", "error"),
    [
        ({}, MissingParameter),
        ({"delta": 1e-6}, MissingParameter),
        *(({one: 0.5, two: 0.5}, ConflictingParameters) for one, two in itertools.combinations(ALL, 2)),
        *(({one: 0.5, "delta": 1e-6}, ConflictingParameters) for one in ALL[1:]),
        *(({name: value}, ParameterError) for name in ALL for value in WRONG),
        *(({"epsilon": 1, "delta": value}, ParameterError) for value in (*WRONG, 1)),
        ({"share": 1.5}, ParameterError),
    ],
    ids=str,
)
def test_no_price_two_prices_and_numbers_that_are_not_prices_raise_an_error(given_, error):
    with pytest.raises(error):
        Price.read(**given_, accepts=ALL)


def test_a_price_is_the_exact_number_that_is_written():
    read = Price.read(epsilon=0.1, delta=1e-6, accepts=ALL)
    assert read == Price(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6))
    assert read.amounts() == {"epsilon": Fraction(1, 10), "delta": Fraction(1, 10**6)}
    assert Price.read(rho=Fraction(1, 3), accepts=ALL).amounts() == {"rho": Fraction(1, 3)}
    assert [getattr(Price.read(**{name: 0.1}, accepts=ALL), name) for name in ALL] == [Fraction(1, 10)] * 5


@pytest.mark.parametrize("accepts", [("epsilon",), ("epsilon", "rho"), ("rho", "share", "error")])
def test_a_word_that_is_not_accepted_is_refused_with_those_that_are(accepts):
    with pytest.raises(ParameterError, match="; got mu=, write") as refusal:
        Price.read(mu=1, accepts=accepts)
    assert refusal.value.parameter == "mu"
    assert all((f"{name}=" in str(refusal.value)) == (name in accepts) for name in ALL if name != "mu")


def test_delta_goes_beside_the_words_that_take_it_only():
    assert Price.read(rho=1, delta=1e-6, accepts=ALL, delta_with=("rho",)).delta == Fraction(1, 10**6)
    with pytest.raises(ConflictingParameters, match="only beside rho="):
        Price.read(epsilon=1, delta=1e-6, accepts=ALL, delta_with=("rho",))
    with pytest.raises(ConflictingParameters, match="left out"):
        Price.read(epsilon=1, delta=1e-6, accepts=ALL, delta_with=())


def test_a_price_prints_what_was_given_only():
    assert repr(Price(rho=HALF, delta=Fraction(1, 9))) == "Price(delta=Fraction(1, 9), rho=Fraction(1, 2))"


@given(st.floats(1e-9, 1e9), st.floats(1e-3, 1e3))
def test_the_cheapest_amount_keeps_the_error_and_hardly_less_does(factor, error):
    def width(amount):
        return factor / float(amount)

    found, wanted = cheapest(width, Fraction(error)), Fraction(error)
    assert width(found) <= wanted < width(found * (1 - Fraction(2, 10**9)))
    short = cheapest(width, wanted, digits=6)
    assert found * (1 - Fraction(2, 10**9)) <= short <= found * (1 + Fraction(11, 10**6))
    assert len(f"{float(short):.12e}".split("e")[0].rstrip("0").replace(".", "")) <= 6


def test_the_search_meets_steps_and_refuses_what_nothing_buys_and_what_needs_no_price():
    assert cheapest(lambda amount: 3.0 if amount < HALF / 3 else 1.0, Fraction(2), digits=3) == Fraction("0.167")
    with pytest.raises(ParameterError, match="a price can buy"):
        cheapest(lambda _: 1.0, HALF)
    with pytest.raises(ParameterError, match="no price is needed"):
        cheapest(lambda _: 1.0, Fraction(2))


def test_the_search_passes_prices_that_deserve_a_warning_without_one():
    def width(amount):
        warnings.warn("much", SenselessParameter, stacklevel=1)
        return 1 / float(amount)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cheapest(width, HALF) == 2


@pytest.mark.theorem("largest_rho.privacy")
@settings(max_examples=20)
@given(
    st.fractions(min_value=Fraction(1, 10**4), max_value=30, max_denominator=10**9),
    st.fractions(min_value=Fraction(1, 10**14), max_value=Fraction(999, 1000), max_denominator=10**15),
)
def test_the_largest_rho_implies_the_guarantee_and_hardly_more_does(epsilon, delta):
    rho, target = largest_rho(epsilon, delta), ApproxDP(epsilon, delta)
    assert implies(ZCDP(rho), target)
    assert not implies(ZCDP(rho * (1 + Fraction(1, 10**12))), target)


@pytest.mark.theorem("largest_rho.privacy")
def test_the_largest_rho_at_the_ends():
    assert largest_rho(Fraction(1), Fraction(1)) > 10**300  # delta = 1 allows everything
    with pytest.raises(ParameterError, match="large enough"):
        largest_rho(Fraction(1, 10**200), Fraction(1, 10**290))


@pytest.mark.parametrize("whole", [np.int8(100), np.int64(3), np.uint64(2)])
def test_an_integer_of_numpy_is_a_python_number_inside(whole):
    read = Price.read(epsilon=whole, accepts=("epsilon",)).epsilon
    assert read == int(whole)
    assert read * 2**70 == int(whole) * 2**70


@pytest.mark.theorem("largest_mu.privacy")
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(10), Fraction(1000)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 2)])
def test_the_largest_mu_implies_the_guarantee_and_hardly_more_does(epsilon, delta):
    mu, target = largest_mu(epsilon, delta), ApproxDP(epsilon, delta)
    assert implies(GaussianDP(mu), target)
    assert not implies(GaussianDP(mu * (1 + Fraction(1, 10**12))), target)


@pytest.mark.theorem("largest_mu.privacy")
def test_the_largest_mu_is_that_of_the_analytic_gaussian():
    root = flint.arb(2).sqrt()

    def curve(mu, epsilon):  # the exact delta of N(mu, 1) against N(0, 1)
        low, high = flint.arb(mu) / 2 - epsilon / flint.arb(mu), -flint.arb(mu) / 2 - epsilon / flint.arb(mu)
        return ((-low / root).erfc() - flint.arb(epsilon).exp() * (-high / root).erfc()) / 2

    for epsilon, delta in ((1, 10**6), (1, 10**5), (3, 10**5)):
        mu = float(largest_mu(Fraction(epsilon), Fraction(1, delta)))
        assert curve(mu, epsilon) * delta <= 1
        assert curve(mu * (1 + 1e-9), epsilon) * delta > 1
