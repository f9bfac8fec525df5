"""Plans: prices known before a row is read, noise for a target, texts, ledgers, and what is refused."""

from __future__ import annotations

import math
import time
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, DiscreetError, MissingParameter, ParameterError, RelationMismatch
from discreet.learning.deep.plan import (
    BallsInBins,
    Banded,
    Buffered,
    Clip,
    CyclicPoisson,
    Float,
    FullBatch,
    IndependentNoise,
    Plan,
    PoissonBatches,
)
from discreet.learning.deep.plan.mixing import prefix_error
from discreet.ledger import MemoryLedger, Request, Terms
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PureDP,
    Relation,
    gaussian_budget,
    gaussian_loss,
    replay,
    subsample,
)

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
PUBLIC = {"clip": Clip(1.0), "unit": "patient", "relation": ADD, "divisor": 600}
POISSON = PoissonBatches(rate=0.01)


def made(**changed):
    return Plan(**{**PUBLIC, "sampler": POISSON, "noise": IndependentNoise(1.0), "steps": 1000, **changed})


def for_target(**changed):
    return Plan.for_target(**{**PUBLIC, "epsilon": 3, "delta": 1e-6, "sampler": POISSON, "steps": 1000, **changed})


class OwnDraws(PoissonBatches):
    """Batches that no price is known of."""

    def batch(self, step, people, places):  # noqa: ARG002
        return np.arange(people)


class OwnNoise(IndependentNoise):
    """Coefficients that grow, for which nothing is proven."""

    def coefficients(self, steps):  # noqa: ARG002
        return (1, 2)


PLANS = [
    made(),
    made(sampler=PoissonBatches(rate=Fraction(1, 3), overflow="drop", most_people=5000, physical=64), steps=7),
    made(sampler=FullBatch(), noise=IndependentNoise(20.5), steps=40, relation=CHANGE, delta=1e-5),
    made(sampler=FullBatch(), noise=Buffered(8, buffers=3), steps=40),
    made(sampler=BallsInBins(steps_per_epoch=20), steps=50, noise=IndependentNoise(0.8)),
    made(sampler=CyclicPoisson(rate=0.01, groups=8), noise=Banded(1.5, bands=8)),
    made(noise=Float(1.0), clip=Clip(0.1, mode="per layer")),
]


@pytest.mark.theorem("Plan.privacy", "TrainingPrice.privacy")
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_poisson_plan_costs_its_steps_and_the_chance_of_a_cut(epsilon):
    plan = made()
    steps = subsample(gaussian_loss(1.0, relation=ADD), rate=Fraction(1, 100)) * 1000
    tau = plan.sampler.overflow_chance(1000)
    found = plan.price.delta(epsilon)
    base = steps.delta(epsilon)
    assert Fraction(found.upper) >= (1 - tau) * Fraction(base.lower) + tau
    assert Fraction(found.lower) <= (1 - tau) * Fraction(base.upper) + tau
    assert found.upper <= found.lower * (1 + 5e-3)  # asked with a width of 2e-4 of epsilon, for the sake of time
    assert found.lower <= found.estimate <= found.upper


@pytest.mark.theorem("TrainingPrice.privacy")
def test_the_short_form_of_a_cut_agrees_with_composition():
    """At a rate and a cut large enough to be seen: the closed form lies within the bounds of the composed loss."""
    price = made(sampler=PoissonBatches(rate=0.1), steps=10).price
    visible = replace(price, cut=Fraction(1, 1000))
    composed = visible.loss.delta(1.0)
    assert composed.lower <= visible.delta(1.0).upper * (1 + 1e-6)
    assert visible.delta(1.0).lower <= composed.upper * (1 + 1e-6)
    level = visible.epsilon(0.01)
    assert visible.loss.delta(level.upper).lower <= 0.01 <= visible.loss.delta(level.lower).upper * (1 + 1e-6)


