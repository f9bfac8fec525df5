"""Count models from what was released: the refusals that help, the draws, and forward simulation."""

import math
import re

import numpy as np
import pytest

from discreet.bayes import posterior
from discreet.bayes.counts import (
    BetaBinomial,
    DirichletMultinomial,
    FlatPeople,
    NegativeBinomialPeople,
    PoissonGamma,
    PoissonPeople,
)
from discreet.bayes.evidence import LatentCounts, Observation, noisy_counts
from discreet.errors import InputError, ParameterError, SenselessParameter
from discreet.laws.noise import DiscreteLaplace, RoundedGaussian
from discreet.privacy import Relation
from discreet.statistics import Mean

NOISE = DiscreteLaplace(2)


def counts(of, **more):
    return noisy_counts(of, noise=NOISE, table="survey", **more)


AB = counts({("a", True): 61, ("a", False): 140, ("b", True): 95, ("b", False): 110}, key=["variant", "converted"])
VOTES = counts({"yes": 412, "no": 88}, key="answer")


def test_a_share_of_yes_and_no():
    found = posterior(VOTES, BetaBinomial(1, 1, success=("answer", "yes")), seed=1)
    (share,) = found.exact["share"]
    assert share.mean == pytest.approx(413 / 502, abs=0.005)
    assert [one.name for one in found.parameters] == ["share", "count", "people"]
    assert found.draws["share"].shape == (4, 1000)
    assert found.independent


def test_an_experiment_has_a_share_for_each_variant():
    found = posterior(AB, BetaBinomial(1, 1, success=("converted", True)), seed=1)
    assert found.parameters[0].groups == (("a",), ("b",))
    assert found.draws["share"].shape == (4, 1000, 2)
    better = (found.draws["share"][..., 1] > found.draws["share"][..., 0]).mean()
    first, second = found.exact["share"]
    normal = (second.mean - first.mean) / math.hypot(first.deviation, second.deviation)
    assert better == pytest.approx(0.5 * (1 + math.erf(normal / math.sqrt(2))), abs=0.02)


@pytest.mark.parametrize("key", ["a", ("a",)])
def test_a_public_number_of_people_for_each_group(key):
    yes = counts({"a": 61, "b": 95}, key="variant")
    found = posterior(yes, BetaBinomial(1, 1, people={key: 200, "b": 205}), seed=1)
    assert [law.mean for law in found.exact["share"]] == pytest.approx([62 / 202, 96 / 207], abs=0.002)
    assert [one.name for one in found.parameters] == ["share", "count"]


