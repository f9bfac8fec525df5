"""The normal model: calibrated with clipping and n unknown, and it refuses what it cannot say."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.bayes.base import HalfNormal, LogNormal, Normal
from discreet.bayes.sums import NormalModel
from discreet.bayes.sums.skewness import left_over_skewness, skewness_note
from discreet.display import silent
from discreet.errors import InputError, NotConverged, ParameterError
from discreet.privacy import PureDP, Relation
from discreet.statistics import Count, Mean, Sum, Variance
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import Counts, MeasurementPlan, PowerSums, Source
from tests.conftest import Rounds

# little noise, so that the rest shows
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
MODEL = NormalModel(mean=Normal(50, 20), deviation=LogNormal(20, 0.5), people=LogNormal(1000, 0.4))
MODEL_WITHOUT_PEOPLE = NormalModel(mean=Normal(50, 20), deviation=LogNormal(20, 0.5))


class Unclipped(NormalModel):
    """The same model without clipping in its moments."""

    def _likelihood(self, likelihood):
        return dataclasses.replace(likelihood, clipped=False)


def released(statistics, values, **words):
    words = {"table": "survey", "column": "age", **words}
    found = []
    for statistic in statistics:
        public = statistic.public_rows(values)
        found += statistic.measurements(statistic.release(values), public_rows=public, **words)
    return found


def fitted(model, measurements, seed=1):
    return model.fit(measurements, generator=np.random.default_rng(seed), progress=silent)


def rows(count=1000, mean=60.0, deviation=25.0, seed=3):
    return np.random.default_rng(seed).normal(mean, deviation, count)


def simulated(model, statistic, generator):
    """Draw parameters, rows and real noise; return the parameters and the measurement."""
    (plan,) = statistic.plans(table="survey", column="age")
    values = model.prior([plan], generator)
    (integers,) = model.integers(values, [plan], generator)
    noise = plan.noise.sample(integers.shape)
    noisy = [[int(x) + int(e) for x, e in zip(*pair, strict=True)] for pair in zip(integers, noise, strict=True)]
    return values, plan.measured(noisy, ("survey", 1, 0), statistic.guarantee)


@pytest.mark.theorem("NormalModel.accuracy")
@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 1}])
def test_intervals_cover_what_was_drawn_from_the_prior(rounds: Rounds, price):
    # a parameter is missed by 9 of 10 intervals with a chance below 1e-10, by 100 of 1000, or 10, below 1e-10 each
    count = rounds(sample=10, full=1000)
    generator = np.random.default_rng(7)
    statistic = Variance(bounds=(0, 100), relation=ADD, **price)
    misses = dict.fromkeys(("mean", "deviation"), 0)
    for _ in range(count):
        values, measurement = simulated(MODEL, statistic, generator)
        posterior = MODEL.fit([measurement], generator=generator, progress=silent)
        for name in misses:
            low, high = np.quantile(posterior.draws[name], (0.025, 0.975))
            misses[name] += not low <= values[name] <= high
    assert max(misses.values()) <= (8 if count == 10 else 100)
    assert count == 10 or min(misses.values()) >= 10


def test_without_clipping_the_model_is_sure_of_the_wrong_spread():
    # mean 90 of bounds 0..100: a third of the rows lie on a bound
    measurements = released([Variance(bounds=(0, 100), relation=ADD, rho=50)], rows(4000, 90.0, 25.0))
    aware = fitted(dataclasses.replace(MODEL, people=None), measurements).draws["deviation"]
    naive = fitted(Unclipped(mean=MODEL.mean, deviation=MODEL.deviation), measurements).draws["deviation"]
    assert np.quantile(aware, 0.0005) < 25.0 < np.quantile(aware, 0.9995)
    assert naive.max() < 23


@pytest.mark.parametrize("price", [{"rho": 2}, {"epsilon": 3}])
def test_an_average_with_a_proper_prior_of_the_spread_is_read(price):
    posterior = fitted(
        dataclasses.replace(MODEL, people=None),
        released([Mean(bounds=(0, 100), relation=ADD, **price)], rows()),
    )
    assert posterior.draws["mean"].mean() == pytest.approx(60, abs=8)
    assert posterior.draws["people"].mean() == pytest.approx(1000, abs=60)
    assert posterior.log_evidence is None
    # the spread comes from the prior, nearly
    assert np.log(posterior.draws["deviation"]).std() > 0.25


def test_a_sum_with_a_count_is_read_once_every_row_is_said_to_have_a_value():
    values = rows()
    measurements = [
        *released([Sum(bounds=(0, 100), relation=ADD, epsilon=1)], values),
        *released([Count(relation=ADD, epsilon=1)], values, column="age"),
    ]
    model = dataclasses.replace(MODEL, people=None, complete=True)
    posterior = fitted(model, measurements)
    assert posterior.draws["people"].mean() == pytest.approx(1000, abs=30)
    with pytest.raises(InputError, match="complete=True"):
        fitted(dataclasses.replace(model, complete=False), measurements)


def test_a_public_number_of_values_is_no_unknown():
    statistic = Mean(bounds=(0, 100), relation=CHANGE, epsilon=1, missing=0)
    posterior = fitted(dataclasses.replace(MODEL, people=None), released([statistic], rows()))
    assert set(posterior.draws) == {"mean", "deviation"}
    assert posterior.log_evidence is not None
    with pytest.raises(ParameterError, match="left out where the release makes it public"):
        fitted(dataclasses.replace(MODEL, people=999), released([statistic], rows()))


def test_every_group_has_a_law_of_its_own():
    statistic = Variance(bounds=(0, 100), relation=ADD, rho=2)
    plans = [statistic.plans(table="survey", column="age")[0]]
    grouped = dataclasses.replace(
        plans[0], key_names=("ward",), keys=(("a",), ("b",)), source=Source(lineage="survey", keys=("ward",))
    )
    values = {"mean": np.array([30.0, 70.0]), "deviation": np.array([10.0, 20.0]), "people": np.array([900, 1200])}
    (integers,) = MODEL.integers(values, [grouped], np.random.default_rng(1))
    assert integers.shape == (3, 2)
    posterior = fitted(MODEL, [grouped.measured(integers, ("survey", 1, 0), PureDP(1))])
    assert posterior.parameter("mean").groups == (("a",), ("b",))
    assert posterior.draws["mean"].shape == (4, 1000, 2)
    assert np.allclose(posterior.draws["mean"].mean(axis=(0, 1)), [30, 70], atol=4)
    assert MODEL.prior([grouped], np.random.default_rng(2))["mean"].shape == (2,)


def test_two_releases_about_one_column_are_sharper_than_one():
    values = rows()
    one = released([Variance(bounds=(0, 100), relation=ADD, rho=0.002)], values)
    two = one + released([Mean(bounds=(0, 100), relation=ADD, rho=20)], values)
    model = dataclasses.replace(MODEL, people=None)
    assert fitted(model, two).draws["mean"].std() < fitted(model, one).draws["mean"].std()


def test_rows_are_simulated_as_the_release_counts_them():
    statistic = Variance(bounds=(0, 100), relation=ADD, rho=1)
    (plan,) = statistic.plans(table="survey", column="age")
    values = {"mean": np.array(60.0), "deviation": np.array(25.0), "people": np.array(500)}
    (integers,) = MODEL.integers(values, [plan], np.random.default_rng(5))
    same = np.random.default_rng(5).normal(60.0, 25.0, 500)
    assert integers[:, 0].tolist() == list(statistic.measure(same))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mean": 5}, "mean must be a proper prior"),
        ({"deviation": Normal(20, 5000)}, "prior on positive numbers"),
        ({"people": 0}, "from 1 to 10\\^12, .*; got 0"),
        ({"people": True}, "from 1 to 10\\^12, .*; got True"),
        ({"people": 1.5}, "from 1 to 10\\^12, .*; got 1.5"),
    ],
)
def test_what_is_no_prior_is_refused_by_name(change, words):
    with pytest.raises(ParameterError, match=words):
        dataclasses.replace(MODEL, **change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mean": Normal(300, 20)}, "mostly within the bounds 0 to 100"),
        ({"deviation": HalfNormal(1000)}, "mostly below the distance of the bounds, 100"),
    ],
)
def test_a_prior_outside_of_the_bounds_is_refused(change, words):
    measurements = released([Variance(bounds=(0, 100), relation=ADD, rho=1)], rows())
    with pytest.raises(ParameterError, match=words):
        fitted(dataclasses.replace(MODEL, **change), measurements)


def test_an_unknown_number_that_nothing_tells_is_refused():
    measurements = released([Sum(bounds=(0, 100), relation=ADD, epsilon=1)], rows())
    with pytest.raises(ParameterError, match="where no released sums tell it"):
        fitted(dataclasses.replace(MODEL, people=None), measurements)
    stated = fitted(dataclasses.replace(MODEL, people=LogNormal(1000, 0.05)), measurements)
    assert 30 < stated.draws["people"].std() < 60
    plans = Variance(bounds=(0, 100), relation=ADD, rho=1).plans(table="survey", column="age")
    with pytest.raises(ParameterError, match="proper prior where tables are drawn"):
        dataclasses.replace(MODEL, people=None).prior(plans, np.random.default_rng(1))


def power_plan(**change):
    sums = PowerSums("age", FixedPoint(0, 1000, 1), ((0, 1, 0),))
    plan = MeasurementPlan("SUM", (), ((),), sums, Variance(bounds=(0, 1), relation=ADD, rho=1).mechanism.noise)
    return dataclasses.replace(plan, **change)


@pytest.mark.parametrize(
    ("plans", "words"),
    [
        ([power_plan(adds_up=Counts("rows"))], "needs a noisy sum"),
        ([power_plan(adds_up=PowerSums("age", FixedPoint(0, 1000, 1), ((0, 1, 0),), once=False, why="why"))], "why"),
        ([power_plan(), power_plan(adds_up=PowerSums("pay", FixedPoint(0, 1000, 1), ((0, 1, 0),)))], "one column"),
        ([power_plan(), power_plan(adds_up=PowerSums("age", FixedPoint(0, 500, 1), ((0, 1, 0),)))], "same bounds"),
        ([power_plan(), power_plan(source=Source(rows="other"))], "same rows in the same groups"),
        ([power_plan(), power_plan(source=Source(bounding="other"))], "bounded in different ways"),
        ([power_plan(source=Source(listed=False))], "private keys"),
        ([power_plan(adds_up=PowerSums("age", FixedPoint(0, 10, 1), ((0, 1, 0),)))], "at least 100 steps"),
    ],
)
def test_sums_that_do_not_fit_are_refused(plans, words):
    measurements = [plan.measured([[1]], ("r", place), PureDP(1)) for place, plan in enumerate(plans)]
    model = NormalModel(mean=Normal(5, 2), deviation=HalfNormal(2), people=1000)
    if "bounds" not in words and "steps" not in words:
        model = NormalModel(mean=Normal(500, 200), deviation=HalfNormal(200), people=1000)
    with pytest.raises((InputError, ParameterError), match=words):
        fitted(model, measurements)


def test_few_rows_and_little_noise_are_refused_and_noted_in_between():
    statistic = Variance(bounds=(0, 100), relation=ADD, rho=5000)
    model = NormalModel(mean=Normal(50, 20), deviation=LogNormal(20, 0.5))
    with pytest.raises(InputError, match="DataAugmentation"):
        fitted(model, released([statistic], np.array([*[2.0] * 11, 95.0])))
    noted = fitted(model, released([statistic], rows(40, 50.0, 22.0)))
    assert noted.notes == () or "skewness" in noted.notes[0]


def test_the_skewness_left_is_that_of_the_noisy_sum():
    coin, chance, people, noise = np.array([[0.0], [1.0]]), 0.1, 50, 9.0
    variance = chance * (1 - chance)
    exact = people * variance * (1 - 2 * chance) / (people * variance + noise) ** 1.5
    found = left_over_skewness(coin, np.array([1 - chance, chance]), people, np.array([noise]))
    assert found == pytest.approx(exact)
    rng = np.random.default_rng(1)
    sums = rng.binomial(people, chance, 400_000) + rng.normal(0, 3, 400_000)
    assert found == pytest.approx(float(((sums - sums.mean()) ** 3).mean() / sums.std() ** 3), abs=0.02)
    assert skewness_note(0.0) is None
    assert "0.20" in str(skewness_note(0.2))
    assert math.isfinite(found)


def test_a_model_that_puts_much_beyond_the_bounds_says_so_and_one_within_them_does_not():
    costs = np.exp(np.random.default_rng(5).normal(0.0, 1.0, 20_000))  # skewed, and never below 0
    model = NormalModel(mean=Normal(2, 1), deviation=HalfNormal(3))
    statistic = Variance(bounds=(0, 7), relation=ADD, rho=1)
    (note,) = fitted(model, released([statistic], costs)).notes
    assert "beyond the bounds" in note
    inside = released([Variance(bounds=(0, 100), relation=ADD, rho=1)], rows(20_000, 50, 10))
    assert fitted(MODEL_WITHOUT_PEOPLE, inside).notes == ()


def test_a_mean_alone_that_does_not_converge_names_the_variance(monkeypatch):
    given = {}

    def failing(_joint, *, advice="", **_words):
        given["advice"] = advice
        raise NotConverged(advice)

    monkeypatch.setattr("discreet.bayes.sums.normal_model.sampled", failing)
    for statistic, names in (
        (Mean(bounds=(0, 100), relation=ADD, rho=1), True),
        (Variance(bounds=(0, 100), relation=ADD, rho=1), False),
    ):
        with pytest.raises(NotConverged):
            fitted(MODEL_WITHOUT_PEOPLE, released([statistic], rows()))
        assert ("VARIANCE(x)" in given["advice"]) is names