@pytest.mark.theorem("Plan.privacy")
@pytest.mark.parametrize("plan", [one for one in PLANS if one.exact], ids=lambda one: one.noise.name)
def test_records_replay_to_the_same_curve(plan):
    assert replay(plan.records).parts == plan.loss.parts
    assert {record.unit for record in plan.records} == {"patient"}
    assert {record.relation for record in plan.records} == {plan.relation}


def test_a_cut_is_a_record_of_its_own():
    kinds = [record.kind.value for record in made().records]
    assert kinds == ["gaussian", "approx"]
    assert [record.kind.value for record in made(sampler=FullBatch()).records] == ["gaussian"]


@pytest.mark.theorem("BallsInBins.privacy")
def test_bins_are_priced_by_epochs_that_were_begun():
    found = made(sampler=BallsInBins(steps_per_epoch=20), steps=41).records[0]
    assert (found.sampler.value, found.rate, found.count) == ("balls in bins", Fraction(1, 20), 3)


@pytest.mark.theorem("FullBatch.privacy")
def test_full_batches_are_gaussian_and_cost_twice_where_a_row_is_changed():
    for relation, moves in ((ADD, 1), (CHANGE, 2)):
        plan = made(sampler=FullBatch(), noise=IndependentNoise(10), steps=25, relation=relation)
        assert plan.guarantee == GaussianDP(moves / 2, relation=relation)


@pytest.mark.theorem("Plan.for_target.privacy")
@pytest.mark.parametrize("epsilon", [1, 3, 8])
@pytest.mark.parametrize(
    "sampler",
    [
        PoissonBatches(rate=512 / 60000),
        FullBatch(),
        CyclicPoisson(rate=512 / 60000),
        CyclicPoisson(rate=512 / 60000, groups=10),
    ],
    ids=lambda one: one.name,
)
def test_a_target_is_kept_and_nearly_used_up_in_a_second(sampler, epsilon):
    before = time.process_time()
    plan = for_target(epsilon=epsilon, delta=1e-5, sampler=sampler, steps=2344)
    spent = time.process_time() - before
    assert epsilon * (1 - 3e-4) <= plan.epsilon(1e-5).upper <= epsilon
    assert plan.guarantee.epsilon <= epsilon
    assert plan.delta == 1e-5
    assert spent < 5  # a second and less by itself; other programs may run beside the tests


@pytest.mark.theorem("Plan.for_target.privacy")
@pytest.mark.parametrize(("bins", "steps", "epsilon"), [(100, 1000, 1), (20, 20, 3), (10, 35, 8), (1, 5, 0.1)])
def test_a_target_for_bins_is_kept_to_a_few_thousandths(bins, steps, epsilon):
    plan = for_target(epsilon=epsilon, sampler=BallsInBins(steps_per_epoch=bins), steps=steps)
    assert epsilon * (1 - 4e-3) <= plan.epsilon(1e-6).upper <= epsilon


@pytest.mark.theorem("Plan.for_target.privacy")
@settings(max_examples=15)
@given(
    epsilon=st.floats(0.05, 20),
    delta=st.floats(1e-12, 1e-4),
    rate=st.fractions(Fraction(1, 200), Fraction(1), max_denominator=1000),
    steps=st.integers(20, 3000),  # a sample of few steps is slow to price sharply
)
def test_any_target_is_kept(epsilon, delta, rate, steps):
    plan = for_target(epsilon=epsilon, delta=delta, sampler=PoissonBatches(rate=rate), steps=steps)
    assert Fraction(plan.epsilon(delta).upper) <= Fraction(str(epsilon))
    assert plan.price.delta(epsilon).lower <= delta


def error(plan):
    return float(plan.noise.scale) * prefix_error(plan.noise.coefficients(plan.steps), plan.steps)


