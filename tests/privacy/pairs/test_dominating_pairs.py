"""Pairs that dominate a release: Laplace, bounded range, samples, chains of neighbors, the worst of several."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import Finite
from discreet.laws.finite import FinitePair
from discreet.privacy import PrivacyLoss, Relation, change_one_loss, gaussian_loss, group_loss, laplace_loss, table_loss
from discreet.privacy.loss.derived import ChainPair
from discreet.privacy.pairs.bounded_range import BoundedRangePair
from discreet.privacy.pairs.derived import FixedSizePair, PoissonPair, Side, WorstPair, worst_of
from discreet.privacy.pairs.laplace import LaplacePair
from discreet.privacy.pairs.tradeoff import tradeoff_from_deltas
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair
from tests.privacy.reference import at_most, hockey_stick, law, miss, mixture

levels = st.floats(-4.0, 4.0)
rates = st.floats(0.01, 0.99)
weights = st.lists(st.integers(1, 40), min_size=3, max_size=3)


def finite_pair(first, second):
    """Return the pair of two laws proportional to integers."""
    one, other = (Finite(range(len(row)), [Fraction(w, sum(row)) for w in row]) for row in (first, second))
    return one.pair(other)


@pytest.mark.theorem("LaplacePair.privacy")
@given(st.floats(0.05, 6.0), st.floats(-7.0, 7.0))
def test_the_continuous_laplace_pair_is_the_limit_of_fine_histograms(ratio, level):
    # bins of the real line, edges at multiples of ratio/n: a post-processing, so below, and within its width of it
    found = LaplacePair(ratio).delta(level)
    bins = 400
    edges = [ratio * (index - bins) / bins for index in range(3 * bins + 1)]

    def cdf(x, center):
        return 0.5 * math.exp(x - center) if x < center else 1 - 0.5 * math.exp(center - x)

    p = [cdf(edges[0], ratio), *(cdf(b, ratio) - cdf(a, ratio) for a, b in pairwise(edges))]
    q = [cdf(edges[0], 0), *(cdf(b, 0) - cdf(a, 0) for a, b in pairwise(edges))]
    p.append(1 - cdf(edges[-1], ratio))
    q.append(1 - cdf(edges[-1], 0))
    coarse = math.fsum(max(a - math.exp(level) * b, 0.0) for a, b in zip(p, q, strict=True))
    assert coarse <= found.upper + 1e-9
    assert found.lower <= coarse + 3 * ratio / bins


@pytest.mark.theorem("LaplacePair.privacy")
@given(st.floats(0.0, 5.0), st.floats(0.0, 1.0))
def test_the_laplace_trade_off_and_epsilon_belong_to_the_same_curve(ratio, chance):
    pair = LaplacePair(ratio)
    miss_there = pair.tradeoff(chance)
    assert all(
        miss_there.upper >= 1 - pair.delta(level).upper - math.exp(level) * chance - 1e-12
        for level in [ratio * step / 20 for step in range(-20, 21)]
    )
    again = tradeoff_from_deltas(pair.delta, pair.delta, chance)
    assert again.lower <= miss_there.upper + 1e-12
    assert miss_there.lower <= again.upper + 1e-12
    assert pair.delta(pair.epsilon(chance).upper).lower <= chance
    assert pair.max_loss().upper >= ratio


@pytest.mark.theorem("BoundedRangePair.privacy")
@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(0.0, 1.0)), min_size=2, max_size=5), st.floats(0.1, 4.0), levels
)
def test_no_release_of_bounded_range_is_worse_than_the_envelope(outcomes, width, level):
    # Q from weights, ratios e^(place * width) renormalized: the losses then span at most the width
    q = law(*(weight for weight, _ in outcomes))
    tilted = [b * math.exp(place * width) for b, (_, place) in zip(q, outcomes, strict=True)]
    total = sum(tilted[1:], tilted[0])
    p = [one / total for one in tilted]
    bound = BoundedRangePair(width).delta(level).upper
    assert at_most(hockey_stick(p, q, level), bound, slack=1e-12)
    assert at_most(hockey_stick(q, p, level), bound, slack=1e-12)


@pytest.mark.theorem("BoundedRangePair.privacy")
@given(st.floats(0.1, 4.0), st.floats(-0.95, 0.95))
def test_the_envelope_is_attained_at_every_level_by_some_member(width, share):
    level = share * width
    top = (width + level) / 2
    p = (math.exp(width) - math.exp(top)) / (math.exp(width) - 1)
    attained = p * (1 - math.exp(level - top))
    found = BoundedRangePair(width).delta(level)
    assert found.lower - 1e-12 <= attained <= found.upper + 1e-12


@given(st.floats(0.05, 5.0))
def test_the_density_of_the_envelope_gives_its_curve(width):
    pair = BoundedRangePair(width)
    count, level = 4000, 0.3 * width
    step = 2 * width / count
    total = 0.0
    for index in range(count):
        loss = -width + (index + 0.5) * step
        total += math.exp(loss / 2) / (4 * math.sinh(width / 2)) * max(1 - math.exp(level - loss), 0.0) * step
    assert total == pytest.approx(pair.delta(level).estimate, rel=1e-3, abs=1e-9)
    assert pair.tradeoff(0.3).lower <= tradeoff_from_deltas(pair.delta, pair.delta, 0.3).upper


@pytest.mark.theorem("PoissonPair.privacy")
@given(weights, weights, rates, st.floats(0.0, 3.0))
def test_a_poisson_sample_of_one_pair_is_the_mixture(first, second, rate, level):
    share = Fraction(rate)
    p, q = law(*first), law(*second)
    mixed = mixture(share, q, p)
    base = finite_pair(first, second)
    removed, added = PoissonPair(base, share, Side.REMOVE), PoissonPair(base.reversed(), share, Side.ADD)
    for pair, ends in ((removed, (mixed, q)), (added, (q, mixed))):
        truth = hockey_stick(*ends, level)
        assert at_most(truth, pair.delta(level).upper)
        assert float(truth) >= pair.delta(level).lower - 1e-15
        assert (
            pair.max_loss().upper
            >= max(float((a / b).log()) for a, b in zip(*ends, strict=True) if float(b) > 0) - 1e-12
        )
    assert removed.reversed() == added


@pytest.mark.theorem("PoissonPair.privacy")
@pytest.mark.theorem("subsample.privacy")
@given(st.integers(1, 3), st.floats(0.05, 0.95), st.floats(0.1, 2.0), st.floats(0.0, 2.5))
def test_sampling_people_before_counting_costs_no_more_than_the_pair_says(people, rate, epsilon, level):
    # the release: randomized response on 'is anybody in the sample who has the property'; all others have it or not
    share, base = Fraction(rate), PureApproxPair(epsilon)
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))

    def answers(present):
        nobody = math.prod([(1 - float(share))] * present)
        yes = (1 - nobody) * keep + nobody * (1 - keep)
        return law(yes, 1 - yes)

    with_person, without = answers(people), answers(people - 1)
    removed, added = PoissonPair(base, share, Side.REMOVE), PoissonPair(base, share, Side.ADD)
    assert at_most(hockey_stick(with_person, without, level), removed.delta(level).upper, slack=1e-12)
    assert at_most(hockey_stick(without, with_person, level), added.delta(level).upper, slack=1e-12)


@pytest.mark.theorem("FixedSizePair.privacy")
@pytest.mark.theorem("subsample.privacy")
@given(st.lists(st.integers(0, 1), min_size=3, max_size=5), st.data(), st.floats(0.2, 2.0), st.floats(-2.0, 2.5))
def test_a_sample_of_fixed_size_costs_no_more_than_its_pair(rows, data, epsilon, level):
    # the release on a sample: a softmax about the sum of its bits
    size = data.draw(st.integers(1, len(rows) - 1))
    neighbor = [1 - rows[0], *rows[1:]]

    def answers(table):
        samples = list(combinations(table, size))
        totals = [sum(sample) for sample in samples]
        table_of = [law(*(math.exp(-epsilon * abs(value - total)) for value in range(size + 1))) for total in totals]
        return [sum((row[v] for row in table_of[1:]), table_of[0][v]) / len(samples) for v in range(size + 1)]

    one_change = [
        finite_law(size, epsilon, total).pair(finite_law(size, epsilon, other))
        for total, other in product(range(size + 1), repeat=2)
        if abs(total - other) <= 1
    ]
    pair = FixedSizePair(WorstPair(tuple(one_change)), Fraction(size, len(rows)))
    for ends in ((answers(rows), answers(neighbor)), (answers(neighbor), answers(rows))):
        assert at_most(hockey_stick(*ends, level), pair.delta(level).upper, slack=1e-9)


def finite_law(size, epsilon, total):
    """Return the law of the choice on a sample with this total, as rationals close to the weights."""
    parts = [Fraction(math.exp(-epsilon * abs(value - total))) for value in range(size + 1)]
    return Finite(range(size + 1), [part / sum(parts) for part in parts])


@pytest.mark.theorem("ChainPair.privacy")
@given(weights, weights, weights, st.floats(0.0, 3.0))
def test_a_chain_of_neighbors_bounds_its_two_ends(first, second, third, level):
    chain = ChainPair((finite_pair(first, second), finite_pair(second, third)))
    ends = law(*first), law(*third)
    assert at_most(hockey_stick(*ends, level), chain.delta(level).upper)
    assert at_most(hockey_stick(*reversed(ends), level), chain.reversed().delta(level).upper)


@pytest.mark.theorem("ChainPair.privacy")
def test_the_epsilon_of_a_chain_is_enough_for_its_ends():
    rows = [1, 1, 20], [1, 40, 1], [1, 1, 1]
    chain = ChainPair((finite_pair(rows[0], rows[1]), finite_pair(rows[1], rows[2])))
    for delta in (0.0, 0.01, 0.3):
        epsilon = chain.epsilon(delta).upper
        assert math.isfinite(epsilon)
        assert at_most(hockey_stick(law(*rows[0]), law(*rows[2]), epsilon), delta)


def test_groups_and_changed_rows_are_functions_of_the_curve():
    one = laplace_loss(2, relation=Relation.ADD_REMOVE)
    assert change_one_loss(one).relation is Relation.CHANGE_ONE
    assert change_one_loss(one).max_loss().upper == 1.0
    assert group_loss(one, 3).max_loss().upper == pytest.approx(1.5)
    assert (
        change_one_loss(gaussian_loss(4, relation=Relation.ADD_REMOVE)).delta(1).upper
        == gaussian_loss(2).delta(1).upper
    )
    assert group_loss(one, 1) is one
    # a pure price: the group's curve vanishes at the sum, and is no better than the truth for continuous Laplace
    assert group_loss(one, 2).delta(0.5).upper >= LaplacePair(1).delta(0.5).lower


@pytest.mark.theorem("WorstPair.privacy")
@given(weights, weights, weights, levels)
def test_the_worst_of_several_pairs_is_the_largest_at_each_level(first, second, third, level):
    pairs = (finite_pair(first, second), finite_pair(second, third))
    worst = WorstPair(pairs)
    assert worst.delta(level).upper == max(pair.delta(level).upper for pair in pairs)
    truth = max(float(hockey_stick(law(*a), law(*b), level)) for a, b in ((first, second), (second, third)))
    assert truth <= worst.delta(level).upper + 1e-12
    assert worst_of(pairs[:1]) is pairs[0]
    assert worst_of([]) is None


@pytest.mark.theorem("tradeoff_from_deltas.privacy")
@given(weights, weights, st.floats(0.0, 1.0))
def test_the_trade_off_from_deltas_is_neyman_and_pearsons(first, second, alpha):
    assume(first != second)
    pair = finite_pair(first, second)
    found = tradeoff_from_deltas(pair.delta, pair.reversed().delta, alpha)
    truth = miss(law(*first), law(*second), alpha)
    assert at_most(found.lower, truth, slack=1e-12)
    assert at_most(truth, found.upper, slack=1e-12)
    assert found.width < 1e-2


def test_equal_tables_are_equal_pairs_whatever_their_outcomes_are_called():
    one = table_loss([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)])
    other = table_loss(
        [Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)], [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    )
    assert one.parts[0][0].remove == other.parts[0][0].remove
    assert (one + other).parts[0][1] == 2
    assert isinstance(one.pairs[0], FinitePair)


@pytest.mark.parametrize("rate", [0, -0.1, 1.5, math.nan, math.inf, "often", None])
def test_what_is_no_sampling_rate_is_refused(rate):
    for make in (lambda: PoissonPair(NormalPair(1), rate, Side.REMOVE), lambda: FixedSizePair(NormalPair(1), rate)):
        with pytest.raises(ParameterError):
            make()


def test_a_price_needs_both_directions():
    with pytest.raises(ParameterError, match="both directions"):
        PrivacyLoss.from_directions(remove=[NormalPair(1)], add=[], relation=Relation.ADD_REMOVE)
