"""Composition: an algebra of guarantees, checked on exact products of laws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, RelationMismatch
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PureDP,
    Relation,
    RenyiDP,
    advanced_composition,
    basic_composition,
    split,
)
from tests.privacy.examples import few
from tests.privacy.reference import (
    ORDERS,
    at_most,
    ball,
    exp,
    hockey_stick,
    leaky_response,
    product,
    randomized_response,
    renyi,
)

small = st.floats(0.0, 3.0)
notions = st.sampled_from(
    [
        st.builds(PureDP, small),
        st.builds(ApproxDP, small, st.floats(0.0, 0.2)),
        st.builds(ZCDP, small, st.floats(0.0, 0.2)),
        st.builds(RenyiDP, st.just(3), small),
        st.builds(GaussianDP, small),
    ]
)
batches = notions.flatmap(lambda one: st.lists(one, min_size=1, max_size=5))


@pytest.mark.theorem("basic_composition.privacy")
@given(st.lists(st.tuples(st.floats(0.01, 2.0), st.floats(0.0, 0.2)), min_size=2, max_size=3))
def test_the_product_of_worst_pairs_keeps_the_sum(parts):
    p, q = leaky_response(*parts[0])
    for part in parts[1:]:
        other = leaky_response(*part)
        p, q = product(p, other[0]), product(q, other[1])
    total = basic_composition([ApproxDP(*part) for part in parts])
    assert at_most(hockey_stick(p, q, total.epsilon), total.delta)


@pytest.mark.theorem("basic_composition.privacy")
@given(st.floats(0.01, 2.0), st.floats(0.01, 2.0))
def test_divergences_of_products_add(first, second):
    laws = randomized_response(first), randomized_response(second)
    p, q = product(laws[0][0], laws[1][0]), product(laws[0][1], laws[1][1])
    concentrated = basic_composition([PureDP(first).to_zcdp(), PureDP(second).to_zcdp()])
    for alpha in ORDERS[::10]:
        total = basic_composition([PureDP(first).to_renyi(alpha), PureDP(second).to_renyi(alpha)])
        assert at_most(renyi(p, q, alpha), total.epsilon)
        assert at_most(renyi(p, q, alpha), ball(concentrated.rho) * ball(alpha))


@pytest.mark.theorem("basic_composition.privacy")
def test_an_adaptive_second_release_keeps_the_sum_too():
    # the second release answers with epsilon 2 after every other first answer and says nothing after the rest
    (p1, q1), (p2, q2) = leaky_response(1, 0.1), leaky_response(2, 0.05)
    p = [a * b for i, a in enumerate(p1) for b in (p2 if i % 2 else q2)]
    q = [a * b for a in q1 for b in q2]
    total = basic_composition([ApproxDP(1, 0.1), ApproxDP(2, 0.05)])
    assert at_most(hockey_stick(p, q, total.epsilon), total.delta)
    assert at_most(hockey_stick(q, p, total.epsilon), total.delta)


@pytest.mark.theorem("basic_composition.privacy")
def test_concentrated_deltas_combine_as_chances_that_any_happens():
    total = basic_composition([ZCDP(0.1, 0.5), ZCDP(0.2, 0.5), ZCDP(0.3, 0)])
    assert total.delta == 0.75
    assert Fraction(total.rho) >= Fraction(0.1) + Fraction(0.2) + Fraction(0.3)
    tiny = basic_composition([ZCDP(1, 1e-20)] * 3)
    assert 2.9999999999999e-20 < tiny.delta <= 3.0000000000001e-20


@given(batches)
def test_composition_does_not_depend_on_the_order_and_covers_each_part(batch):
    total = basic_composition(batch)
    for shuffled in list(permutations(batch))[:24]:
        assert basic_composition(shuffled) == total
    assert all(total.implies(total) and part.implies(total) for part in batch)


@given(batches)
def test_composition_is_exact_before_it_is_rounded_up(batch):
    total = basic_composition(batch)
    name = {PureDP: "epsilon", ApproxDP: "epsilon", ZCDP: "rho", RenyiDP: "epsilon", GaussianDP: "mu"}[type(total)]
    power = 2 if isinstance(total, GaussianDP) else 1
    exact = sum(Fraction(getattr(one, name)) ** power for one in batch)
    found = Fraction(getattr(total, name))
    assert found**power >= exact
    below = Fraction(math.nextafter(float(found), 0.0))
    assert found == 0 or below**power < exact


def test_thirds_add_up_to_one():
    assert basic_composition([PureDP(Fraction(1, 3))] * 3) == PureDP(1)


def test_one_guarantee_alone_is_itself_and_nothing_is_refused():
    assert basic_composition([ApproxDP(1, 1e-6)]) == ApproxDP(1, 1e-6)
    with pytest.raises(ParameterError, match="nothing to compose"):
        basic_composition([])


def test_pure_and_approximate_mix_and_other_notions_do_not():
    assert basic_composition([PureDP(1), ApproxDP(2, 0.5)]) == ApproxDP(3, 0.5)
    with pytest.raises(ParameterError, match=r"convert\(guarantee"):
        basic_composition([PureDP(1), ZCDP(1)])
    with pytest.raises(ParameterError, match="one order"):
        basic_composition([RenyiDP(2, 1), RenyiDP(3, 1)])


def test_relations_are_carried_and_never_mixed():
    added, changed = PureDP(1, relation=Relation.ADD_REMOVE), PureDP(1, relation=Relation.CHANGE_ONE)
    assert basic_composition([added, PureDP(1)]).relation is Relation.ADD_REMOVE
    assert advanced_composition(changed, 2, 1e-6).relation is Relation.CHANGE_ONE
    with pytest.raises(RelationMismatch):
        basic_composition([added, PureDP(1), changed])


def test_deltas_are_capped_at_one():
    assert basic_composition([ApproxDP(1, 0.7)] * 2).delta == 1.0
    assert advanced_composition(ApproxDP(0.1, 0.5), 100, 0.5).delta == 1.0


@pytest.mark.theorem("advanced_composition.privacy")
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("times", [1, 10, 100, 1000])
@pytest.mark.parametrize("slack", [1e-9, 1e-3, 0.3])
def test_many_randomized_responses_keep_the_advanced_guarantee(epsilon, times, slack):
    total = advanced_composition(PureDP(epsilon), times, slack)
    assert at_most(_delta_of_many(epsilon, times, total.epsilon), total.delta)
    assert total.epsilon <= times * epsilon * (1 + 1e-15)


def _delta_of_many(epsilon, times, level):
    """Return delta(level) of so many independent randomized responses: a sum over the number of true answers."""
    total, likely = ball(0), exp(epsilon) / (1 + exp(epsilon))
    for true in range(times + 1):
        loss = (2 * true - times) * Fraction(epsilon)
        if loss > Fraction(level):
            mass = flint.arb(math.comb(times, true)) * likely**true * (1 - likely) ** (times - true)
            total += mass * (1 - (ball(level) - ball(loss)).exp())
    return total


@pytest.mark.theorem("advanced_composition.privacy")
@pytest.mark.parametrize("delta", [1e-4, 0.01])
def test_leaks_add_to_the_slack(delta):
    total = advanced_composition(ApproxDP(0.05, delta), 5, 1e-3)
    p, q = leaky_response(0.05, delta)
    many = [p, q]
    for _ in range(4):
        many = [product(many[0], p), product(many[1], q)]
    assert at_most(hockey_stick(*many, total.epsilon), total.delta)


@pytest.mark.theorem("advanced_composition.privacy")
def test_advanced_composition_is_the_textbook_formula_where_it_helps_and_basic_elsewhere():
    found = advanced_composition(ApproxDP(0.01, 1e-9), 10_000, 1e-6)
    formula = 0.01 * math.sqrt(2 * 10_000 * math.log(1e6)) + 10_000 * 0.01 * math.expm1(0.01)
    assert found.epsilon == pytest.approx(formula, rel=1e-12)
    assert found.epsilon >= formula * (1 - 1e-15)
    assert found.delta == pytest.approx(1e-5 + 1e-6, rel=1e-12)
    assert advanced_composition(ApproxDP(2, 1e-9), 3, 1e-6) == basic_composition([ApproxDP(2, 1e-9)] * 3)
    assert advanced_composition(PureDP(1e300), 3, 1e-6).epsilon >= 3e300


@pytest.mark.theorem("split.privacy")
@few(20)
@given(st.floats(1e-6, 1.0, exclude_max=True), st.floats(1e-15, 0.5), st.integers(1, 10**6))
def test_what_was_split_composes_to_no_more_than_the_total(epsilon, delta, times):
    part = split(epsilon, delta, times)
    total = advanced_composition(part, times, delta)
    assert total.epsilon <= epsilon
    assert total.delta <= delta


@pytest.mark.theorem("split.privacy")
@given(st.floats(1e-6, 1.0, exclude_max=True), st.floats(1e-15, 0.5), st.integers(1, 10**6))
def test_split_gives_at_least_the_textbook_part(epsilon, delta, times):
    part = split(epsilon, delta, times).epsilon
    textbook = epsilon / math.sqrt(8 * times * math.log(1 / delta))
    assert part >= max(textbook, epsilon / times) * (1 - 1e-12)


@pytest.mark.theorem("split.privacy")
def test_parts_with_their_own_delta_end_at_that_much_more():
    part = split(0.5, 1e-6, 1000)
    total = advanced_composition(ApproxDP(part.epsilon, 1e-9), 1000, 1e-6)
    assert total.epsilon <= 0.5
    assert total.delta == pytest.approx(1e-6 + 1000 * 1e-9)


@pytest.mark.parametrize("epsilon", [1, 1.0, 2.5])
def test_split_refuses_a_total_of_one_or_more_and_says_why(epsilon):
    with pytest.raises(ParameterError, match="mean loss"):
        split(epsilon, 1e-6, 10)


@pytest.mark.parametrize("delta", [0, 0.6, 1])
def test_split_refuses_a_delta_for_which_the_rule_is_not_proven(delta):
    with pytest.raises(ParameterError, match="slack"):
        split(0.5, delta, 10)


def test_advanced_composition_refuses_other_notions_and_a_slack_of_zero_or_one():
    with pytest.raises(ParameterError, match="basic_composition"):
        advanced_composition(ZCDP(1), 10, 1e-6)
    for slack in (0, 1):
        with pytest.raises(ParameterError, match="basic_composition"):
            advanced_composition(PureDP(1), 10, slack)


@given(st.floats(0.001, 1.0), st.integers(1, 1000), st.floats(1e-9, 0.1))
def test_more_releases_and_less_slack_never_cost_less(epsilon, times, slack):
    here = advanced_composition(PureDP(epsilon), times, slack)
    assert advanced_composition(PureDP(epsilon), times + 1, slack).epsilon >= here.epsilon
    assert advanced_composition(PureDP(epsilon), times, slack / 2).epsilon >= here.epsilon