def test_bands_leave_less_error_at_a_large_epsilon_and_are_not_taken_at_a_small_one():
    """60,000 people, batches of 600, 10 epochs, delta 1e-6: at most .62 of fresh noise at epsilon 8."""
    fresh, bands = for_target(epsilon=8), for_target(epsilon=8, sampler=CyclicPoisson(rate=0.01))
    assert isinstance(bands.noise, Banded)
    assert bands.noise.bands == bands.sampler.groups
    assert error(bands) <= 0.62 * error(fresh)
    assert bands.epsilon(1e-6).upper <= 8
    small = for_target(epsilon=1, sampler=CyclicPoisson(rate=0.01))
    assert isinstance(small.noise, IndependentNoise)
    assert small.sampler.groups == 1


def test_the_chosen_noise_is_about_the_best_of_those_compared():
    chosen = error(for_target(epsilon=3, sampler=CyclicPoisson(rate=0.01)))
    for groups in (1, 2, 4, 8, 16, 32):
        there = for_target(epsilon=3, sampler=CyclicPoisson(rate=0.01, groups=groups))
        assert chosen <= 1.021 * error(there)


def test_a_stated_kind_of_noise_is_kept():
    assert for_target(noise=Float).noise == Float(for_target().noise.scale)
    plan = for_target(sampler=CyclicPoisson(rate=0.01), noise=lambda scale: Banded(scale, bands=10))
    assert (plan.sampler.groups, plan.noise.bands) == (10, 10)
    with pytest.raises(ParameterError, match="bands"):
        for_target(sampler=CyclicPoisson(rate=0.5), noise=lambda scale: Banded(scale, bands=10))


@pytest.mark.parametrize("plan", PLANS, ids=lambda one: f"{one.sampler.name}, {one.noise.name}")
def test_a_text_is_the_plan_and_has_one_digest(plan):
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.digest == plan.digest
    assert again.to_json() == plan.to_json()
    assert plan.digest != replace(plan, steps=plan.steps + 1).digest


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        made().to_json().replace('"steps":1000', '"steps":0'),
        made().to_json().replace('"format":1', '"format":2'),
        made().to_json().replace("PoissonBatches", "Shuffled"),
        made().to_json().replace("IndependentNoise", "FullBatch"),
        made().to_json().replace('"unit"', '"units"'),
        made().to_json().replace('"rate":"1/100"', '"rate":"3/2"'),
        made().to_json().replace('"rate":"1/100"', '"rate":0.01'),
        made().to_json().replace('"mode":"flat"', '"mode":["flat"]'),
        made().to_json().replace('"steps":1000', '"steps":"1000"'),
        made().to_json().replace('"unit":"patient"', '"unit":5'),
    ],
)
def test_a_text_that_is_not_understood_is_refused(text):
    with pytest.raises(DiscreetError):
        Plan.from_json(text)


def test_plans_do_not_change():
    with pytest.raises(FrozenInstanceError):
        made().steps = 5


@pytest.mark.theorem("TrainingPrice.under.privacy")
def test_a_ledger_in_epsilon_and_delta_is_charged_the_point_at_the_plans_delta():
    plan = for_target()
    cost = plan.under(ApproxDP(10, 1e-5, relation=ADD))
    assert cost.delta == Fraction(1, 10**6)
    assert cost.epsilon <= 3
    assert plan.loss.delta(cost.epsilon, tolerance=1e-3).lower <= 1e-6
    with pytest.raises(MissingParameter, match="delta"):
        made().under(ApproxDP(10, 1e-5))


@pytest.mark.theorem("TrainingPrice.under.privacy")
@pytest.mark.parametrize("plan", [for_target(), for_target(sampler=CyclicPoisson(rate=0.01, groups=8))])
def test_a_sampled_plan_is_charged_in_mu_or_rho_beside_its_delta(plan):
    """The curve of the charge lies above the plan's, at every level looked at."""
    cost = plan.under(gaussian_budget(epsilon=8, delta=1e-5, reserve=2e-6).under(ADD))
    assert cost.delta == Fraction(1, 10**6)
    for level in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0):
        assert plan.price.delta(level).lower <= cost.loss.delta(level).upper
    rho = plan.under(ZCDP(1, Fraction(1, 10**5), relation=ADD))
    assert rho.delta == cost.delta
    assert math.isclose(float(rho.rho), float(cost.mu) ** 2 / 2, rel_tol=1e-9)


