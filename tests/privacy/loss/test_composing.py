"""Prices add up: the algebra of losses, prices from parameters, sampling, calibration."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import NoSoundConversion, ParameterError, RelationMismatch
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    Calibration,
    GaussianDP,
    PureDP,
    Relation,
    RenyiDP,
    Sampler,
    above_threshold_loss,
    basic_composition,
    bounded_range_loss,
    calibrate,
    compose,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    largest_count,
    randomized_response_loss,
    repeated,
    subsample,
    table_loss,
)
from discreet.privacy.accounting import clear_caches
from discreet.privacy.accounting.directed_loss import least_rho
from tests.privacy.reference import at_most, ball, hockey_stick, law, product

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
KINDS = [
    gaussian_loss(2),
    laplace_loss(3),
    discrete_gaussian_loss(4),
    discrete_laplace_loss(3, sensitivity=2),
    randomized_response_loss(0.4),
    randomized_response_loss(0.4, categories=5),
    bounded_range_loss(0.3),
    above_threshold_loss(0.2),
    table_loss([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 3)] * 3, relation=Relation.ADD_REMOVE),
    PureDP(0.1).loss,
    ApproxDP(0.1, 1e-7).loss,
    ZCDP(0.02).loss,
    ZCDP(0.02, 1e-9).loss,
    RenyiDP(6, 0.2).loss,
    GaussianDP(0.3).loss,
]
weights = st.lists(st.integers(1, 30), min_size=2, max_size=3)


def test_addition_and_repetition_count_equal_releases():
    a, b = gaussian_loss(2), laplace_loss(3)
    assert a + b + a == compose([a, a, b]) == a * 2 + b
    assert (a * 3).releases == 3
    assert sum([a, a, b]).releases == 3
    assert 2 * a == a * 2
    assert (a * 2) * 3 == a * 6
    assert not (a + a).is_single
    assert (a * 1).is_single


@pytest.mark.parametrize("times", [0, -1, 1.0, 2.5, True, math.nan, "2", None])
def test_a_release_is_repeated_a_whole_number_of_times(times):
    with pytest.raises((ParameterError, TypeError)):
        gaussian_loss(1) * times


def test_what_is_no_price_does_not_add_up():
    with pytest.raises(TypeError):
        gaussian_loss(1) + 1
    with pytest.raises(TypeError):
        1 + gaussian_loss(1)
    with pytest.raises(ParameterError, match="at least one price"):
        compose([])
    with pytest.raises(ParameterError, match="takes prices"):
        compose([PureDP(1)])
    with pytest.raises(ParameterError, match="same direction"):
        compose([gaussian_loss(1).remove, gaussian_loss(1)])


def test_relations_must_agree_and_an_unstated_one_takes_on_the_others():
    stated, other = gaussian_loss(1, relation=ADD_REMOVE), gaussian_loss(1, relation=CHANGE_ONE)
    assert (stated + gaussian_loss(1)).relation is ADD_REMOVE
    with pytest.raises(RelationMismatch):
        stated + other


@pytest.mark.parametrize("loss", KINDS, ids=repr)
def test_every_kind_composes_with_every_question(loss):
    three = loss * 3
    epsilon, delta = three.epsilon(1e-5), three.delta(0.5)
    assert 0 <= epsilon.lower <= epsilon.upper
    assert 0 <= delta.lower <= delta.upper <= 1
    assert loss.epsilon(1e-5).lower <= epsilon.upper
    assert delta.upper >= loss.delta(0.5).lower
    assert three.renyi(3).upper >= 0
    assert three.satisfies(ApproxDP(epsilon.upper, 1e-5)) or math.isinf(epsilon.upper)
    assert "releases" in str(three)
    assert "<dl" in three._repr_html_()
    assert pickle.loads(pickle.dumps(three)).epsilon(1e-5) == epsilon  # noqa: S301  our own bytes


@given(st.lists(st.sampled_from(range(len(KINDS))), min_size=1, max_size=4), st.sampled_from([1e-3, 1e-6, 1e-9]))
@settings(max_examples=25)
def test_a_mix_is_never_worse_than_the_sum_of_its_guarantees_nor_than_its_parts_allow(picked, delta):
    losses = [KINDS[index] for index in picked]
    total = compose(losses)
    found = total.epsilon(delta)
    apart = sum(loss.epsilon(delta / len(losses)).upper for loss in losses)
    assert found.upper <= apart * (1 + 2e-4) + 1e-9
    assert found.lower <= apart


@pytest.mark.theorem("PrivacyLoss.privacy")
@given(weights, weights, weights, weights, st.floats(0.0, 3.0))
@settings(max_examples=40)
def test_two_tables_compose_to_their_product(first, second, third, fourth, level):
    rows = [[Fraction(w, sum(row)) for w in row] for row in (first, second, third, fourth)]
    if len(first) != len(second) or len(third) != len(fourth):
        return
    loss = table_loss(rows[0], rows[1], relation=ADD_REMOVE) + table_loss(rows[2], rows[3], relation=ADD_REMOVE)
    p, q = product(law(*first), law(*third)), product(law(*second), law(*fourth))
    for view, ends in ((loss.remove, (p, q)), (loss.add, (q, p))):
        found = view.delta(level)
        assert at_most(hockey_stick(*ends, level), found.upper)
        assert at_most(ball(found.lower), hockey_stick(*ends, level))


@pytest.mark.theorem("PrivacyLoss.privacy")
def test_where_a_row_is_changed_each_release_may_go_its_own_way():
    half, quarter = [Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)]
    for relation in (CHANGE_ONE, Relation.UNSTATED):
        both = table_loss(half, quarter, relation=relation) + table_loss(quarter, half, relation=relation)
        assert both.max_loss().upper >= math.log(4)
        assert both.delta(0).upper >= 0.3125
        assert both.remove.delta(0).upper >= 0.3125
    one_way = table_loss(half, quarter, relation=ADD_REMOVE) + table_loss(quarter, half, relation=ADD_REMOVE)
    assert one_way.max_loss().upper == pytest.approx(math.log(3))
    assert one_way.delta(0).upper == pytest.approx(0.25)


def test_both_directions_are_kept_and_the_worse_one_counts():
    step = subsample(gaussian_loss(1, relation=ADD_REMOVE), rate=0.1) * 100
    both, removed, added = step.epsilon(1e-6), step.remove.epsilon(1e-6), step.add.epsilon(1e-6)
    assert both.upper == removed.upper
    assert added.upper < removed.lower
    assert "remove only" in repr(step.remove)
    assert step.samplers == (Sampler.POISSON,)


def test_a_level_between_two_floats_is_bracketed():
    loss = laplace_loss(3) * 5
    third = Fraction(1, 3)
    around = loss.delta(float(third)), loss.delta(math.nextafter(float(third), 1))
    found = loss.delta(third)
    assert found.upper >= around[1].lower
    assert found.lower <= around[0].upper
    assert loss.epsilon(Fraction(1, 10**6)).upper >= loss.epsilon(1e-6).lower


def test_a_tolerance_is_met_or_the_bounds_hold_anyway():
    loss = laplace_loss(Fraction(7, 3)) + laplace_loss(Fraction(11, 5)) * 2 + randomized_response_loss(0.3)
    wide, narrow = loss.epsilon(1e-4, tolerance=1e-2), loss.epsilon(1e-4, tolerance=1e-7)
    assert wide.width <= 1e-2
    assert narrow.width <= 1e-7
    assert wide.lower <= narrow.upper
    assert narrow.lower <= wide.upper
    with pytest.raises(ParameterError, match="tolerance"):
        loss.epsilon(1e-4, tolerance=0)


def test_the_curve_is_monotone_and_its_ends_are_where_they_should_be():
    curve = (laplace_loss(3) * 4).curve()
    assert len(curve) == len(curve.epsilon) == len(curve.upper)
    assert all(curve.upper[1:] <= curve.upper[:-1])
    assert all(curve.lower[1:] <= curve.lower[:-1])
    assert all(curve.lower <= curve.upper)
    assert curve.epsilon[0] == 0
    given_levels = (laplace_loss(3) * 4).curve([1, 0.5])
    assert list(given_levels.epsilon) == [0.5, 1.0]


def test_the_trade_off_of_several_releases_is_symmetric_and_below_that_of_one():
    one, several = laplace_loss(3), laplace_loss(3) * 4
    curve = several.tradeoff()
    for alpha in (0.01, 0.7):
        found = several.tradeoff(alpha)
        assert found.lower <= one.tradeoff(alpha).upper
        assert several.tradeoff(found.upper).lower <= alpha + 1e-6
        at = round(100 * alpha)
        assert curve.lower[at] <= found.upper
        assert found.lower <= curve.upper[at]
        assert curve.upper[at] - curve.lower[at] < 0.03
    gaussian = (gaussian_loss(2) * 4).tradeoff(0.1)
    assert gaussian.lower <= gaussian_loss(1).tradeoff(0.1).upper
    assert gaussian_loss(1).tradeoff(0.1).lower <= gaussian.upper


@pytest.mark.theorem("gaussian_loss.privacy")
@given(st.floats(0.2, 20.0), st.floats(0.05, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 4.0))
def test_a_vector_moved_less_or_aslant_costs_no_more_than_one_coordinate_moved_fully(sigma, distance, share, level):
    # two coordinates moved by a and b with a^2 + b^2 <= distance^2
    a, b = distance * share, distance * math.sqrt(1 - share * share) * 0.999
    spread = compose([gaussian_loss(sigma / max(a, 1e-6)), gaussian_loss(sigma / max(b, 1e-6))])
    whole = gaussian_loss(sigma, sensitivity=distance * (1 + 1e-5))
    assert spread.delta(level).lower <= whole.delta(level).upper


@pytest.mark.theorem("randomized_response_loss.privacy")
@given(st.floats(0.1, 4.0), st.integers(2, 9), st.floats(0.0, 4.0))
def test_randomized_response_is_priced_by_its_own_table(epsilon, kinds, level):
    weights_of = [math.exp(epsilon), 1.0, *[1.0] * (kinds - 2)]
    p, q = law(*weights_of), law(weights_of[1], weights_of[0], *weights_of[2:])
    found = randomized_response_loss(epsilon, categories=kinds).delta(level)
    truth = hockey_stick(p, q, level)
    assert at_most(truth, found.upper, slack=1e-12)
    assert at_most(ball(found.lower), truth, slack=1e-12)
    with pytest.raises(ParameterError, match="at least 2"):
        randomized_response_loss(epsilon, categories=1)


@pytest.mark.theorem("bounded_range_loss.privacy")
@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0.0, 1.0)), min_size=2, max_size=4), st.floats(0.1, 3.0))
def test_a_release_of_bounded_range_is_concentrated(outcomes, width):
    q = law(*(weight for weight, _ in outcomes))
    tilted = [b * math.exp(place * width) for b, (_, place) in zip(q, outcomes, strict=True)]
    total = sum(tilted[1:], tilted[0])
    p = [one / total for one in tilted]
    loss = bounded_range_loss(width)
    for alpha in (1.1, 2.0, 7.0):
        moment = sum((b * (a / b) ** alpha for a, b in zip(p[1:], q[1:], strict=True)), q[0] * (p[0] / q[0]) ** alpha)
        divergence = float(moment.log()) / (alpha - 1)
        assert divergence <= loss.renyi(alpha).upper + 1e-12
        assert divergence <= alpha * width**2 / 8 + 1e-12
    assert loss.guarantee == ZCDP(loss.guarantee.rho)
    assert not loss.attained


def test_the_exponential_mechanism_composes_better_than_its_pure_guarantee():
    many = bounded_range_loss(0.1) * 100
    assert many.epsilon(1e-6).upper < 0.6 * (PureDP(0.1).loss * 100).epsilon(1e-6).lower


@pytest.mark.theorem("least_rho.privacy")
@pytest.mark.theorem("PrivacyLoss.concentration.privacy")
@pytest.mark.parametrize(
    "loss", [laplace_loss(2) * 3, randomized_response_loss(1.5) * 2, laplace_loss(5) + PureDP(0.2).loss]
)
def test_rho_bounds_the_divergence_of_every_order(loss):
    rho = loss.concentration()
    assert rho == max(least_rho(side) for side in loss._directions.engines())
    for alpha in [1.0001, 1.01, 1.3, 2, 5, 20, 300, 5000]:
        assert loss.renyi(alpha).lower <= alpha * rho
    assert loss.satisfies(ZCDP(rho))
    assert loss.satisfies(ZCDP(rho * 1.01))
    assert not loss.satisfies(ZCDP(rho / 1.01))
    assert loss.satisfies(RenyiDP(3, loss.renyi(3).upper))


@given(st.floats(0.05, 3.0), st.integers(1, 10**6))
def test_repeating_a_guarantee_is_composing_a_list_of_it(parameter, times):
    for guarantee in (
        PureDP(parameter),
        ZCDP(parameter, 1e-9),
        GaussianDP(parameter),
        RenyiDP(3, parameter),
        ApproxDP(parameter, 1e-9),
    ):
        short = min(times, 5)
        assert basic_composition([guarantee] * short) == repeated(guarantee, short)
        assert repeated(guarantee, times).relation is Relation.UNSTATED


@pytest.mark.theorem("subsample.privacy")
def test_sampling_states_its_relation_and_its_sampler():
    poisson = subsample(gaussian_loss(1, relation=ADD_REMOVE), rate=0.01)
    assert poisson.samplers == (Sampler.POISSON,)
    fixed = subsample(gaussian_loss(1, relation=CHANGE_ONE), rate=0.01, sampler="fixed size")
    assert fixed.samplers == (Sampler.FIXED_SIZE,)
    assert fixed.delta(0.5).upper == poisson.remove.delta(0.5).upper
    assert (fixed * 50).epsilon(1e-6).upper >= (poisson.remove * 50).epsilon(1e-6).lower
    with pytest.raises(RelationMismatch):
        poisson + fixed
    assert "sampling" in str(poisson)


@pytest.mark.parametrize(
    ("loss", "sampler", "error", "words"),
    [
        (gaussian_loss(1), "poisson", RelationMismatch, "states no relation"),
        (gaussian_loss(1, relation=CHANGE_ONE), "poisson", RelationMismatch, "differ in size"),
        (gaussian_loss(1, relation=ADD_REMOVE), "fixed size", RelationMismatch, "exchanges one row"),
        (gaussian_loss(1, relation=ADD_REMOVE), "shuffled", ParameterError, "not independent samples"),
        (gaussian_loss(1, relation=ADD_REMOVE), "everyone", ParameterError, "must be 'poisson' or 'fixed size'"),
        (gaussian_loss(1, relation=ADD_REMOVE), "by hand", ParameterError, "must be one of"),
        (ZCDP(0.1, relation=ADD_REMOVE).loss, "poisson", NoSoundConversion, "Start from the noise instead"),
        (RenyiDP(3, 0.1, relation=ADD_REMOVE).loss, "poisson", NoSoundConversion, "Start from the noise instead"),
        (1.0, "poisson", ParameterError, "takes a price"),
    ],
)
def test_what_cannot_be_sampled_is_refused_with_the_reason(loss, sampler, error, words):
    with pytest.raises(error, match=words) as caught:
        subsample(loss, rate=0.1, sampler=sampler)
    assert caught.value.__cause__ is None


def test_a_rate_of_one_is_no_sampling():
    whole = gaussian_loss(2, relation=ADD_REMOVE)
    sampled = subsample(whole, rate=1)
    assert sampled.delta(0.5).upper == pytest.approx(whole.delta(0.5).upper, rel=1e-12)
    assert (sampled * 5).epsilon(1e-6).upper >= (whole * 5).epsilon(1e-6).lower


@pytest.mark.theorem("calibrate.privacy")
@given(st.floats(0.1, 5.0), st.floats(1e-9, 0.1), st.integers(1, 500))
@settings(max_examples=25)
def test_the_calibrated_noise_is_enough_and_a_little_less_is_not(epsilon, delta, times):
    found = calibrate(lambda sigma: gaussian_loss(sigma) * times, epsilon=epsilon, delta=delta)
    assert isinstance(found, Calibration)
    assert found.loss.delta(epsilon).upper <= delta
    assert found.refused < found <= found.refused * (1 + 1e-6)
    assert (gaussian_loss(found.refused) * times).delta(epsilon).upper > delta


@pytest.mark.theorem("calibrate.privacy")
def test_pure_targets_and_sampled_families_are_calibrated_too():
    scale = calibrate(lambda b: laplace_loss(b) * 4, epsilon=1, delta=0)
    assert scale == pytest.approx(4, rel=1e-6)
    sampled = calibrate(
        lambda s: subsample(gaussian_loss(s, relation=ADD_REMOVE), rate=0.01) * 10_000, epsilon=2, delta=1e-5
    )
    assert sampled == pytest.approx(2.12737, abs=1e-5)


@pytest.mark.parametrize(
    ("family", "changes", "words"),
    [
        (lambda _: PureDP(1).loss, {}, "no parameter up to"),
        (lambda _: PureDP(0).loss, {}, "does the price fall"),
        (lambda s: s, {}, "must return a price"),
        (gaussian_loss, {"delta": 1}, "allows everything"),
        (gaussian_loss, {"epsilon": -1}, "epsilon"),
        (gaussian_loss, {"epsilon": math.nan}, "epsilon"),
        (gaussian_loss, {"tolerance": 0}, "tolerance"),
        (gaussian_loss, {"start": -1}, "start"),
    ],
)
def test_a_family_that_cannot_be_calibrated_says_why(family, changes, words):
    with pytest.raises(ParameterError, match=words):
        calibrate(family, **{"epsilon": 0.5, "delta": 1e-6, **changes})


@pytest.mark.parametrize("loss", [gaussian_loss(20), laplace_loss(40), randomized_response_loss(0.05)], ids=repr)
def test_the_largest_count_fits_and_one_more_does_not(loss):
    count = largest_count(loss, epsilon=1, delta=1e-6)
    assert (loss * count).delta(1).upper <= 1e-6
    assert (loss * (count + 1)).delta(1).upper > 1e-6
    assert largest_count(loss, epsilon=1, delta=1e-6, most=3) == 3
    assert largest_count(gaussian_loss(0.1), epsilon=1, delta=1e-6) == 0


def test_answers_do_not_depend_on_what_was_asked_before():
    def asked():
        return [(laplace_loss(9) * 50).epsilon(d) for d in (1e-3, 1e-6, 1e-9)]

    clear_caches()
    first = asked()
    clear_caches()
    again = [(laplace_loss(9) * 50).epsilon(1e-9), *asked()][1:]
    for one, other in zip(first, again, strict=True):
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)


def test_an_answer_says_whether_its_tolerance_was_met():
    many = subsample(laplace_loss(1, relation=Relation.ADD_REMOVE), rate=0.2) * 5
    assert many.epsilon(1e-5, tolerance=0.1).met
    missed = many.epsilon(1e-5, tolerance=1e-15)
    assert not missed.met
    assert many.epsilon(1e-5, tolerance=0.1).contains(missed.upper)
    assert not many.delta(0.5, tolerance=1e-15).met
    assert gaussian_loss(1).epsilon(1e-6).met
    assert PureDP(1).loss.delta(0.5).met
    claimed = ZCDP(0.5).loss.epsilon(1e-6)  # from below nothing is known
    assert not claimed.met
    assert "wider than" in str(claimed)
