"""Logistic regression on cells: against quadrature, its coverage, and what it refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from discreet import Laplace, PureDP
from discreet.bayes import LogisticCells, Normal, PoissonCells, noisy_counts, posterior
from discreet.bayes.base import HalfNormal
from discreet.display import silent
from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.query import Session
from tests.bayes.regression.likelihoods.direct_sums import share_directly
from tests.chances import fewest, most

NOISE = Laplace(epsilon=0.5, sensitivity=1)
COUNTS = {("a", "yes"): 12, ("a", "no"): 41, ("b", "yes"): 33, ("b", "no"): 22}
KEYS = ["ward", "smoker"]
MODEL = LogisticCells(success=("smoker", "yes"))


def asked(counts=COUNTS, key=KEYS, noise=NOISE, table=""):
    return noisy_counts(counts, noise=noise, key=key, table=table)


def by_quadrature(means, deviations, likelihoods):
    """Return means, deviations and ln of the evidence of two coefficients by sums over a fine grid."""
    axis = np.linspace(-6, 6, 241)
    one, two = np.meshgrid(axis, axis, indexing="ij")
    logs = -0.5 * ((one - means) / deviations) ** 2 - 0.5 * ((two - means) / deviations) ** 2
    logs -= np.log(2 * np.pi * deviations**2)
    for predictor, likelihood in likelihoods(one, two):
        places = np.linspace(-12, 12, 481)
        logs += np.interp(predictor, places, likelihood(places))
    weights = np.exp(logs - logs.max())
    total = weights.sum()
    center = np.array([(weights * part).sum() / total for part in (one, two)])
    spread = np.sqrt([(weights * part**2).sum() / total - mid**2 for part, mid in zip((one, two), center, strict=True)])
    return center, spread, np.log(total * (axis[1] - axis[0]) ** 2) + logs.max()


@pytest.mark.theorem("LogisticCells.accuracy", "CellRegression.accuracy")
@pytest.mark.parametrize("people", [None, {"a": 50, "b": 57}])
@pytest.mark.parametrize("noise", [DiscreteLaplace(2), DiscreteGaussian(3)])
def test_the_posterior_is_that_of_quadrature_over_direct_sums(noise, people):
    """Seeded: within 5 Monte Carlo errors of 4,000 weighted draws, so that this passes always or never."""
    model = LogisticCells(success=("smoker", "yes"), coefficients=Normal(0, 1), intercept=Normal(0, 1), people=people)
    found = posterior(asked(noise=noise), model, seed=3)

    def likelihoods(one, two):
        sizes = people or {"a": None, "b": None}
        yield one, lambda places: share_directly(12, 41, noise, places, people=sizes["a"])
        yield one + two, lambda places: share_directly(33, 22, noise, places, people=sizes["b"])

    center, spread, evidence = by_quadrature(0.0, 1.0, likelihoods)
    draws = found.draws["coefficient"].reshape(-1, 2)
    assert np.abs(draws.mean(axis=0) - center).max() < 5 * spread.max() / np.sqrt(2000)
    assert draws.std(axis=0) == pytest.approx(spread, rel=0.08)
    assert found.log_evidence == pytest.approx(evidence, abs=0.05)
    assert found.draws["share"][..., 1] == pytest.approx(expit(found.draws["coefficient"].sum(axis=-1)))


def test_predictors_of_one_cell_alone_give_one_share():
    found = posterior(asked({"yes": 12, "no": 41}, key="smoker"), MODEL, seed=1)
    assert found.parameter("share").groups == ()
    assert found.draws["share"].shape == found.draws["coefficient"].shape[:2]


def test_a_noisy_total_of_each_cell_narrows_what_is_known():
    """Seeded. Yes and no at epsilon .05 say less than with totals at epsilon 1 beside them."""
    wide = DiscreteLaplace(20)
    coarse = asked(noise=wide, table="survey")
    totals = asked({"a": 53, "b": 55}, key="ward", noise=DiscreteLaplace(1), table="survey")
    model = LogisticCells(success=("smoker", "yes"), exhaustive=True)
    alone, both = posterior(coarse, model, seed=1), posterior([coarse, totals], model, seed=1)
    assert (both.draws["share"].std(axis=(0, 1)) < alone.draws["share"].std(axis=(0, 1))).all()


@pytest.mark.theorem("LogisticCells.accuracy")
def test_intervals_of_coefficients_cover_as_they_say(rounds):
    """One coefficient a run, in turn; each side fails by chance once in 1e9 runs. Sizes are unknown to the model."""
    runs = rounds(sample=12, full=1000)
    generator = np.random.default_rng()
    noise = DiscreteLaplace(2)
    keys = [(*group, side) for group in itertools.product("ab", "cd", "ef") for side in ("yes", "no")]
    model = LogisticCells(success=("y", "yes"), coefficients=Normal(0, 1), intercept=Normal(0, 1), rows_expected=50)
    plan = asked(dict.fromkeys(keys, 0), ["one", "two", "three", "y"], noise).plan
    held = 0
    for run in range(runs):
        truth = model.prior([plan], generator)
        (counts,) = model.integers(truth, [plan], generator)
        released = plan.measured((counts + noise.sample(counts.shape)).tolist(), (run,), NOISE.guarantee)
        draws = model.fit([released], generator=generator, progress=silent).draws["coefficient"].reshape(-1, 4)
        low, high = np.quantile(draws[:, run % 4], [0.025, 0.975])
        held += bool(low <= truth["coefficient"][run % 4] <= high)
    assert fewest(runs, 0.95) <= held <= most(runs, 0.95)


def test_answers_are_simulated_from_shares_and_sizes():
    model = LogisticCells(success=("smoker", "yes"), people={"a": 50, "b": 60})
    plans = [asked().plan, asked({"a": 53, "b": 55}, key="ward").plan]
    generator = np.random.default_rng(1)
    values = model.prior(plans, generator)
    assert values["coefficient"].shape == (2,)
    fine, coarse = model.integers(values, plans, generator)
    assert coarse.tolist() == [[50, 60]]
    assert (fine[0, 0::2] + fine[0, 1::2]).tolist() == [50, 60]


def test_answers_cannot_be_simulated_without_sizes():
    plans = [asked().plan]
    generator = np.random.default_rng(1)
    with pytest.raises(ParameterError, match="number of people of a cell must be stated"):
        MODEL.integers(MODEL.prior(plans, generator), plans, generator)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"success": ("cough", "yes")}, "success must name a key of the answer; got 'cough', the keys are 'ward', "),
        ({"success": ("smoker", "maybe")}, "success must be a value of 'smoker' that the answer lists; got 'maybe'"),
        ({"success": ("smoker", "yes"), "failure": "never"}, "failure must be a value of 'smoker'"),
        ({"success": ("smoker", "yes"), "failure": "yes"}, "failure must name the one other value"),
        ({"success": ("smoker", "yes"), "people": {"a": 50}}, "people must be a whole number above 0 for every group"),
        ({"success": ("smoker", "yes"), "people": 5.5}, "people must be a whole number above 0"),
        ({"success": ("smoker", "yes"), "numeric": ["age"]}, "must name predictors; got 'age'"),
    ],
)
def test_what_does_not_fit_the_answer_is_refused(stated, words):
    with pytest.raises(ParameterError, match=words):
        posterior(asked(), LogisticCells(**stated))


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"success": "smoker"}, "success must be the name of a key and a value of it; got str"),
        ({"success": ("smoker", "yes"), "coefficients": HalfNormal(1)}, "coefficients must be a proper normal law"),
        ({"success": ("smoker", "yes"), "intercept": None}, "intercept must be a proper normal law; got NoneType"),
        (
            {"success": ("smoker", "yes"), "numeric": "age"},
            r"numeric must list names of keys; got 'age', write \['age'",
        ),
    ],
)
def test_what_no_answer_could_fit_is_refused_at_once(stated, words):
    with pytest.raises(ParameterError, match=words):
        LogisticCells(**stated)


@pytest.mark.parametrize("deviation", [0, -1, float("inf"), float("nan"), None])
def test_improper_priors_cannot_be_stated(deviation):
    with pytest.raises(ParameterError, match="finite number above 0, so that it is proper"):
        Normal(0, deviation)


def test_one_side_alone_says_nothing_of_a_share():
    lonely = asked({("a", "yes"): 12, ("a", "no"): 41, ("b", "yes"): 33})
    with pytest.raises(InputError, match="a share needs counts of both sides, or one and the number of people"):
        posterior(lonely, MODEL)


def test_three_values_need_a_named_failure():
    three = asked({**COUNTS, ("a", "unknown"): 3, ("b", "unknown"): 4})
    with pytest.raises(ParameterError, match="got 2 values beside 'yes', write failure="):
        posterior(three, MODEL)
    named = LogisticCells(success=("smoker", "yes"), failure="no")
    assert posterior(three, named, seed=1).parameter("share").groups == (("a",), ("b",))


def test_totals_that_may_hold_others_and_totals_over_cells_are_refused():
    fine = asked(table="survey")
    by_ward = asked({"a": 53, "b": 55}, key="ward", table="survey")
    for other, model in (
        (by_ward, MODEL),
        (asked(108, table="survey"), LogisticCells(success=("smoker", "yes"), exhaustive=True)),
    ):
        with pytest.raises(InputError, match="a total over several cells, or one that also holds rows of no listed"):
            posterior([fine, other], model)


def test_exposures_belong_to_rates():
    with pytest.raises(ParameterError, match="exposures must be stated"):
        PoissonCells(intercept=Normal(0, 1))


def test_keys_are_told_apart_by_what_they_are_and_not_by_the_names_that_answers_give_them():
    frame = pd.DataFrame({"ward": ["a", "b"] * 40, "smoker": ["yes", "no", "no", "no"] * 20})
    columns = {"ward": {"values": ["a", "b"]}, "smoker": {"values": ["yes", "no"]}}
    asked = Session.from_frames(unit="row", budget=PureDP(90), lineage="trial", t=frame, columns=columns)
    by_both = asked.sql("SELECT ward, smoker, COUNT(*) AS n FROM t GROUP BY ward, smoker", epsilon=8)
    wards = asked.sql("SELECT ward AS smoker, COUNT(*) AS n FROM t GROUP BY ward", epsilon=8)
    swapped = asked.sql("SELECT smoker AS ward, ward AS smoker, COUNT(*) AS n FROM t GROUP BY smoker, ward", epsilon=9)
    model = LogisticCells(success=("smoker", "yes"), exhaustive=True)
    for others in ([by_both, wards], [wards, by_both], [by_both, swapped]):
        found = posterior(others, model, seed=1)
        assert found.parameter("share").groups == (("a",), ("b",))
        shares = found.draws["share"].mean(axis=(0, 1))
        assert 0.3 < shares[0] < 0.7  # 20 of 40 people, and none of 40; noise of 5 has a chance of e^-40
        assert shares[1] < 0.2
