"""One run with canaries: the bounds hold for the worst mechanism there is, and refute what hides nothing."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.stats import binom, norm

import discreet as dp
from discreet.audit import Canaries, OneRun, Outcome, one_run
from discreet.audit.canaries.one_run_audit import _tail as chance_under
from discreet.audit.canaries.right_guesses import CurveBelow, _largest, counting_tail, implied_points, tradeoff_tail
from discreet.errors import ParameterError, RelationMismatch
from tests.chances import ALARM, fewest, most

SMALL_GAMES = [
    (2, 2, 1.0, 0.01),
    (3, 3, 1.0, 0.0),
    (3, 3, 1.0, 0.01),
    (3, 2, 0.5, 0.02),
    (3, 1, 0.5, 0.02),
    (3, 3, 0.1, 0.2),
]


@lru_cache
def worst_mechanism(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Return the largest chance of so many right guesses over all (epsilon, delta)-DP mechanisms: a linear program.

    Only what is guessed matters, so a mechanism is a law of guesses for each outcome of the coins; a slack for each
    neighbor and output says what exceeds e^epsilon, and the slacks of a pair add up to at most delta.
    """
    coins = list(itertools.product((0, 1), repeat=canaries))
    guessed = [t for t in itertools.product((-1, 0, 1), repeat=canaries) if sum(one >= 0 for one in t) == guesses]
    place = {pair: number for number, pair in enumerate(itertools.product(coins, guessed))}
    flips = list(itertools.product(coins, range(canaries)))
    size = len(place) + len(flips) * len(guessed)
    value = np.zeros(size)
    for (coin, guess), number in place.items():
        if sum(a == b for a, b in zip(coin, guess, strict=True)) >= right:
            value[number] = -1 / len(coins)
    rows, slack = lil_matrix((len(flips) * (len(guessed) + 1), size)), len(place)
    limits: list[float] = []
    for number, (coin, which) in enumerate(flips):
        other = (*coin[:which], 1 - coin[which], *coin[which + 1 :])
        for guess in guessed:
            row = len(limits)
            rows[row, place[coin, guess]], rows[row, place[other, guess]] = 1, -math.exp(epsilon)
            rows[row, slack] = -1
            rows[len(flips) * len(guessed) + number, slack] = 1
            slack += 1
            limits.append(0.0)
    limits += [delta] * len(flips)
    sums = lil_matrix((len(coins), size))
    for (coin, _), number in place.items():
        sums[coins.index(coin), number] = 1
    solved = linprog(value, rows.tocsr(), limits, sums.tocsr(), np.ones(len(coins)), bounds=(0, None))
    return -float(solved.fun)


def tail_of(guarantee: dp.Guarantee, right: int, canaries: int, guesses: int) -> float:
    return chance_under(implied_points(guarantee), canaries, guesses, right)


@pytest.mark.theorem("counting_tail.accuracy")
@pytest.mark.parametrize(("canaries", "guesses", "epsilon", "delta"), SMALL_GAMES)
def test_no_mechanism_exceeds_the_counting_bound(canaries: int, guesses: int, epsilon: float, delta: float) -> None:
    for right in range(1, guesses + 1):
        worst = worst_mechanism(canaries, guesses, right, epsilon, delta)
        bound = counting_tail(right, canaries=canaries, guesses=guesses, epsilon=epsilon, delta=delta)
        assert worst <= bound + 1e-7
        if delta == 0.0:
            assert bound == pytest.approx(worst, abs=1e-6)


@pytest.mark.theorem("tradeoff_tail.accuracy")
@pytest.mark.parametrize(("canaries", "guesses", "epsilon", "delta"), SMALL_GAMES)
def test_no_mechanism_exceeds_the_recursion_and_one_reaches_it(
    canaries: int, guesses: int, epsilon: float, delta: float
) -> None:
    curve = CurveBelow.through([(epsilon, delta)])
    for right in range(1, guesses + 1):
        worst = worst_mechanism(canaries, guesses, right, epsilon, delta)
        bound = tradeoff_tail(right, canaries=canaries, guesses=guesses, curve=curve)
        assert worst <= bound + 1e-7
        if right == guesses:
            assert bound == pytest.approx(worst, abs=1e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.7, 0.001), (3.0, 0.01)])
