"""The linear model: its likelihood against simulated tables, its calibration, and what it refuses."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from discreet.bayes.base import HalfNormal, LogNormal, Normal
from discreet.bayes.sums import LinearModel, NormalModel
from discreet.bayes.sums.correlations import correlation_root, log_correlations, partial_correlations
from discreet.bayes.sums.gram_likelihood import GramLikelihood
from discreet.display import silent
from discreet.errors import InputError, NotConverged, ParameterError
from discreet.privacy import PureDP, Relation
from discreet.statistics import Covariance, Variance
from tests.conftest import Rounds

# little noise, so that the rest shows
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")

ADD = Relation.ADD_REMOVE
NAMES = "one,x,z,y"
BOX = [(-1, 1), (-6, 6), (-6, 6), (-24, 24)]
MODEL = LinearModel(
    outcome="y",
    constant="one",
    coefficients=Normal(0, 1),
    intercept=Normal(0, 1),
    deviation=LogNormal(1, 0.4),
    means=Normal(0, 0.5),
    deviations=LogNormal(1, 0.15),
    people=1000,
)


def statistic(**price):
    return Covariance(bounds=BOX, relation=ADD, **(price or {"rho": 20}))


def simulated(model, covariance, generator):
    (plan,) = covariance.plans(table="survey", column=NAMES)
    values = model.prior([plan], generator)
    (integers,) = model.integers(values, [plan], generator)
    noisy = [
        [int(x) + int(e) for x, e in zip(*pair, strict=True)]
        for pair in zip(integers, plan.noise.sample(integers.shape), strict=True)
    ]
    return values, plan.measured(noisy, ("survey", 1, 0), covariance.guarantee)


def fitted(model, measurements, seed=1):
    return model.fit(measurements, generator=np.random.default_rng(seed), progress=silent)


def table(count=1000, seed=2):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(0.3, 1.0, count), rng.normal(-0.2, 1.1, count)
    return np.column_stack([np.ones(count), x, z, 0.5 + 1.5 * x - 0.7 * z + rng.normal(0, 0.8, count)])


@pytest.mark.theorem("LinearModel.accuracy")
def test_intervals_cover_what_was_drawn_from_the_prior(rounds: Rounds):
    # a parameter is missed by 9 of 10 intervals with a chance below 1e-10, by 100 of 1000, or 10, below 1e-10 each
    count = rounds(sample=10, full=1000)
    generator, misses = np.random.default_rng(11), np.zeros(4, dtype=int)
    for _ in range(count):
        values, measurement = simulated(MODEL, statistic(), generator)
        draws = MODEL.fit([measurement], generator=generator, progress=silent).draws
        drawn = np.concatenate([draws["coefficient"], draws["deviation"][..., np.newaxis]], axis=2)
        low, high = np.quantile(drawn, (0.025, 0.975), axis=(0, 1))
        truth = np.append(values["coefficient"], values["deviation"])
        misses += (truth < low) | (truth > high)
    assert misses.max() <= (8 if count == 10 else 100)
    assert count == 10 or misses.min() >= 10


def test_with_little_noise_the_posterior_is_that_of_least_squares():
    rows = table()
    covariance = statistic(rho=2e5)
    measurements = covariance.measurements(covariance.release(rows), table="survey", column=NAMES)
    posterior = fitted(MODEL, measurements)
    design, outcome = rows[:, :3], rows[:, 3]
    best, *_ = np.linalg.lstsq(design, outcome, rcond=None)
    left = outcome - design @ best
    errors = np.sqrt(np.diagonal(np.linalg.inv(design.T @ design)) * left.var())
    assert np.abs((posterior.draws["coefficient"].mean(axis=(0, 1)) - best) / errors).max() < 0.35
    assert np.allclose(posterior.draws["coefficient"].std(axis=(0, 1)) / errors, 1, atol=0.2)
    assert posterior.draws["deviation"].mean() == pytest.approx(left.std(), rel=0.03)
    assert posterior.parameter("coefficient").groups == (("(intercept)",), ("x",), ("z",))
    assert posterior.parameter("correlation").groups == (("x", "z"),)


def test_means_and_covariances_of_the_entries_are_those_of_rows():
    rng = np.random.default_rng(3)
    covariance = statistic()
    (plan,) = covariance.plans(table="survey", column=NAMES)
    likelihood = GramLikelihood.of([plan.measured([[0]] * 11, ("r", 0), PureDP(1))], ("x", "z", "y"), "one")
    mean, root = rng.normal(0, 0.2, 3), np.tril(rng.normal(0, 0.2, (3, 3)))
    expected, factor = likelihood._moments(mean[:, np.newaxis], root[:, :, np.newaxis])
    rows = mean + rng.standard_normal((400_000, 3)) @ root.T
    entries = likelihood.row_entries(rows)
    unit = entries.std(axis=0)
    varying = unit > 1e-12 * np.abs(entries).max()
    assert np.allclose(((expected[:, 0] - entries.mean(axis=0)) / np.where(varying, unit, 1))[varying], 0, atol=0.01)
    spread = factor[:, :, 0] @ factor[:, :, 0].T
    sampled = np.cov(entries.T)
    assert (
        np.abs((spread - sampled)[np.ix_(varying, varying)] / np.outer(unit, unit)[np.ix_(varying, varying)]).max()
        < 0.05
    )


def test_the_entries_are_the_sums_that_are_released():
    rows = table(50)
    covariance = statistic()
    (plan,) = covariance.plans(table="survey", column=NAMES)
    likelihood = GramLikelihood.of([plan.measured([[0]] * 11, ("r", 0), PureDP(1))], ("x", "z", "y"), "one")
    positions = (rows[:, 1:] - likelihood.center) / likelihood.halves
    exact = np.array([int(one) for one in covariance.measure(rows)], dtype=float) / float(plan.noise.scale)
    assert np.allclose(likelihood.row_entries(positions).sum(axis=0), exact, rtol=1e-9, atol=1e-9)


def test_laplace_noise_is_a_normal_with_a_random_variance():
    covariance = Covariance(bounds=BOX[:3], relation=ADD, epsilon=20)
    (plan,) = covariance.plans(table="survey", column="one,x,y")
    rng = np.random.default_rng(4)
    mean, root, people = np.array([0.1, 0.2]), np.array([[0.2, 0.0], [0.1, 0.15]]), 400
    scale = float(plan.noise.scale)
    probe = GramLikelihood.of([plan.measured([[0]] * 7, ("r", 0), PureDP(1))], ("x", "y"), "one")
    tables = np.stack(
        [probe.row_entries(mean + rng.standard_normal((people, 2)) @ root.T).sum(axis=0) for _ in range(4000)]
    )
    released = tables[0] + np.array([0.5, -1, 0.2, 1.5, -0.3, 0.1, 0.8])
    likelihood = dataclasses.replace(probe, released=released)
    heights = -np.abs(released - tables).sum(axis=1) - 7 * math.log(2 * scale)
    mixing = np.log(rng.standard_exponential((40_000, 7)))
    found = likelihood.at(
        np.tile(mean[:, np.newaxis], 40_000), np.tile(root[:, :, np.newaxis], 40_000), np.full(40_000, 400.0), mixing
    )
    top = heights.max()
    one, other = np.exp(heights - top), np.exp(found - top)
    error = math.hypot(one.std() / one.mean() / math.sqrt(4000), other.std() / other.mean() / 200)
    assert likelihood.latent == 7
    assert math.log(other.mean() / one.mean()) == pytest.approx(0, abs=5 * error + 0.01)


def test_the_number_of_rows_follows_from_the_constant_column():
    covariance = statistic()
    (plan,) = covariance.plans(table="survey", column=NAMES)
    exact = [[int(one)] for one in covariance.measure(table(800))]
    told = GramLikelihood.of([plan.measured(exact, ("r", 0), PureDP(1))], ("x", "z", "y"), "one").people()
    assert told is not None
    assert told[0] == pytest.approx(800, abs=1e-6)


def test_correlations_are_flat_over_matrices():
    rng = np.random.default_rng(5)
    root = correlation_root(2, partial_correlations(2, 100_000, rng))
    correlation = root[1, 0]
    assert np.allclose(np.quantile(correlation, [0.1, 0.5, 0.9]), [-0.8, 0.0, 0.8], atol=0.02)
    root = correlation_root(3, partial_correlations(3, 100_000, rng))
    matrix = np.einsum("ikn,jkn->ijn", root, root)
    # every pair has the law 2 Beta(3/2, 3/2) - 1, whose variance is 1 / 4
    assert np.allclose([matrix[i, j].var() for i, j in ((0, 1), (0, 2), (1, 2))], 0.25, atol=0.01)
    grid = np.linspace(-30, 30, 60_001)[:, np.newaxis]
    assert np.exp(log_correlations(2, grid)).sum() * 0.001 == pytest.approx(1, abs=1e-6)
    assert multivariate_normal(np.zeros(3), matrix[..., 0]).logpdf(np.zeros(3)) < 0


def test_rows_that_are_clipped_are_refused():
    covariance = Covariance(bounds=[(-1, 1), (-6, 6), (-6, 6), (-3, 3)], relation=ADD, rho=2000)
    measurements = covariance.measurements(covariance.release(table()), table="survey", column=NAMES)
    with pytest.raises(InputError, match="wider bounds"):
        fitted(MODEL, measurements)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outcome": "w"}, "outcome must be a column of the release"),
        ({"constant": "w"}, "constant must be a column of the release"),
        ({"means": {"x": Normal(0, 1)}}, "a prior for each predictor"),
    ],
)
def test_columns_that_are_not_there_are_refused(change, words):
    covariance = statistic()
    measurements = covariance.measurements(covariance.release(table()), table="survey", column=NAMES)
    with pytest.raises(ParameterError, match=words):
        fitted(dataclasses.replace(MODEL, **change), measurements)


def test_what_is_no_gram_matrix_or_no_prior_is_refused():
    spread = Variance(bounds=(0, 100), relation=ADD, rho=1)
    measurements = spread.measurements(spread.release(np.ones(20)), table="survey", column="age")
    with pytest.raises(InputError, match="sums of products"):
        fitted(MODEL, measurements)
    with pytest.raises(ParameterError, match="positive numbers"):
        dataclasses.replace(MODEL, deviation=Normal(1, 1))
    with pytest.raises(ParameterError, match="proper prior"):
        dataclasses.replace(MODEL, intercept=0)
    covariance = statistic()
    products = covariance.measurements(covariance.release(table()), table="survey", column=NAMES)
    with pytest.raises(InputError, match=r"sums of its powers|needs a noisy sum"):
        fitted(NormalModel(mean=Normal(0, 1), deviation=HalfNormal(1), people=1000), products)
    narrow = Covariance(bounds=BOX[:2], relation=ADD, rho=1)
    alone = narrow.measurements(narrow.release(table()[:, :2]), table="survey", column="one,y")
    with pytest.raises(InputError, match="a predictor beside"):
        fitted(MODEL, alone)


@pytest.mark.parametrize("bounds", [(0, 2), (0.5, 1.5), (0.9, 1.11)])
def test_a_constant_at_the_center_of_its_bounds_is_refused(bounds):
    """Positions are distances from the center: there the column adds 0, and no first moment was released."""
    covariance = Covariance(bounds=[bounds, *BOX[1:]], relation=ADD, rho=1)
    measurements = covariance.measurements(covariance.release(table()), table="survey", column=NAMES)
    with pytest.raises(InputError, match=r"'one' with 1 at the center, release Covariance with the bounds \(-1, 1\)"):
        fitted(MODEL, measurements)


def test_columns_are_named_with_commas_and_blanks_each_once():
    (plan,) = statistic().plans(column=" one, x ,z,y")
    assert plan.adds_up.columns == ("one", "x", "z", "y")
    for column in ("one,x,y", "one,x,x,y", "one,x,,y"):
        with pytest.raises(ParameterError, match="every column once"):
            statistic().plans(column=column)


def test_products_with_laplace_noise_that_do_not_converge_name_gaussian_noise(monkeypatch):
    def failing(_joint, *, advice="", **_words):
        raise NotConverged(advice)

    monkeypatch.setattr("discreet.bayes.sums.linear_model.sampled", failing)
    for price, says in (({"epsilon": 10}, "rho="), ({"rho": 20}, "^$")):
        covariance = statistic(**price)
        measured = covariance.measurements(covariance.release(table()), column=NAMES)
        with pytest.raises(NotConverged, match=says):
            fitted(MODEL, measured)
