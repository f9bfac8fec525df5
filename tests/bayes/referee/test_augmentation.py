"""Data augmentation against posteriors computed without it, its acceptance, its gate and its refusals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import discreet as dp
from discreet.bayes.base import Diagnostics, HalfNormal, Normal, Posterior
from discreet.bayes.referee import BernoulliRecords, CategoricalRecords, DataAugmentation, NormalRecords, RecordModel
from discreet.bayes.referee.chains import Chains
from discreet.bayes.referee.sum_likelihood import SumLikelihood
from discreet.errors import DiscreetError, InputError, NotConverged, ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.laws.noise import IntegerNoise
from discreet.privacy import PureDP, Target
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import Counts, Measurement, MeasurementPlan, PowerSums, Source, by_hand

CELLS = (("a",), ("b",), ("c",))
SCALE = FixedPoint.between((0, 4), grid=1)


def counted(
    released: Sequence[int], noise: IntegerNoise, keys: Any = ((),), *, names: Any = (), **of: Any
) -> Measurement:
    plan = MeasurementPlan("COUNT(*)", names, keys, Counts("rows", **of), noise, Source(keys=names))
    return plan.measured([released], by_hand(), PureDP(1))


def fitted(model: DataAugmentation, *measurements: Measurement, seed: int = 22) -> Posterior:
    return model.fit(measurements, generator=np.random.default_rng(seed), progress=lambda _done, _total: None)


def distance(draws: Any, cdf: Callable[[float], float], quantiles: Any) -> float:
    """How far the shares of draws below exact quantiles are from what they should be, in Monte Carlo errors."""
    from discreet.bayes.base.diagnostics import bulk

    worst = 0.0
    for place in quantiles:
        wanted, below = cdf(place), (draws <= place).astype(float)
        effective = float(np.min(bulk(below)))
        assert effective >= 400
        worst = max(worst, abs(below.mean() - wanted) / math.sqrt(wanted * (1 - wanted) / effective))
    return worst


def beta_binomial(released: int, noise: IntegerNoise, people: Sequence[int], a: float, b: float) -> tuple[Any, Any]:
    """Weights (people, counts) of the exact posterior, by a sum over all of them; and the cdf of the frequency."""
    size = max(people)
    weights = np.zeros((len(people), size + 1))
    for row, n in enumerate(people):
        counts = np.arange(n + 1)
        weights[row, : n + 1] = stats.betabinom.pmf(counts, n, a, b) * noise.pmf(released - counts)
    weights /= weights.sum()

    def cdf(value: float) -> float:
        parts = [weights[row, : n + 1] @ special.betainc(a + np.arange(n + 1), b + n - np.arange(n + 1), value)
                 for row, n in enumerate(people)]  # fmt: skip
        return float(sum(parts))

    return weights, cdf


@pytest.mark.theorem("DataAugmentation.accuracy")
@pytest.mark.parametrize(
    ("people", "released", "noise"),
    [(100, 31, DiscreteLaplace(1)), (30, 27, DiscreteLaplace(1)), (30, -2, DiscreteGaussian(1))],
)
def test_ones_have_their_exact_posterior(people: int, released: int, noise: IntegerNoise) -> None:
    found = fitted(DataAugmentation(BernoulliRecords(2, 1), people=people), counted([released], noise))
    weights, cdf = beta_binomial(released, noise, [people], 2, 1)
    frequency = found.draws["frequency"]
    assert distance(frequency, cdf, np.quantile(frequency, [0.025, 0.25, 0.5, 0.75, 0.975])) < 4
    exact = weights[0].cumsum()
    usual = [float(t) for t in range(people + 1) if 0.02 < exact[t] < 0.98]
    assert distance(found.draws["count"], lambda t: float(exact[int(t)]), usual) < 4


@pytest.mark.theorem("DataAugmentation.accuracy")
def test_an_unknown_number_of_people_has_its_exact_posterior() -> None:
    noise, people = DiscreteLaplace(2), range(20, 61)
    found = fitted(DataAugmentation(BernoulliRecords(3, 3), people=people), counted([17], noise))
    weights, cdf = beta_binomial(17, noise, people, 3, 3)
    frequency = found.draws["frequency"]
    assert distance(frequency, cdf, np.quantile(frequency, [0.025, 0.25, 0.5, 0.75, 0.975])) < 4
    exact = weights.sum(axis=1).cumsum()
    assert distance(found.draws["people"], lambda n: float(exact[int(n) - 20]), [24.0, 30.0, 40.0, 50.0]) < 4
    assert found.parameter("people").target is Target.TABLE


@pytest.mark.theorem("DataAugmentation.accuracy")
def test_cells_have_their_exact_posterior_with_a_noisy_total_of_some() -> None:
    noise, people, prior = DiscreteLaplace(1), 24, (1.0, 0.5, 2.0)
    model = DataAugmentation(CategoricalRecords(("k",), CELLS, prior), people=people)
    cells = counted([9, 4], noise, CELLS[:2], names=("k",))  # c is observed by nobody
    found = fitted(model, cells, counted([20], noise))
    first, second = np.meshgrid(np.arange(people + 1), np.arange(people + 1), indexing="ij")
    third = people - first - second
    with np.errstate(invalid="ignore"):
        log_weights = sum(
            special.gammaln(t + a) - special.gammaln(t + 1.0)
            for t, a in zip((first, second, third), prior, strict=True)
        ) + np.log(noise.pmf(9 - first) * noise.pmf(4 - second))
    weights = np.where(third >= 0, np.exp(np.where(third >= 0, log_weights, -np.inf)), 0.0)
    weights /= weights.sum()
    total = sum(prior) + people
    for place, counts in enumerate((first, second, third)):

        def cdf(value: float, counts: Any = counts, a: float = prior[place]) -> float:
            inside = special.betainc(a + np.maximum(counts, 0), total - a - np.maximum(counts, 0), value)
            return float((weights * inside).sum())

        draws = found.draws["frequency"][..., place]
        assert distance(draws, cdf, np.quantile(draws, [0.025, 0.25, 0.5, 0.75, 0.975])) < 4
    assert [one.groups for one in found.parameters] == [CELLS, CELLS[:2], ()]
    assert np.all(found.draws["count 2"] == people)  # everybody is in the total, whatever was released of it


@pytest.mark.theorem("DataAugmentation.accuracy")
def test_clipped_normal_values_have_their_exact_posterior() -> None:
    # two records on the positions 0 to 4, so that the sum over all pairs of positions is exact
    noise, people = DiscreteLaplace(2), 2
    kind = PowerSums("x", SCALE, ((0, 1, 0), (0, 0, 1)))
    plan = MeasurementPlan("VARIANCE(x)", (), ((),), kind, noise)
    model = DataAugmentation(NormalRecords(Normal(2, 1), HalfNormal(1.5)), people=people)
    found = fitted(model, plan.measured([[7], [26]], by_hand(), PureDP(1)))
    means, deviations = np.linspace(-5, 9, 561), np.linspace(0.005, 9, 300)
    mean, deviation = np.meshgrid(means, deviations, indexing="ij")
    ends = np.array([-np.inf, 0.5, 1.5, 2.5, 3.5, np.inf])
    chance = np.diff(special.ndtr((ends - mean[..., None]) / deviation[..., None]), axis=-1)
    density = np.zeros_like(mean)
    for one in range(5):
        for other in range(5):
            level = float(noise.pmf(7 - one - other)) * float(noise.pmf(26 - one**2 - other**2))
            density += chance[..., one] * chance[..., other] * level
    density *= np.exp(-((mean - 2) ** 2) / 2 - deviation**2 / 4.5)
    for name, axis, grid in (("mean", 1, means), ("deviation", 0, deviations)):
        running = density.sum(axis=axis).cumsum()
        running = (running - running[0] / 2) / running[-1]
        draws = found.draws[name]
        places = np.quantile(draws, [0.025, 0.25, 0.5, 0.75, 0.975])

        def cdf(x: float, grid: Any = grid, running: Any = running) -> float:
            return float(np.interp(x, grid, running))

        assert distance(draws, cdf, places) < 4


def test_grids_finer_than_64_bits_hold_the_same_sums() -> None:
    fine = FixedPoint.between((0, 4))
    assert fine.steps**2 > 1 << 63
    kind = PowerSums("x", fine, ((0, 1, 0), (0, 0, 1)))
    plan = MeasurementPlan("VARIANCE(x)", (), ((),), kind, DiscreteLaplace(fine.steps**2))
    records = np.random.default_rng(1).normal(2, 2, (3, 5))
    model = NormalRecords(Normal(2, 1), HalfNormal(1.5))
    totals = SumLikelihood(
        model, [plan.measured([[0], [5 * fine.steps**2]], by_hand(), None)], range(5, 6), one_row_a_person=False
    )
    added = totals.added(records)
    places = [[min(max(round(x * fine.steps / 4), 0), fine.steps) for x in row] for row in records.tolist()]
    assert added.tolist() == [[[x, x * x] for x in row] for row in places]
    sums = added.sum(axis=1)
    wanted = [plan.noise.log_pmf(-int(a)) + plan.noise.log_pmf(5 * fine.steps**2 - int(b)) for a, b in sums]
    assert totals.log_likelihood(sums) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.theorem("DataAugmentation.accuracy")
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_every_offer_is_taken_with_at_least_the_chance_that_privacy_leaves(epsilon: Fraction) -> None:
    noise = DiscreteLaplace(1 / epsilon)
    for kind, people, moves in ((counted([5], noise), 9, 1), (counted([2, 3], noise, CELLS[:2], names=("k",)), 9, 2)):
        totals = SumLikelihood(
            CategoricalRecords(("k",), CELLS, (1, 1, 1)), [kind], range(people, people + 1), one_row_a_person=False
        )
        width = len(kind.plan.keys)
        sums = np.stack(np.meshgrid(*[np.arange(people + 1)] * width, indexing="ij"), axis=-1).reshape(-1, width)
        level = totals.log_likelihood(sums)
        apart = np.abs(sums[:, None] - sums[None]).sum(axis=-1)
        # one record changed: one group loses at most one person, and another gains at most one
        changed = (apart <= moves) & (np.abs(sums[:, None] - sums[None]).max(axis=-1) <= 1)
        least = (level[None] - level[:, None])[changed].min()
        assert least == pytest.approx(-float(epsilon) * moves, rel=1e-9)


def test_the_share_of_offers_taken_is_at_least_that_chance() -> None:
    measured = counted([12], DiscreteLaplace(2))
    totals = SumLikelihood(BernoulliRecords(1, 1), [measured], range(40, 41), one_row_a_person=False)
    chains = Chains(BernoulliRecords(1, 1), totals, range(40, 41), chains=50, generator=np.random.default_rng(5))
    for _ in range(20):
        chains.sweep()
    assert chains.offered == 40 * 50 * 20
    assert chains.accepted / chains.offered >= math.exp(-0.5)


class Families(RecordModel):
    """Each person has 0 to 3 rows, Poisson with an unknown rate cut at 3: a contribution of one's own."""

    @property
    def parameters(self) -> Any:
        return (dp.bayes.Parameter("rate", "rows a person", Target.POPULATION),)

    def draw_prior(self, chains: int, generator: Any) -> Any:
        return {"rate": generator.gamma(2, 0.5, chains)}

    def draw_records(self, values: Any, count: int, generator: Any) -> Any:
        return generator.poisson(values["rate"][:, None], (len(values["rate"]), count))

    def draw_parameters(self, records: Any, values: Any, generator: Any) -> Any:  # noqa: ARG002
        return {"rate": generator.gamma(2 + records.sum(axis=1), 1 / (2 + records.shape[1]))}

    def contribution(self, records: Any, plan: Any) -> Any:  # noqa: ARG002
        return np.minimum(records, 3)[..., None, None]


