"""Betting against a guarantee: no true guarantee makes the wealth grow, and a false one is found out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.statistical.statistical_audit import EventTally, hopeless, log_wealth, loss_refuted

KINDS = (EventTally(both=1), EventTally(first=1), EventTally(second=1), EventTally(neither=1))


def masses(p: float, q: float) -> list[float]:
    """The chances of the four outcomes of a pair of runs."""
    return [p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)]


@pytest.mark.theorem("log_wealth.accuracy")
@given(st.floats(0.0, 1.0), st.floats(0.0, 3.0), st.floats(0.0, 0.3), st.floats(0.0, 1.0))
def test_under_a_true_claim_the_expected_wealth_never_grows(
    q: float, epsilon: float, delta: float, part: float
) -> None:
    p = part * min(math.exp(epsilon) * q + delta, 1.0)
    for past in (
        EventTally(),
        EventTally(first=3, neither=2),
        EventTally(both=1, second=2),
        EventTally(first=40, neither=100),
    ):
        before = math.exp(log_wealth(past, epsilon, delta))
        after = sum(
            m * math.exp(log_wealth(past + kind, epsilon, delta)) for m, kind in zip(masses(p, q), KINDS, strict=True)
        )
        assert after <= before * (1 + 1e-9)


@pytest.mark.theorem("log_wealth.accuracy")
@pytest.mark.parametrize(("q", "epsilon", "delta"), [(0.5, 0.5, 0.0), (0.3, 1.0, 0.05), (0.3, 0.9, 0.0)])
def test_wealth_reaches_one_over_alpha_with_at_most_that_chance_at_any_time(
    q: float, epsilon: float, delta: float
) -> None:
    p, alpha, length = min(math.exp(epsilon) * q + delta, 1.0), 0.3, 18
    alive, crossed = {(0, 0, 0, 0): 1.0}, 0.0
    for _ in range(length):
        later: dict[tuple[int, int, int, int], float] = {}
        for counts, mass in alive.items():
            for place, chance in enumerate(masses(p, q)):
                a, b, c, d = (count + (place == other) for other, count in enumerate(counts))
                key = (a, b, c, d)
                later[key] = later.get(key, 0.0) + mass * chance
        rich = {key for key in later if log_wealth(EventTally(*key), epsilon, delta) >= math.log(1 / alpha)}
        crossed += sum(later.pop(key) for key in rich)
        alive = {(a, b, c, d): mass for (a, b, c, d), mass in later.items() if mass > 1e-9}
    assert 0.0 < crossed <= alpha


def test_a_false_claim_makes_the_wealth_grow() -> None:
    seen = EventTally.of(np.arange(1000) % 2 == 0, np.arange(1000) % 10 == 1)
    assert seen == EventTally(first=500, second=100, neither=400)
    assert log_wealth(seen, 0.5, 0.0) > 20
    assert log_wealth(seen, math.log(5) + 0.1, 0.0) < 1


def test_the_refuted_loss_is_below_the_empirical_one_and_close_to_it() -> None:
    seen = EventTally(first=50_000, second=10_000, neither=40_000)
    low = loss_refuted(seen, 0.0, 0.05, reach=5.0)
    assert math.log(5) - 0.08 < low < math.log(5)
    assert loss_refuted(EventTally(), 0.0, 0.05, reach=5.0) == 0.0


def test_all_stakes_lost_is_worth_nothing_but_the_small_ones() -> None:
    assert log_wealth(EventTally(second=1000), 1.0, 0.0) < -0.05
    assert math.isfinite(log_wealth(EventTally(second=10**9, both=10**9), 5.0, 0.1))


def test_futility_is_seen_for_a_harmless_event_and_not_for_a_telling_one() -> None:
    harmless = EventTally(both=250, first=250, second=250, neither=250)
    telling = EventTally(first=500, second=100, neither=400)
    assert hopeless(harmless, 1.0, 0.0, 0.05, left=10_000, look=4)
    assert not hopeless(telling, 1.0, 0.0, 0.05, left=10_000, look=4)
    for counts in product((0, 3), repeat=4):
        assert isinstance(hopeless(EventTally(*counts) + EventTally(neither=1), 0.1, 0.0, 0.05, left=100, look=1), bool)