def test_a_sampled_plan_has_no_mu_without_a_delta_in_reserve():
    for budget in (GaussianDP(5, relation=ADD), ZCDP(5, relation=ADD), PureDP(5, relation=ADD)):
        with pytest.raises(ParameterError, match=r"reserve.*Nothing was spent"):
            for_target().under(budget)


def test_full_batches_are_charged_their_mu_and_rho():
    plan = made(sampler=FullBatch(), noise=IndependentNoise(10), steps=25)
    assert plan.under(GaussianDP(5)) == GaussianDP(0.5, relation=ADD)
    assert plan.under(ZCDP(5)) == ZCDP(0.125, relation=ADD)


def test_floating_point_noise_has_no_records_and_no_ledger():
    plan = for_target(noise=Float)
    assert not plan.exact
    assert plan.records == ()
    assert "not exact" in str(plan.explain())
    for budget in (ApproxDP(10, 1e-5), GaussianDP(9, 1e-5), ZCDP(9)):
        with pytest.raises(ParameterError, match=r"exact for a ledger.*Nothing was spent"):
            plan.under(budget)


def test_an_explanation_says_what_is_public_and_what_is_assumed():
    told = for_target(delta=1e-7).explain()
    assert list(told.epsilons) == [1e-5, 1e-6, 1e-7, 1e-8]
    assert told.epsilons[1e-7] <= 3
    assert list(told.epsilons.values()) == sorted(told.epsilons.values())
    assert told.epochs == 10
    assert told.deviation == pytest.approx(float(for_target(delta=1e-7).noise.scale) / 600)
    text = str(told)
    for words in ("row independence", "slot independence", "fewer than 268,435,456 people", "patient", "10 epochs"):
        assert words in text
    dropped = made(sampler=PoissonBatches(rate=0.01, overflow="drop", most_people=70_000)).explain()
    assert not any("slot" in one for one in dropped.assumptions)
    assert told.to_dict()["steps"] == 1000


def test_relations_by_name_and_their_refusal():
    assert made(relation="add/remove").relation is ADD
    with pytest.raises(RelationMismatch):
        made(relation=CHANGE)
    with pytest.raises(RelationMismatch):
        for_target(relation="change one")
    for relation in (None, Relation.UNSTATED, "neighbors"):
        with pytest.raises(MissingParameter, match="relation must say"):
            made(relation=relation)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"steps": 0}, "steps must be"),
        ({"steps": 2.0}, "steps must be"),
        ({"steps": True}, "steps must be"),
        ({"divisor": 0}, "divisor must be"),
        ({"divisor": None}, "divisor must be"),
        ({"unit": ""}, "unit is required"),
        ({"unit": None}, "unit is required"),
        ({"sampler": [1, 2]}, "sampler must be"),
        ({"sampler": OwnDraws(rate=0.01)}, "sampler must be"),
        ({"noise": OwnNoise(1.0)}, "noise must be"),
        ({"relation": np.zeros(2)}, "relation must"),
        ({"clip": 1.0}, "clip must be"),
        ({"noise": 1.0}, "noise must be"),
        ({"noise": IndependentNoise}, "noise must be"),
        ({"delta": 2}, "delta is a probability"),
        ({"sampler": CyclicPoisson(rate=0.1)}, "groups must be"),
    ],
)
def test_bad_plans_are_refused_in_one_sentence(changed, words):
    with pytest.raises(ParameterError, match=words) as problem:
        made(**changed)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("missing", ["sampler", "clip", "noise", "steps", "unit", "relation", "divisor"])