def test_the_usual_term_for_delta_is_exceeded_by_a_mechanism_that_can_be_written_down(
    epsilon: float, delta: float
) -> None:
    ratio = math.exp(epsilon)
    one = (1 + delta / ratio) / (ratio + 2 + 1 / ratio)
    both, none = ratio * one, (one - delta) / ratio
    assert both + 2 * one + none == pytest.approx(1.0)
    # what another value of one coin makes of these four outputs: both and one change places, one and none do
    excess = sum(max(p - ratio * q, 0.0) for p, q in ((both, one), (one, both), (one, none), (none, one)))
    assert excess <= delta + 1e-12
    tail = binom(2, 1 / (1 + math.exp(-epsilon)))
    usual = tail.sf(0) + 2 * 2 * delta * max((tail.cdf(0) - tail.cdf(-i)) / i for i in (1, 2))
    assert 1 - none > usual
    assert 1 - none == pytest.approx(worst_mechanism(2, 2, 1, epsilon, delta), abs=1e-6)
    assert 1 - none <= counting_tail(1, canaries=2, guesses=2, epsilon=epsilon, delta=delta)


@pytest.mark.theorem("counting_tail.accuracy")
@pytest.mark.theorem("tradeoff_tail.accuracy")
@pytest.mark.parametrize(("canaries", "guesses"), [(200, 200), (200, 20), (50, 1)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (2.0, 1e-4), (4.0, 1e-2)])
def test_careless_mechanisms_of_many_canaries_stay_below_both_bounds(
    canaries: int, guesses: int, epsilon: float, delta: float
) -> None:
    chance = 1 / (1 + math.exp(-epsilon))
    curve = CurveBelow.through([(epsilon, delta)])
    for right in range(1, guesses + 1, max(guesses // 12, 1)):
        # noisy answers about all, and with a chance of delta the truth about all together: one coin for everybody
        together = (1 - delta) * binom.sf(right - 1, guesses, chance) + delta
        # the truth about each canary with a chance of delta, and whoever guesses guesses about those first
        known = np.arange(canaries + 1)
        shamed = binom.sf(right - np.minimum(known, guesses) - 1, guesses - np.minimum(known, guesses), chance)
        apart = float(binom.pmf(known, canaries, delta) @ shamed)
        for bound in (
            counting_tail(right, canaries=canaries, guesses=guesses, epsilon=epsilon, delta=delta),
            tradeoff_tail(right, canaries=canaries, guesses=guesses, curve=curve),
        ):
            assert max(together, apart) <= bound * (1 + 1e-9)


@pytest.mark.theorem("tradeoff_tail.accuracy")
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
def test_independent_gaussian_canaries_stay_below_the_bound_at_every_count(mu: float) -> None:
    # m orthogonal canaries of length 1 in a sum with noise of scale 1/mu: every sign is right with chance Phi(mu/2)
    canaries = 60
    exact = binom(canaries, norm.cdf(mu / 2))
    curve = CurveBelow.through(implied_points(dp.GaussianDP(mu)))
    bounds = [tradeoff_tail(k, canaries=canaries, guesses=canaries, curve=curve) for k in range(1, canaries + 1)]
    assert all(bound >= exact.sf(right - 1) for right, bound in enumerate(bounds, 1))
    assert all(later <= earlier for earlier, later in itertools.pairwise(bounds))
    assert bounds[-1] < 0.2  # all right is still unlikely, however the errors hang together


@pytest.mark.theorem("tradeoff_tail.accuracy")
def test_the_lines_lie_below_the_curve_and_close_to_it() -> None:
    curve = CurveBelow.through(implied_points(dp.GaussianDP(1.5)))
    for tail in np.linspace(0.01, 0.99, 50):
        height = max(slope * (tail - zero) for slope, zero in zip(curve.slopes, curve.zeros, strict=True))
        true = norm.cdf(norm.ppf(tail) - 1.5)
        assert true * 0.97 - 1e-6 <= height <= true


def test_a_curve_refutes_more_than_any_of_its_points() -> None:
    points = implied_points(dp.GaussianDP(1.0))
    best = min(counting_tail(95, canaries=100, guesses=100, epsilon=e, delta=d) for e, d in points)
    assert tail_of(dp.GaussianDP(1.0), 95, 100, 100) < best / 3


@pytest.mark.theorem("one_run.accuracy")
@pytest.mark.parametrize(("guesses", "cap"), [(100, "3.49"), (1000, "5.81"), (10_000, "8.11"), (100_000, "10.42")])
def test_right_guesses_refute_no_more_than_the_cap(guesses: int, cap: str) -> None:
    chance = (1 - 0.95) ** (1 / guesses)
    assert f"{math.log(chance / (1 - chance)):.2f}" == cap
    if guesses <= 1000:
        found = one_run(canaries=guesses, guesses=guesses, right=guesses)
        assert f"{found.low:.2f}" == f"{found.cap:.2f}" == cap
        assert f"at most epsilon {cap}" in str(found)
    else:
        below, above = float(cap) - 0.01, float(cap) + 0.01
        assert counting_tail(guesses, canaries=guesses, guesses=guesses, epsilon=below) <= 0.05
        assert counting_tail(guesses, canaries=guesses, guesses=guesses, epsilon=above) > 0.05


@pytest.mark.theorem("one_run.accuracy")
def test_the_lower_bound_is_refuted_and_nothing_more() -> None:
    found = one_run(canaries=200, guesses=150, right=130, delta=1e-5)
    assert tail_of(dp.ApproxDP(found.low, 1e-5), 130, 200, 150) <= 0.05
    assert tail_of(dp.ApproxDP(found.low + 1e-3, 1e-5), 130, 200, 150) > 0.05
    assert tail_of(dp.GaussianDP(found.mu), 130, 200, 150) <= 0.05 * (1 + 1e-5)


def test_delta_costs_little_and_abstaining_costs_nothing_without_one() -> None:
    pure = counting_tail(800, canaries=1000, guesses=1000, epsilon=1.0)
    assert pure == counting_tail(800, canaries=5000, guesses=1000, epsilon=1.0)
    allowed = counting_tail(800, canaries=1000, guesses=1000, epsilon=1.0, delta=1e-6)
    assert pure < allowed < pure + 1000 * 1e-6 / 10  # far below the union bound over canaries


def test_half_of_the_guesses_right_refute_nothing() -> None:
    found = one_run(canaries=1000, guesses=1000, right=500, guarantee=dp.PureDP(0.01))
    assert found.low == 0.0
    assert found.outcome is Outcome.OPEN
    assert found.p_value == tail_of(dp.PureDP(0.01), 500, 1000, 1000)
    nothing = one_run(canaries=10, guesses=10, right=0, guarantee=dp.PureDP(1))
    assert (nothing.low, nothing.mu, nothing.p_value) == (0.0, 0.0, 1.0)


def test_discreet_keeps_its_claim_in_a_real_game_and_bare_sums_do_not() -> None:
    canaries = Canaries.drawn(400)
    noise = dp.Gaussian(scale=4, sensitivity=dp.Sensitivity(1, norm=dp.Norm.L2, relation=dp.Relation.ADD_REMOVE))
    truth = canaries.included.astype(np.int64)
    kept = canaries.audit(noise(truth) + 0.0, guesses=200, guarantee=noise.guarantee, confidence=1 - ALARM)
    assert not kept.refuted
    bare = canaries.audit(truth + 0.0, guesses=200, guarantee=dp.PureDP(1), confidence=1 - ALARM)
    assert bare.refuted


@pytest.mark.parametrize("value", [2.02679, 10.41999, 0.99996, 0.0, 0.0000999])
def test_a_lower_bound_is_never_printed_larger_than_it_is(value: float) -> None:
    found = one_run(canaries=100, guesses=100, right=95)
    shown = str(replace(found, low=value, mu=value))
    for line in shown.splitlines()[:2]:
        assert float(line.split("at least ")[1]) <= value


def test_a_delta_between_two_floats_is_rounded_up() -> None:
    assert one_run(canaries=10, guesses=10, right=9, delta=Fraction(1, 3)).delta >= Fraction(1, 3)


def test_canaries_keep_a_copy_of_bools() -> None:
    coins = np.array([True, False])
    canaries = Canaries(coins)
    coins[0] = False
    assert canaries.included.tolist() == [True, False]
    for wrong in (np.array([1, 0]), np.array([[True, False]])):
        with pytest.raises(ParameterError, match="bool"):
            Canaries(wrong)


def test_coins_are_fair_and_stay_with_their_owner() -> None:
    canaries = Canaries.drawn(10_000)
    heads = int(canaries.included.sum())
    assert fewest(10_000, 0.5) <= heads <= most(10_000, 0.5)
    assert repr(canaries) == "Canaries(10000)"
    assert len(canaries) == 10_000
    with pytest.raises(ValueError, match="read-only"):
        canaries.included[0] = True


def test_guesses_are_about_the_largest_and_the_smallest_scores() -> None:
    canaries = Canaries(np.array([True, False, True, False]))
    assert canaries.right([9, 0, 5, 4], guesses=2) == 2
    assert canaries.right([9, 0, 5, 4], guesses=4) == 4
    assert canaries.right([0, 9, 4, 5], guesses=4) == 0
    assert canaries.right([0, 9, 4, 5], guesses=3) == 0


def test_a_game_that_cannot_be_is_refused() -> None:
    good: dict[str, Any] = {"canaries": 10, "guesses": 5, "right": 3}
    for wrong in ({"guesses": 11}, {"right": 6}, {"right": -1}, {"right": True}, {"confidence": 1}, {"delta": 2}):
        with pytest.raises(ParameterError):
            one_run(**{**good, **wrong})
    with pytest.raises(ParameterError, match="Guarantee"):
        one_run(**good, guarantee="1-DP")  # type: ignore[arg-type]
    with pytest.raises(RelationMismatch):
        one_run(**good, guarantee=dp.PureDP(1, relation=dp.Relation.CHANGE_ONE))
    for scores in ([1.0, 2.0], [float("nan")] * 4):
        with pytest.raises(ParameterError, match="score"):
            Canaries.drawn(4).right(scores, guesses=2)
    with pytest.raises(ParameterError, match="guess"):
        Canaries.drawn(4).right([1, 2, 3, 4], guesses=5)


def test_claims_of_every_kind_have_a_chance() -> None:
    guarantees = [dp.PureDP(2), dp.ApproxDP(1, 1e-5), dp.ZCDP(0.5), dp.RenyiDP(4, Fraction(1, 2)), dp.GaussianDP(1)]
    for guarantee in guarantees:
        assert 0 < tail_of(guarantee, 50, 50, 50) < 0.1
        assert tail_of(guarantee, 25, 50, 50) > 0.3


def test_a_finding_reads_well_and_can_be_drawn() -> None:
    found = one_run(canaries=100, guesses=80, right=70, guarantee=dp.ApproxDP(1, 1e-6), delta=1e-6)
    assert isinstance(found, OneRun)
    assert "70 right of 80, about 100 canaries in one run" in str(found)
    assert "<dt>cap</dt>" in found._repr_html_()
    assert found.plot().svg().startswith("<?xml")


def test_the_largest_binomial_chance_is_rounded_up_however_many_trials_there_are() -> None:
    with flint.ctx.workprec(160):
        for trials, epsilon in itertools.product((10, 1000, 10**6, 10**7, 12_345_678), (0.0, 0.3, 1.0, 2.0, 5.0)):
            right = 1 / (1 + (-flint.arb(epsilon)).exp())
            mode = math.floor((trials + 1) / (1 + math.exp(-epsilon)))
            ways = flint.arb(trials + 1).lgamma() - flint.arb(mode + 1).lgamma() - flint.arb(trials - mode + 1).lgamma()
            exact = (ways + mode * right.log() + (trials - mode) * (1 - right).log()).exp()
            assert flint.arb(float(_largest(np.array([float(trials)]), epsilon)[0])) >= exact