def test_fixed_seeds_give_equal_draws_and_others_do_not():
    model = BetaBinomial(1, 1, success=("answer", "yes"))
    first, again, other = (posterior(VOTES, model, seed=seed).draws["share"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_draws_have_the_exact_moments():
    """400 000 independent draws: 5 standard errors."""
    found = posterior(AB, BetaBinomial(2, 1, success=("converted", True)), seed=4)
    draws = found.drawn(1, 400_000)
    for name in ("share", "count", "people"):
        for place, law in enumerate(found.exact[name]):
            sample = draws[name][..., place]
            assert abs(sample.mean() - law.mean) <= 5 * law.deviation / 632
            assert sample.std() == pytest.approx(law.deviation, rel=0.02)


def test_every_draw_adds_up_to_the_public_number_of_people():
    rng = np.random.default_rng(2)
    truth = rng.multinomial(1000, np.full(100, 0.01))
    noisy = {f"c{j}": int(t) + int(z) for j, (t, z) in enumerate(zip(truth, rng.integers(-6, 7, 100), strict=True))}
    found = posterior(counts(noisy), DirichletMultinomial(1, people=1000), seed=3)
    assert (found.draws["count"].sum(axis=-1) == 1000).all()
    assert np.allclose(found.draws["share"].sum(axis=-1), 1)
    assert found.draws["count"].min() >= 0


def test_a_total_adds_a_cell_for_people_in_no_group_unless_there_are_none():
    total = counts(510)
    model = DirichletMultinomial(1)
    cells = posterior([VOTES, total], model, seed=1).parameters[0].groups
    assert cells == (("yes",), ("no",), ("(other)",))
    without = posterior([VOTES, total], DirichletMultinomial(1, exhaustive=True), seed=1)
    assert without.parameters[0].groups == (("yes",), ("no",))
    assert without.exact["people"][0].deviation < posterior(VOTES, model).exact["people"][0].deviation


def test_yes_and_a_total_are_yes_and_no():
    yes, total = counts({"yes": 412}, key="answer"), counts(500)
    found = posterior([yes, total], BetaBinomial(1, 1, success=("answer", "yes")), seed=1)
    assert found.exact["share"][0].mean == pytest.approx(0.82, abs=0.01)


def test_two_answers_about_one_count_are_narrower_than_one():
    again = counts({"yes": 415, "no": 85}, key="answer", release="second")
    first = counts({"yes": 412, "no": 88}, key="answer", release="first")
    model = BetaBinomial(1, 1, success=("answer", "yes"))
    both = posterior([first, again], model)
    assert both.exact["count"][0].deviation < 0.8 * posterior(first, model).exact["count"][0].deviation
    assert posterior([first, first], model).exact["count"][0].deviation == pytest.approx(
        posterior(first, model).exact["count"][0].deviation, rel=1e-12
    )


def test_rates_of_groups_with_exposures():
    events = counts({"north": 40, "south": 3}, key="region")
    found = posterior(events, PoissonGamma(shape=1, rate=0.1, exposures={"north": 10, "south": 2}), seed=1)
    north, south = found.exact["rate"]
    assert (north.mean, south.mean) == pytest.approx((4.06, 1.9), abs=0.15)
    assert found.draws["rate"].shape == (4, 1000, 2)
    alone = posterior(counts(17), PoissonGamma(1, 1))
    assert alone.draws["rate"].shape == (4, 1000)


@pytest.mark.parametrize(
    "model",
    [
        lambda: BetaBinomial(0, 1),
        lambda: BetaBinomial(1, -2.0),
        lambda: BetaBinomial(float("nan"), 1),
        lambda: BetaBinomial(1, float("inf")),
        lambda: BetaBinomial(1, True),
        lambda: BetaBinomial("1", 1),
        lambda: PoissonGamma(0, 1),
        lambda: PoissonGamma(1, 0),
        lambda: DirichletMultinomial(0),
        lambda: DirichletMultinomial({"a": 1, "b": 0}),
        lambda: NegativeBinomialPeople(10, 0),
        lambda: PoissonPeople(float("inf")),
    ],
)
def test_an_improper_prior_is_refused(model):
    with pytest.raises(ParameterError, match="must be a number greater than 0, or the prior is improper"):
        model()


@pytest.mark.parametrize("people", [-1, 10.0, "10", True, float("nan")])
def test_people_are_a_whole_number(people):
    with pytest.raises(ParameterError, match="people must be an int of at least 0, a prior"):
        BetaBinomial(1, 1, people=people)
    with pytest.raises(ParameterError, match="people must be an int of at least 0, a prior"):
        DirichletMultinomial(1, people=people)
    with pytest.raises(ParameterError, match="people must be an int of at least 0, a prior"):
        BetaBinomial(1, 1, people={"a": people})


@pytest.mark.parametrize("people", [None, FlatPeople()])
def test_one_cell_and_an_unknown_number_of_people_is_improper(people):
    with pytest.raises(InputError, match=r"ask COUNT\(\*\) too, state people=, or give a proper prior"):
        posterior(counts(40), BetaBinomial(1, 1, people=people))
    with pytest.warns(SenselessParameter, match="driven by the prior") as warned:
        found = posterior(counts(40), BetaBinomial(3, 2, people=people), seed=1)
    assert {one.filename for one in warned} == {__file__}
    assert found.exact["share"][0].mean == pytest.approx(0.5)
    assert any("driven by the prior" in note for note in found.notes)
    assert (found.draws["people"] >= found.draws["count"]).all()


def test_one_cell_with_people_or_a_prior_of_them_is_proper():
    assert posterior(counts(40), BetaBinomial(1, 1, people=100)).exact["share"][0].mean == pytest.approx(0.4, abs=0.01)
    assert posterior(counts(40), BetaBinomial(1, 1, people=NegativeBinomialPeople(100, 50))).exact["people"]


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (BetaBinomial(1, 1), "success must say which groups"),
        (BetaBinomial(1, 1, people=500), "success must say which groups"),
        (BetaBinomial(1, 1, success=("reply", "yes")), "success must name a key of the answer"),
        (
            BetaBinomial(1, 1, success=("answer", "maybe")),
            "success must name a value of .answer. that the answer lists; got .maybe., write one of .yes., .no.",
        ),
        (BetaBinomial(1, 1, success="yes"), "success must be a pair"),
        (BetaBinomial(1, 1, people={"yes": 500}), "people must name every group"),
        (BetaBinomial(1, 1, people={"yes": 500, "no": 5, "north": 3}), "people must name groups of the answer"),
        (BetaBinomial(1, 1, people=9000, success=("answer", "yes")), "cannot reach"),
        (DirichletMultinomial(1, people=9000), "cannot reach"),
        (DirichletMultinomial({"yes": 1}), "concentration must name every group"),
        (PoissonGamma(1, 1, exposures={"yes": 1}), "exposures must name every group"),
        (PoissonGamma(1, 1, exposures={"yes": 1, "no": 1, "x": 2}), "exposures must name groups of the answer"),
        (DirichletMultinomial({"yes": 1, "no": 1, "x": 2}), "concentration must name groups of the answer"),
    ],
)
def test_what_does_not_fit_the_answer_is_refused_with_what_to_write(model, says):
    with pytest.raises((InputError, ParameterError), match=says):
        posterior(VOTES, model)