def test_nothing_that_decides_privacy_has_a_default(missing):
    given = {**PUBLIC, "sampler": POISSON, "noise": IndependentNoise(1.0), "steps": 10}
    del given[missing]
    with pytest.raises(TypeError, match=missing):
        Plan(**given)


def test_a_target_for_bins_may_have_a_delta_above_the_chance_of_one_bin():
    """In balls in bins everyone is drawn in every epoch, so a delta of 1 / bins is no licence to show who is."""
    plan = for_target(sampler=BallsInBins(steps_per_epoch=1000), steps=1000, epsilon=1, delta=1e-3)
    assert 0.99 < plan.epsilon(1e-3).upper <= 1
    with pytest.raises(ParameterError, match="nobody who is drawn is protected"):
        for_target(sampler=PoissonBatches(rate=1e-3), steps=1, epsilon=1, delta=1e-3)
    with pytest.raises(ParameterError, match="nobody who is drawn is protected"):
        for_target(sampler=BallsInBins(steps_per_epoch=1000), steps=1000, epsilon=1, delta=0.6)


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"delta": 0},
        {"delta": 1e-19},
        {"delta": 1.5},
        {"sampler": "poisson"},
        {"delta": 0.9},
    ],
)
def test_targets_that_no_noise_keeps_are_refused(changed):
    with pytest.raises(ParameterError):
        for_target(**changed)


def test_the_floor_of_plans_imports_no_torch():
    import subprocess
    import sys

    # discreet.learning brings scikit-learn, which takes a few seconds
    code = "import sys, discreet.learning.deep.plan; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


@pytest.mark.parametrize(
    "budget",
    [
        ApproxDP(3, 1e-6, relation=ADD),
        gaussian_budget(epsilon=6, delta=1e-5, reserve=1e-6).under(ADD),
        ZCDP(0.25, Fraction(1, 10**6), relation=ADD),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_ledger_takes_a_plan_once_and_not_a_second_time(budget):
    """Each budget has room for one training at (3, 1e-6), and none for two."""
    ledger = MemoryLedger(Terms(lineage="rows", unit="patient", budget=budget, caps={"ann": None}))
    plan = for_target()
    ledger.obtain(Request(analyst="ann", cost=plan.under(budget), digest="1" * 64, description="a training"))
    with pytest.raises(BudgetExceeded):
        ledger.obtain(Request(analyst="ann", cost=plan.under(budget), digest="2" * 64, description="a training"))


@pytest.mark.parametrize(
    "changed", [{"divisor": 1e308}, {"clip": Clip(5e-324)}, {"noise": IndependentNoise(1e-9), "divisor": 1e300}]
)
def test_plans_at_the_ends_of_floats_are_explained(changed):
    assert "weights" in str(made(steps=2, **changed).explain())


@pytest.mark.parametrize(
    ("noise", "named"),
    [
        (IndependentNoise(1.0), "a IndependentNoise"),
        (Banded, "the class Banded"),
        ("normal", "a str"),
        (float, "float"),
    ],
)
def test_a_target_takes_a_kind_of_noise_and_no_other_thing(noise, named):
    with pytest.raises(ParameterError, match=f"noise must be a kind of noise.*{named}"):
        Plan.for_target(
            epsilon=1,
            delta=1e-6,
            sampler=FullBatch(),
            clip=Clip(1.0),
            steps=4,
            unit="person",
            relation=Relation.ADD_REMOVE,
            divisor=10,
            noise=noise,
        )


def test_floating_point_noise_is_labelled_beside_each_epsilon():
    plan = Plan(
        sampler=FullBatch(),
        clip=Clip(1.0),
        noise=Float(2.0),
        steps=4,
        unit="person",
        relation=Relation.ADD_REMOVE,
        divisor=10,
        delta=1e-6,
    )
    prices = [line for line in str(plan.explain()).splitlines() if line.startswith("epsilon at delta")]
    assert len(prices) == 3
    assert all("not exact, no ledger accepts it" in line for line in prices)