def test_a_users_own_model_of_people_with_several_rows() -> None:
    noise, people = DiscreteLaplace(3), 6
    measured = counted([9], noise, once=False, why="a person may have 3 rows")
    found = fitted(DataAugmentation(Families(), people=people), measured)
    rates = np.linspace(1e-3, 12, 4000)
    chances = np.stack([stats.poisson.pmf(k, rates) for k in range(3)] + [stats.poisson.sf(2, rates)])
    law = np.ones((1, rates.size))
    for _ in range(people):  # the law of the sum, one person after the other
        law = sum(np.pad(law, ((k, 3 - k), (0, 0))) * chances[k] for k in range(4))
    density = noise.pmf(9 - np.arange(3 * people + 1)) @ law * stats.gamma.pdf(rates, 2, scale=0.5)
    running = density.cumsum() / density.sum()
    draws = found.draws["rate"]
    places = np.quantile(draws, [0.025, 0.25, 0.5, 0.75, 0.975])
    assert distance(draws, lambda x: float(np.interp(x, rates, running)), places) < 4
    assert [one.name for one in found.parameters] == ["rate"]


def test_the_posterior_says_how_it_was_made_and_passes_its_gate() -> None:
    found = fitted(DataAugmentation(BernoulliRecords(1, 1), people=30, chains=4), counted([12], DiscreteLaplace(1)))
    assert found.method.startswith("data augmentation, 4 chains of")
    assert not found.independent
    assert all(Diagnostics.of(draws).passed for draws in found.draws.values())


