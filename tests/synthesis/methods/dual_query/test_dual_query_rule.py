"""The public rule for DualQuery's parameters: as many rounds as leave enough draws for each."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from discreet.errors import ParameterError
from discreet.synthesis.methods.dual_query.price import DRAWS_PER_ROUND, learning_rate, parameters


def shop(amount):
    return lambda eta, rounds: int(amount / (eta * eta * rounds**3))


@given(some.integers(1, 10**7), some.integers(200, 10**12))
def test_one_more_round_would_leave_too_few_draws(queries, amount):
    afford = shop(amount)
    if afford(learning_rate(queries, 2), 2) < 1:
        with pytest.raises(ParameterError):
            parameters(queries, afford)
        return
    found = parameters(queries, afford)
    assert found.draws == afford(found.eta, found.rounds) >= 1
    more = found.rounds + 1
    assert more > 4096 or afford(learning_rate(queries, more), more) < DRAWS_PER_ROUND * more
    assert found.rounds == 2 or found.draws >= DRAWS_PER_ROUND * found.rounds


def test_what_is_given_is_kept():
    found = parameters(1000, shop(10**6), eta=Fraction(1, 3), rounds=7)
    assert (found.eta, found.rounds) == (Fraction(1, 3), 7)
    assert found.draws == 10**6 * 9 // 343


def test_a_price_that_buys_nothing_is_refused():
    with pytest.raises(ParameterError, match="does not buy one draw"):
        parameters(1000, shop(1))