def test_a_value_read_off_a_frame_is_the_value_of_the_key():
    plain, read = (posterior(AB, BetaBinomial(1, 1, success=("converted", value))) for value in (True, np.True_))
    assert (plain.interval("share").low == read.interval("share").low).all()


@pytest.mark.parametrize("people", [70, PoissonPeople(70)])
def test_the_people_of_groups_that_are_not_shown_are_not_among_those_stated(people):
    seen = LatentCounts(
        ("city",), (("a",), ("b",)), tuple(Observation((j,), 30, DiscreteLaplace(2)) for j in (0, 1)), listed=False
    )
    with pytest.raises(InputError, match="people must be left out where keys are private"):
        DirichletMultinomial(1, people=people).posterior_of(seen, generator=np.random.default_rng(1))


@pytest.mark.parametrize("people", [{"north": 220, "south": 90}, PoissonPeople(200), None])
def test_a_yes_whose_no_was_not_named_is_refused(people):
    """Of 220 people, no below a threshold of 110: chance .17 if 100 say yes, .81 if 120 do, so it is evidence."""
    latent = LatentCounts(
        ("region", "ill"),
        (("south", "y"), ("south", "n"), ("north", "y")),
        tuple(Observation((j,), z, DiscreteLaplace(10)) for j, z in enumerate((40, 50, 112))),
        listed=False,
    )
    model = BetaBinomial(2, 1, people=people, success=("ill", "y"))
    with pytest.raises(InputError, match="no was not named"):
        model.posterior_of(latent, generator=np.random.default_rng(1))
    both = LatentCounts(latent.key_names, latent.cells[:2], latent.observations[:2], listed=False)
    alone = BetaBinomial(2, 1, people={"south": 90}, success=("ill", "y"))
    assert alone.posterior_of(both, generator=np.random.default_rng(1)).mean("count")[0] == pytest.approx(40, abs=5)


def test_a_tiny_prior_of_the_others_is_kept_beside_many_people():
    exact = noisy_counts(10**9, noise=DiscreteLaplace(0.01))
    (share,) = posterior(exact, BetaBinomial(1, 1e-3, people=10**9)).marginals("share")
    assert share.second[-1] == 1e-3
    two = noisy_counts({"a": 5, "b": 3}, noise=DiscreteLaplace(0.01))
    shares = posterior(two, DirichletMultinomial({"a": 1e6, "b": 1e-3}, people=8)).marginals("share")
    assert shares[0].second.tolist() == [3.001]


def test_one_number_of_people_for_several_groups_is_refused():
    with pytest.raises(ParameterError, match="people must say how many there are in each group"):
        posterior(AB, BetaBinomial(1, 1, people=400, success=("converted", True)))


def test_an_empty_mapping_is_refused():
    with pytest.raises(ParameterError, match="people must name at least one group"):
        BetaBinomial(1, 1, people={})


def test_three_values_are_not_yes_and_no():
    three = counts({"yes": 41, "no": 20, "perhaps": 7}, key="answer")
    with pytest.raises(ParameterError, match="write DirichletMultinomial for more than two values"):
        posterior(three, BetaBinomial(1, 1, success=("answer", "yes")))


def test_a_mean_is_not_a_count():
    ages = Mean(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1)
    measured = ages.measurements(ages.release([30.0] * 100))
    with pytest.raises(InputError, match="count"):
        posterior(measured, DirichletMultinomial(1, people=100))