def test_chains_that_did_not_converge_hand_out_nothing() -> None:
    model = DataAugmentation(BernoulliRecords(1, 1), people=200, chains=2, most_sweeps=40)
    with pytest.raises(NotConverged, match=r"after 40 sweeps: .*R-hat is .*most_sweeps="):
        fitted(model, counted([100], DiscreteLaplace(50)))


def test_the_same_seed_gives_the_same_draws() -> None:
    model, measured = DataAugmentation(BernoulliRecords(1, 1), people=9), counted([4], DiscreteLaplace(1))
    first, second, third = (fitted(model, measured, seed=seed).draws["frequency"] for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


@pytest.mark.parametrize("people", [12, range(5, 9)])
def test_the_prior_and_what_it_adds_up_to_have_the_shapes_of_the_posterior(people: Any) -> None:
    model = DataAugmentation(CategoricalRecords(("k",), CELLS, (1, 1, 1)), people=people)
    measured = counted([3, 4], DiscreteLaplace(1), CELLS[:2], names=("k",), weight=8)
    found = fitted(model, measured)
    generator = np.random.default_rng(3)
    drawn = model.prior([measured.plan], generator)
    assert {name: np.shape(value) for name, value in drawn.items()} == {
        name: value.shape[2:] for name, value in found.draws.items()
    }
    (integers,) = model.integers(drawn, [measured.plan], generator)
    assert integers.tolist() == [(8 * np.asarray(drawn["count"])).tolist()]
    del drawn["count"]  # type: ignore[attr-defined]
    (again,) = model.integers(drawn, [measured.plan], generator)
    assert again.shape == (1, 2)
    assert np.all(again % 8 == 0)


LAPLACE = DiscreteLaplace(1)
ONES = DataAugmentation(BernoulliRecords(1, 1), people=9)
MEAN = MeasurementPlan("AVG(x)", (), ((),), PowerSums("x", SCALE, ((0, 1, 0),), people=12), LAPLACE)
HIDDEN = MeasurementPlan("COUNT(*)", ("k",), CELLS[:1], Counts("rows"), LAPLACE, Source(listed=False))


class Halves(Families):
    def contribution(self, records: Any, plan: Any) -> Any:  # noqa: ARG002
        return records[..., None, None] / 2


REFUSED: list[tuple[Callable[[], object], type[DiscreetError], str]] = [
    (lambda: DataAugmentation(3, people=9), ParameterError, "must be a model of records"),  # type: ignore[arg-type]
    (lambda: DataAugmentation(BernoulliRecords(1, 1), people=0), ParameterError, "people"),
    (lambda: DataAugmentation(BernoulliRecords(1, 1), people=2.5), ParameterError, "people"),  # type: ignore[arg-type]
    (lambda: DataAugmentation(BernoulliRecords(1, 1), people=range(0)), ParameterError, "range"),
    (lambda: DataAugmentation(BernoulliRecords(1, 1), people=range(0, 9, 2)), ParameterError, "range"),
    (lambda: DataAugmentation(BernoulliRecords(1, 1), people=2**70), ParameterError, "BetaBinomial"),
    (lambda: DataAugmentation(BernoulliRecords(1, 1), people=9, chains=1), ParameterError, "chains"),
    (lambda: BernoulliRecords(0, 1), ParameterError, "greater than 0"),
    (lambda: BernoulliRecords(math.nan, 1), ParameterError, "finite"),
    (lambda: CategoricalRecords(("k",), CELLS, (1, 1)), ParameterError, "cells must be"),
    (lambda: CategoricalRecords(("k",), (("a",), ("a",)), (1, 1)), ParameterError, "different"),
    (lambda: CategoricalRecords(("k",), (("a",), ("a", 2)), (1, 1)), ParameterError, "every key name"),
    (lambda: CategoricalRecords(("k",), CELLS, (1, 1, -1)), ParameterError, "greater than 0"),
    (lambda: NormalRecords(5, HalfNormal(1)), ParameterError, "proper prior"),  # type: ignore[arg-type]
    (lambda: NormalRecords(Normal(0, 1), Normal(0, 1)), ParameterError, "positive"),
    (
        lambda: fitted(ONES, counted([1], LAPLACE, once=False, why="people have rows")),
        InputError,
        "people have rows",
    ),
    (lambda: fitted(ONES, counted([1, 2], LAPLACE, CELLS[:2], names=("k",))), ParameterError, "CategoricalRecords"),
    (lambda: fitted(ONES, MEAN.measured([[4]], by_hand(), None)), ParameterError, "people=12"),
    (lambda: fitted(ONES, HIDDEN.measured([[4]], by_hand(), None)), InputError, "declare"),
    (
        lambda: fitted(DataAugmentation(BernoulliRecords(1, 1), people=12), MEAN.measured([[4]], by_hand(), None)),
        ParameterError,
        "positions",
    ),
    (lambda: fitted(DataAugmentation(Halves(), people=9), counted([1], LAPLACE)), InputError, "whole numbers"),
]


@pytest.mark.parametrize(("action", "error", "words"), REFUSED)
def test_bad_input_is_told_what_to_change(action: Callable[[], object], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        action()


def test_weighted_counts_are_read_once_everybody_is_said_to_have_one_row() -> None:
    measured = counted([4 << 20], DiscreteLaplace(1 << 20), once=False, why="rows are weighted", weight=1 << 20)
    stated = DataAugmentation(BernoulliRecords(1, 1), people=9, one_row_a_person=True)
    plain = fitted(ONES, counted([4], LAPLACE)).draws["frequency"]
    assert fitted(stated, measured).draws["frequency"] == pytest.approx(plain, rel=1e-9)
