"""Finite laws are exactly what their fractions say, and every answer of a finite pair encloses the truth."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import Finite, FinitePair, SafeEnd
from tests.laws.agreement import arb, assert_fits, encloses
from tests.randomness.sources import Script, swapped

SMALL = st.integers(0, 50)
WEIGHTS = st.lists(SMALL, min_size=2, max_size=7).filter(any)
LONG = st.lists(st.integers(0, 2**200), min_size=2, max_size=5).filter(any)


def law_of(weights):
    return Finite(range(len(weights)), [Fraction(weight, sum(weights)) for weight in weights])


@st.composite
def pairs(draw, elements=SMALL):
    """Two lists of fractions on the same outcomes."""
    size = draw(st.integers(2, 6))
    lists = [draw(st.lists(elements, min_size=size, max_size=size).filter(any)) for _ in range(2)]
    return [[Fraction(weight, sum(weights)) for weight in weights] for weights in lists]


def true_delta(p, q, epsilon) -> flint.arb:
    """Add max(0, P - e^epsilon Q) up at 300 bits; a term of uncertain sign may count or not."""
    factor = arb(epsilon).exp()
    total = arb(0)
    for mine, theirs in zip(p, q, strict=True):
        gap = arb(mine) - factor * arb(theirs)
        if gap > 0:
            total += gap
        elif not gap <= 0:
            total += gap.upper().union(arb(0))
    return total


@given(pairs() | pairs(st.integers(0, 2**200)), st.fractions(-30, 30) | st.floats(-40, 40) | st.fractions(100, 700))
def test_delta_encloses_the_sum_over_the_atoms(both, epsilon):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    with flint.ctx.workprec(1500):
        assert encloses(pair.delta(epsilon), true_delta(p, q, epsilon))


@pytest.mark.parametrize("numerator", range(1, 400, 7))
def test_delta_is_enclosed_where_epsilon_is_no_float_and_q_is_tiny(numerator):
    epsilon = 20 + Fraction(numerator, 7)
    q = Fraction(math.exp(-float(epsilon)) / 4)
    pair = Finite("ab", [Fraction(1, 2), Fraction(1, 2)]).pair(Finite("ab", [q, 1 - q]))
    with flint.ctx.workprec(400):
        assert encloses(pair.delta(epsilon), arb(Fraction(1, 2)) - arb(epsilon).exp() * arb(q))


@given(pairs())
def test_delta_falls_in_epsilon_and_is_the_total_variation_at_zero(both):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    assert pair.delta(0).contains(float(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2))
    deltas = [pair.delta(Fraction(k, 4)) for k in range(-8, 9)]
    assert all(later.lower <= earlier.upper for earlier, later in itertools.pairwise(deltas))
    assert pair.delta(0).width < 1e-13


@given(pairs())
def test_delta_is_the_supremum_over_all_events(both):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    for epsilon in (-0.5, 0.0, 0.7):
        events = itertools.product([0, 1], repeat=len(p))
        best = max(
            sum(inside * (float(a) - math.exp(epsilon) * float(b)) for inside, a, b in zip(event, p, q, strict=True))
            for event in events
        )
        assert pair.delta(epsilon).estimate == pytest.approx(best, abs=1e-14)


@pytest.mark.parametrize(
    "epsilon", [10**400, -(10**400), 2.0**700, -(2.0**700), 1e308, 5e-324, Fraction(1, 10**400)], ids=range(7)
)
def test_extreme_epsilons_are_answered(epsilon):
    pair = Finite("ab", [Fraction(1, 2)] * 2).pair(Finite("ab", [Fraction(1, 4), Fraction(3, 4)]))
    delta = pair.delta(epsilon)
    expected = 0.25 if abs(epsilon) < 1 else 0.0 if epsilon > 0 else 1.0
    assert delta.lower <= expected <= delta.upper
    assert delta.width < 1e-14


@given(pairs() | pairs(st.integers(0, 2**200)))
def test_the_largest_loss_is_enclosed(both):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    loss = pair.max_loss()
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        assert loss.upper == math.inf
        assert loss.lower > 1e308
        return
    with flint.ctx.workprec(400):
        truth = [(arb(a) / arb(b)).log() for a, b in zip(p, q, strict=True) if a > 0]
        assert any(encloses(loss, value) for value in truth)
        assert all(arb(loss.upper) > value for value in truth)
    assert loss.width < 1e-11


@pytest.mark.parametrize("scale", [1, 2**30, 2**300])
def test_small_losses_of_small_probabilities_are_enclosed(scale):
    for step in range(1, 400):
        p, q = Fraction(512 + step, 1024 * scale), Fraction(512 - step, 1024 * scale)
        loss = Finite("ab", [p, 1 - p]).pair(Finite("ab", [q, 1 - q])).max_loss()
        with flint.ctx.workprec(1000):
            assert encloses(loss, (arb(p) / arb(q)).log())


@given(pairs())
def test_the_pointwise_tail_is_at_least_delta(both):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 2.0):
        tail = pair.tail(epsilon)
        assert tail.upper >= pair.delta(epsilon).lower
        sure = sum(
            a for a, b in zip(p, q, strict=True) if a > Fraction(math.exp(epsilon)) * b * (1 + Fraction(1, 10**12))
        )
        open_ = sum(
            a for a, b in zip(p, q, strict=True) if a >= Fraction(math.exp(epsilon)) * b * (1 - Fraction(1, 10**12)) > 0
        )
        assert tail.upper >= float(sure) - 1e-15
        assert tail.lower <= float(max(sure, open_)) + 1e-15


@given(pairs())
def test_the_witness_is_the_atom_with_the_largest_loss(both):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    ratios = [math.inf if b == 0 and a > 0 else 0 if a == 0 else a / b for a, b in zip(p, q, strict=True)]
    assert ratios[pair.witness()] == max(ratios)


def true_tradeoff(p, q, alpha) -> Fraction:
    """Return the error of the most powerful test of a size, in fractions."""
    order = sorted(range(len(p)), key=lambda i: -(p[i] / q[i] if q[i] else Fraction(10**30)))
    room, power = Fraction(alpha), Fraction(0)
    for index in order:
        if q[index] > room:
            return 1 - power - room / q[index] * p[index]
        room, power = room - q[index], power + p[index]
    return Fraction(0)


@given(pairs(), st.floats(0, 1))
def test_the_tradeoff_encloses_the_error_of_the_best_test(both, alpha):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    error = pair.tradeoff(alpha)
    truth = true_tradeoff(p, q, alpha)
    assert Fraction(error.lower) <= truth <= Fraction(error.upper)
    assert error.safe is SafeEnd.LOWER
    if all(q):
        assert error.width < 1e-12


@given(pairs(), st.floats(0, 1), st.floats(-3, 3))
def test_the_tradeoff_and_delta_are_dual(both, alpha, epsilon):
    p, q = both
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    assert pair.tradeoff(alpha).upper >= 1 - pair.delta(epsilon).upper - math.exp(epsilon) * alpha - 1e-12


def test_disjoint_laws_are_told_apart_without_error():
    pair = Finite("a", [Fraction(1)]).pair(Finite("b", [Fraction(1)]))
    assert pair.delta(5).contains(1.0)
    assert pair.max_loss().upper == math.inf
    for alpha in (0.0, 0.3, 1.0):
        assert pair.tradeoff(alpha).contains(0.0)
        assert pair.tradeoff(alpha).upper < 1e-12


@given(pairs())
def test_the_reversed_pair_exchanges_the_laws(both):
    p, q = both
    first, second = Finite(range(len(p)), p), Finite(range(len(q)), q)
    assert first.pair(second).reversed().delta(0.4) == second.pair(first).delta(0.4)
    assert first.pair(second).reversed().max_loss() == second.pair(first).max_loss()


ODDS = [Fraction(3), Fraction(11, 10), Fraction(1000), Fraction(1 + 2**-30)]


@pytest.mark.parametrize("odds", ODDS, ids=str)
def test_randomized_response_has_its_closed_forms(odds):
    truth, lie = odds / (1 + odds), 1 / (1 + odds)
    pair = Finite("yn", [truth, lie]).pair(Finite("yn", [lie, truth]))
    level = math.log(odds)
    assert pair.max_loss().contains(level) or abs(pair.max_loss().estimate - level) < 1e-15
    for share in (-2.0, -0.5, 0.0, 0.5, 0.999, 1.5):
        epsilon = share * level
        expected = max(float(truth) - math.exp(epsilon) * float(lie), 0.0)
        if epsilon < -level:
            expected = 1 - math.exp(epsilon)
        assert pair.delta(epsilon).estimate == pytest.approx(expected, abs=1e-14)
        assert pair.tail(epsilon).estimate == pytest.approx(1.0 if share < -1 else float(truth) if share < 1 else 0.0)
    for alpha in (0.0, 0.1, 0.5, 0.9, 1.0):
        expected = max(0.0, 1 - float(odds) * alpha, (1 - alpha) / float(odds))
        assert pair.tradeoff(alpha).estimate == pytest.approx(expected, abs=1e-12)
    assert pair.epsilon(float((truth - lie) / 2)).estimate == pytest.approx(math.log((1 + float(odds)) / 2), rel=1e-9)


def test_atoms_that_only_one_law_has_are_kept():
    pair = Finite("ab", [Fraction(1, 2)] * 2).pair(Finite("bc", [Fraction(1, 4), Fraction(3, 4)]))
    assert set(pair.outcomes) == {"a", "b", "c"}
    assert pair.delta(10).contains(0.5)
    assert pair.witness() == "a"


def test_bounds_that_are_no_probabilities_in_order_are_refused():
    good = np.array([0.5, 0.5])
    for bad in (np.array([0.6, 0.5]), np.array([-0.1, 0.5]), np.array([np.nan, 0.5])):
        with pytest.raises(ParameterError):
            FinitePair([0, 1], bad, good, good, good)
    with pytest.raises(ParameterError):
        FinitePair([0, 1], good, np.array([np.inf, 0.5]), good, good)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, math.inf])
def test_a_size_outside_zero_and_one_is_refused(alpha):
    with pytest.raises(ParameterError):
        law_of([1, 1]).pair(law_of([1, 2])).tradeoff(alpha)


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, None, "1", True])
def test_an_epsilon_that_is_no_number_is_refused(epsilon):
    with pytest.raises(ParameterError):
        law_of([1, 1]).pair(law_of([1, 2])).delta(epsilon)


@given(WEIGHTS | LONG)
def test_probabilities_are_the_fractions(weights):
    law = law_of(weights)
    assert [law.pmf(outcome) for outcome in range(len(weights))] == [float(p) for p in law.probabilities]
    assert law.pmf("elsewhere") == 0.0
    assert sum(law.probabilities) == 1


@given(WEIGHTS)
def test_every_uniform_integer_below_the_common_denominator_is_one_outcome(weights):
    law = law_of(weights)
    common = math.lcm(*(p.denominator for p in law.probabilities))
    assume(common > 1 and common & (common - 1))
    with swapped(Script([*range(common), *[0] * 100])):
        drawn = law.sample_indices(max(common, 100))[:common]
    counts = np.bincount(drawn, minlength=len(weights))
    assert [Fraction(int(count), common) for count in counts] == list(law.probabilities)


@pytest.mark.parametrize(
    "weights", [[1, 2, 3], [1, 0, 5], [10**30, 10**30 + 1, 5 * 10**29], [7], [1] * 40, [2**64, 3**41]], ids=range(6)
)
def test_draws_have_the_law(weights, rounds):
    law = law_of(weights)
    if len(weights) == 1:
        assert set(law.sample(100)) == {0}
        return
    assert_fits(law, law.sample(rounds(sample=20_000, full=1_000_000)), comparisons=10)
    assert_fits(law, np.array([law.sample() for _ in range(5_000)]), comparisons=10)


def test_outcomes_may_be_anything_hashable():
    law = Finite(["a", (1, 2), None, 3.5], [Fraction(1, 4)] * 4)
    drawn = law.sample((3, 50))
    assert drawn.shape == (3, 50)
    assert set(drawn.ravel()) <= {"a", (1, 2), None, 3.5}


def test_the_outcomes_are_not_shown():
    assert "secret" not in repr(Finite(["secret", "other"], [Fraction(1, 2)] * 2))


BAD = {
    "too few": ([0, 1], [Fraction(1)]),
    "too many": ([0], [Fraction(1, 2)] * 2),
    "twice": ([0, 0], [Fraction(1, 2)] * 2),
    "empty": ([], []),
    "negative": ([0, 1], [Fraction(3, 2), Fraction(-1, 2)]),
    "too little": ([0, 1], [Fraction(1, 3)] * 2),
    "not quite": ([0, 1, 2], [1 / 3] * 3),
}


@pytest.mark.parametrize("name", BAD)
def test_probabilities_that_do_not_fit_are_refused(name):
    with pytest.raises(ParameterError):
        Finite(*BAD[name])


@pytest.mark.parametrize("probability", [math.nan, math.inf, None, "x", 1j, True, [1]], ids=repr)
def test_a_probability_that_is_no_number_is_refused(probability):
    with pytest.raises(ParameterError):
        Finite([0], [probability])


def test_only_finite_laws_are_compared():
    with pytest.raises(ParameterError):
        law_of([1, 1]).pair("law")