@pytest.mark.parametrize(
    "model",
    [
        BetaBinomial(2, 1, people={"a": 300, "b": 10}, success=("converted", True)),
        BetaBinomial(2, 1, people=PoissonPeople(40), success=("converted", True)),
        PoissonGamma(2, 1, exposures=3),
        DirichletMultinomial(0.5, people=70),
        DirichletMultinomial(0.5, people=NegativeBinomialPeople(70, 3)),
    ],
)
def test_the_model_draws_what_its_posterior_is_about(model):
    rng = np.random.default_rng(8)
    plans = [AB.plan, counts(1).plan] if not isinstance(model, BetaBinomial) else [AB.plan]
    released = AB if len(plans) == 1 else [AB, counts(400)]
    if isinstance(model, DirichletMultinomial) and model.people == 70:
        released = [counts(dict.fromkeys(AB.plan.keys, 18), key=["variant", "converted"]), counts(70)]
    elif isinstance(model, BetaBinomial) and isinstance(model.people, dict):
        small = {("a", True): 61, ("a", False): 240, ("b", True): 5, ("b", False): 5}
        released = counts(small, key=["variant", "converted"])
    values = model.prior(plans, rng)
    found = posterior(released, model, seed=1)
    assert set(values) == {one.name for one in found.parameters} == set(found.draws)
    for name, array in values.items():
        assert np.shape(array) == found.draws[name].shape[2:]
    integers = model.integers(values, plans, rng)
    assert [one.shape for one in integers] == [(1, len(plan.keys)) for plan in plans]
    again = model.integers(values, plans, rng)
    assert all(np.array_equal(one, other) for one, other in zip(integers, again, strict=True))
    if "people" in values:
        assert integers[0].sum() <= np.sum(values["people"])
    else:
        assert integers[0].min() >= 0


def test_a_flat_number_of_people_cannot_be_drawn():
    with pytest.raises(ParameterError, match="write people=1000"):
        DirichletMultinomial(1).prior([VOTES.plan], np.random.default_rng(1))
    with pytest.raises(ParameterError, match="write people=1000"):
        BetaBinomial(1, 1, success=("answer", "yes")).prior([VOTES.plan], np.random.default_rng(1))


@pytest.mark.parametrize("released", [2**39, -(2**39)])
def test_huge_released_integers(released):
    """More people than evidence lets through: the sums themselves have no limit."""
    law = RoundedGaussian(2)
    seen = LatentCounts(("k",), (("a",), ("b",)), (Observation((0,), released, law), Observation((1,), 5, law)))
    count = PoissonGamma(1, 1e-30).posterior_of(seen, generator=np.random.default_rng(1)).drawn(1, 10)["count"]
    assert abs(int(count[0, 0, 0]) - max(released, 0)) < 50


def test_an_answer_that_no_count_explains_keeps_a_window():
    """Z = -400 at scale 2: every count is far off, and 0 is the least so."""
    law = posterior(counts(-400), BetaBinomial(1, 1, people=100)).exact["count"][0]
    assert law.quantile(0.5) <= 2
    assert law.pmf(1) / law.pmf(0) == pytest.approx(math.exp(-0.5), rel=1e-9)


def test_noise_far_wider_than_a_public_number_of_people_leaves_the_prior():
    released = noisy_counts(3, noise=DiscreteLaplace(10**7))
    found = posterior(released, BetaBinomial(2, 1, people=10**6))
    counts = np.arange(10**6 + 1)
    weights = (counts + 1.0) * np.exp(-np.abs(counts - 3) / 1e7)  # Beta(2, 1): every count t has t + 1
    assert found.mean("count") == pytest.approx(float(weights @ counts / weights.sum()), rel=1e-10)


def test_a_total_that_ties_shares_together_is_refused_with_what_rows_it_also_counts():
    law = DiscreteLaplace(2)
    cells = noisy_counts(
        {("a", "yes"): 12, ("a", "no"): 41, ("b", "yes"): 33, ("b", "no"): 22},
        noise=law,
        key=["arm", "answer"],
        table="t",
    )
    arms = noisy_counts({"a": 53, "b": 57}, noise=law, key="arm", table="t")
    answers = noisy_counts({"yes": 45, "no": 63}, noise=law, key="answer", table="t")
    model = BetaBinomial(1, 1, success=("answer", "yes"))
    with pytest.raises(ParameterError, match=r"NULL or not declared.*exhaustive=True if you know"):
        posterior([cells, arms], model)
    with pytest.raises(InputError, match="total of yes over groups whose numbers of people are unknown"):
        posterior([cells, answers], BetaBinomial(1, 1, success=("answer", "yes"), exhaustive=True))


def test_success_is_shown_with_a_value_of_the_answer():
    with pytest.raises(ParameterError, match=re.escape("write success=(\"answer\", 'yes') if these are a yes")):
        posterior(VOTES, BetaBinomial(1, 1))
