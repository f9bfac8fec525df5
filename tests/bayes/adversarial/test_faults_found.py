"""Faults that a review found: each was an error of another kind, a wrong number, or minutes of work."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet import bayes
from discreet.bayes import (
    BernoulliRecords,
    BetaBinomial,
    CategoricalRecords,
    DataAugmentation,
    DirichletMultinomial,
    HalfNormal,
    LogisticCells,
    LogNormal,
    NegativeBinomialPeople,
    Normal,
    NormalModel,
    PoissonCells,
    PoissonGamma,
    PoissonPeople,
    SmallAreaRates,
    SmallAreaShares,
    combine_estimates,
    noisy_counts,
    posterior,
    synthetic_tables,
)
from discreet.bayes.counts.people import PoissonWeight
from discreet.errors import DiscreetError, InputError, ParameterError, SenselessParameter
from discreet.laws import DiscreteLaplace
from discreet.query import Session
from discreet.statistics import Variance
from discreet.statistics.measurement import Counts, Measurement, MeasurementPlan, Source

NOISE = DiscreteLaplace(2)
WIDE = Normal(0, 2)
ONE = noisy_counts(31, noise=NOISE)
TWO = noisy_counts({"a": 31, "b": 5}, noise=NOISE, table="t", release="r")
THREE = noisy_counts({"a": 500, "b": 300, "c": 210}, noise=NOISE)
AREAS = posterior(TWO, DirichletMultinomial(1), seed=1)
KNOWN = posterior(ONE, BetaBinomial(1, 1, people=100), seed=1)
VARIANCE = Variance(bounds=(-4, 4), epsilon=1, relation=dp.Relation.ADD_REMOVE).plans()
YES_NO = noisy_counts(
    {("a", "yes"): 31, ("a", "no"): 50, ("b", "yes"): 5, ("b", "no"): 60}, noise=NOISE, key=["g", "y"]
)
SUCCESS = ("y", "yes")


def test_priors_at_the_ends_of_floats_are_priors_or_refused() -> None:
    with pytest.raises(ParameterError, match="a must be a number"):
        BetaBinomial(10**400, 1)
    law = posterior(noisy_counts(0, noise=NOISE), BetaBinomial(1e-300, 1e-300, people=100), seed=1).marginals("count")
    assert law[0].cdf(0) == pytest.approx(1.0, abs=1e-12)
    pair = noisy_counts({"yes": 31, "no": 40}, noise=NOISE, key="k")
    wide, flat = (
        posterior(pair, BetaBinomial(1, 1, success=("k", "yes"), people=people), seed=1)
        for people in (NegativeBinomialPeople(1e17, 1), None)
    )
    assert wide.quantile(0.975, "people") == flat.quantile(0.975, "people")
    with pytest.raises(ParameterError, match="mean must be a number of people"):
        PoissonPeople(1e200)
    with pytest.raises(ParameterError, match="must end somewhere"):
        posterior(ONE, PoissonGamma(1, 1e-300, 1e200), seed=1)


@pytest.mark.parametrize(("people", "tiny"), [(None, 1e-100), (0, 1e-300)])
def test_shares_under_a_tiny_concentration_are_numbers(people: int | None, tiny: float) -> None:
    few = noisy_counts({"a": 0, "b": 0, "c": 1}, noise=NOISE)
    shares = posterior(few, DirichletMultinomial(1e-4, people=people), seed=1).draws["share"]
    assert np.isfinite(shares).all()
    assert np.allclose(shares.sum(axis=-1), 1.0)
    posterior(few, DirichletMultinomial(tiny, people=people), seed=1)


def test_a_large_concentration_with_an_unknown_number_of_people_takes_no_wide_sums() -> None:
    model = DirichletMultinomial({"a": 5e6, "b": 3e6, "c": 2e6})
    found = posterior(THREE, model, seed=1)
    # the shares are as good as known: counts are Poisson about their part of a mean whose prior is flat
    means, counts = np.arange(850.0, 1200.0, 0.5), np.arange(1200)
    factorials = np.array([math.lgamma(one + 1) for one in counts])
    logs, people = np.zeros(len(means)), np.zeros(len(means))
    for share, released in ((0.5, 500), (0.3, 300), (0.2, 210)):
        own = share * means[:, None]
        terms = counts * np.log(own) - own - factorials - abs(counts - released) / 2
        logs += np.logaddexp.reduce(terms, axis=1)
        law = np.exp(terms - terms.max(axis=1, keepdims=True))
        people += law @ counts / law.sum(axis=1)
    weights = np.exp(logs - logs.max())
    assert found.mean("people") == pytest.approx(float(weights @ people / weights.sum()), abs=0.01)
    assert all(law.quantile(1 - 1e-12) < 10_000 for law in found.marginals("count"))


def test_noise_too_wide_for_many_cells_is_refused_before_memory_is_taken() -> None:
    many = noisy_counts(dict.fromkeys(range(100), 10), noise=DiscreteLaplace(10**5))
    with pytest.raises(ParameterError, match="at most 67,108,864 counts of all cells"):
        posterior(many, DirichletMultinomial(1), seed=1)


def test_people_told_by_the_prior_alone_can_be_drawn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SenselessParameter)
        for a in (1 + 1e-12, 1.01, 1.5):
            people = posterior(ONE, BetaBinomial(a, 1), seed=1).draws["people"]
            assert people.min() >= 0
            assert people.max() <= 2**61
        found = posterior(ONE, BetaBinomial(5, 1), seed=1)
    # given T the number of the others is negative binomial over Beta(4, 1): mean (T + 1) E[(1 - p) / p] = (T + 1) / 3
    others = found.draws["people"] - found.draws["count"]
    assert float(others.mean()) == pytest.approx((found.mean("count") + 1) / 3, rel=0.15)


def test_poisson_weights_keep_their_digits_about_a_large_mean() -> None:
    found = PoissonWeight(1e9).log(10**9 - 2, 5)
    # ln p(n + 1) - ln p(n) = ln(mean / (n + 1)), of numbers about -1e-9: the weights themselves are about -11.3
    wanted = [math.log1p(-(one + 1) / (1e9 + one + 1)) for one in (-2, -1, 0, 1)]
    assert np.diff(found) == pytest.approx(wanted, abs=1e-14)
    assert found[2] == pytest.approx(-0.5 * math.log(2 * math.pi * 1e9) - 1 / 12e9, abs=1e-13)


STATED: list[Any] = [
    lambda: KNOWN.probability("share", above=math.nan),
    lambda: KNOWN.probability("share", above="x"),  # type: ignore[arg-type]
    lambda: KNOWN.probability(3),  # type: ignore[arg-type]
    lambda: KNOWN.check(seed="x"),  # type: ignore[arg-type]
    lambda: KNOWN.check(seed=-1),
    lambda: KNOWN[["share"]],
    lambda: bayes.base.DrawnMarginal(np.arange(5.0)).quantile("x"),  # type: ignore[arg-type]
    lambda: combine_estimates([1e200, -1e200], [1, 1]),
    lambda: synthetic_tables(KNOWN, size=10).estimate(len),  # type: ignore[arg-type]
    lambda: synthetic_tables(KNOWN, size=10).estimate(lambda rows: (rows["share"].mean(), 0.1), people=0),
    lambda: KNOWN.interval(np.zeros(2)),  # type: ignore[arg-type]
    lambda: KNOWN.interval("share", 10**5000),
    lambda: KNOWN.probability("share", above=np.array([1.0])),  # type: ignore[arg-type]
    lambda: KNOWN[()],
    lambda: bayes.difference(None, "share", "a", "b"),  # type: ignore[arg-type]
    lambda: bayes.beats(AREAS, "share", np.zeros(2), "b"),
    lambda: bayes.cheapest_price(BetaBinomial(1, 1, people=5), None, width=0.1, word=np.zeros(2)),  # type: ignore[arg-type]
    lambda: bayes.counts_plan(None, relation=dp.Relation.ADD_REMOVE),  # type: ignore[arg-type]
    lambda: bayes.counts_plan(["a"], key=None, relation=dp.Relation.ADD_REMOVE),  # type: ignore[arg-type]
    lambda: bayes.counts_plan([[]], relation=dp.Relation.ADD_REMOVE),
    lambda: combine_estimates([10**5000, 1], [1, 1]),
    lambda: combine_estimates([1, 2], [1, 1], ratio=10**5000),
    lambda: noisy_counts(3, noise=NOISE, where=[]),  # type: ignore[arg-type]
    lambda: noisy_counts(3, noise=NOISE, release={}),  # type: ignore[arg-type]
    lambda: BetaBinomial(10**5000, 1),
    lambda: BetaBinomial(1, -(10**5000)),
    lambda: BetaBinomial(1, 1, people=10**5000),
    lambda: posterior(TWO, DirichletMultinomial(1e308)),
    lambda: posterior(TWO, BetaBinomial(1, 1, success=("group", np.zeros(2)))),
    lambda: posterior(TWO, BetaBinomial(1, 1, success=("group", 10**5000))),
    lambda: posterior(TWO, LogisticCells(success=("group", "a"), people=10**5000)),
    lambda: posterior(TWO, LogisticCells(success=("group", "a"), failure=np.zeros(2))),
    lambda: posterior(TWO, LogisticCells(success=("group", "a"), failure=10**5000)),
    lambda: LogisticCells(success=("group", "a"), numeric=None),  # type: ignore[arg-type]
    lambda: LogisticCells(success=("group", "a"), reference=1.5),  # type: ignore[arg-type]
    lambda: posterior(TWO, PoissonCells(exposures=1, intercept=WIDE, reference={"group": np.zeros(2)})),
    lambda: posterior(TWO, PoissonCells(exposures=1, intercept=WIDE, numeric={"group": {"a": 10**5000, "b": 1}})),
    lambda: posterior(TWO, PoissonCells(exposures=10**5000, intercept=WIDE)),
    lambda: posterior(TWO, SmallAreaRates(exposures=5e-324, mean=LogNormal(5, 1))),
    lambda: NormalModel(mean=WIDE, deviation=HalfNormal(1), people=10**5000),
    lambda: replace(TWO, released=((31.5, 5),)),  # type: ignore[arg-type]
    lambda: replace(TWO, released=(("31", 5),)),  # type: ignore[arg-type]
    lambda: replace(TWO, identity=["x"]),  # type: ignore[arg-type]
    lambda: replace(TWO, identity=()),
    lambda: replace(TWO.plan, noise=None),  # type: ignore[arg-type]
    lambda: replace(TWO.plan, noise=NOISE.at(5)),
    lambda: replace(TWO.plan, source=Source(keys=("a", "b"))),
    lambda: Counts("rows", 0),
    lambda: Counts("rows", -1),
    lambda: posterior(TWO, DirichletMultinomial(1, one_row_a_person="no")),  # type: ignore[arg-type]
    lambda: posterior(TWO, DirichletMultinomial(1, exhaustive=np.zeros(2))),  # type: ignore[arg-type]
    lambda: bayes.likelihood_tables(TWO, one_row_a_person="no"),  # type: ignore[arg-type]
    lambda: AREAS.interval("share", together="no"),  # type: ignore[arg-type]
    lambda: bayes.ranking(AREAS, "share", smallest=np.zeros(2)),  # type: ignore[arg-type]
    lambda: bayes.expected_loss(AREAS, "share", "a", smallest="no"),  # type: ignore[arg-type]
    lambda: KNOWN.check(10**9),
    lambda: KNOWN.check(10**400),
    lambda: KNOWN.marginals("share")[0].cdf("x"),  # type: ignore[arg-type]
    lambda: KNOWN.marginals("share")[0].cdf(None),  # type: ignore[arg-type]
    lambda: KNOWN.marginals("count")[0].cdf(math.nan),
    lambda: KNOWN.marginals("count")[0].below(math.nan),
    lambda: KNOWN.marginals("count")[0].ends("x"),  # type: ignore[arg-type]
    lambda: synthetic_tables(KNOWN, size=10)[True],
    lambda: synthetic_tables(KNOWN, size=10).to_pandas("x"),  # type: ignore[arg-type]
    lambda: DirichletMultinomial(5e-324),
    lambda: PoissonPeople(5e-324),
    lambda: posterior(ONE, DataAugmentation(BernoulliRecords(10**400, 1), people=4)),
    lambda: replace(TWO, guarantee="x"),  # type: ignore[arg-type]
    lambda: replace(TWO, rehearsed="x"),  # type: ignore[arg-type]
    lambda: replace(TWO, identity=([],)),
    lambda: replace(TWO, plan=None),  # type: ignore[arg-type]
    lambda: replace(TWO.plan, source=None),  # type: ignore[arg-type]
    lambda: replace(TWO.plan, adds_up=3),  # type: ignore[arg-type]
    lambda: replace(TWO.plan, key_names=5),  # type: ignore[arg-type]
    lambda: replace(TWO.plan, key_names=(5,)),  # type: ignore[arg-type]
    lambda: NormalModel(mean=WIDE, deviation=HalfNormal(1), people=10**9).integers(
        {"mean": np.array(0.0), "deviation": np.array(1.0)}, VARIANCE, np.random.default_rng(1)
    ),
]


@pytest.mark.parametrize("place", range(len(STATED)))
def test_what_makes_no_sense_is_refused_in_a_sentence(place: int) -> None:
    with pytest.raises(DiscreetError):
        STATED[place]()


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InputError, match="got list"):
        posterior(endless, PoissonGamma(1, 1))


def test_equal_estimates_without_variance_have_an_interval_of_no_width() -> None:
    found = combine_estimates([0.5, 0.5], [0.0, 0.0])
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


def test_one_release_in_another_order_does_not_count_twice() -> None:
    one, other = (noisy_counts(counts, noise=NOISE, table="t") for counts in ({"a": 3, "b": 4}, {"b": 4, "a": 3}))
    with pytest.raises(InputError, match="must not count twice"):
        posterior([one, other], PoissonGamma(1, 1))


def test_groups_named_as_the_rest_are_refused_beside_a_total() -> None:
    groups = noisy_counts({"(other)": 3, "b": 4}, noise=NOISE, table="t")
    total = noisy_counts(9, noise=NOISE, table="t")
    with pytest.raises(InputError, match="must not be named"):
        posterior([groups, total], DirichletMultinomial(1))
    found = posterior([groups, total], DirichletMultinomial(1, exhaustive=True), seed=1)
    assert found.parameter("count").groups == (("(other)",), ("b",))


def test_plans_that_say_nothing_of_their_source_are_told_apart_by_the_names_of_their_keys() -> None:
    plan = MeasurementPlan("count", ("ward",), (("a",), ("b",)), Counts("people"), NOISE)
    measured: Measurement = plan.measured([[3, 4]], ("here", 1), None)
    assert posterior(measured, PoissonGamma(1, 1), seed=1).parameter("count").groups == (("a",), ("b",))


def test_many_groups_keep_no_more_pairs_of_counts_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {(place, answer): 9 for place in range(3) for answer in ("yes", "no")}
    measured = noisy_counts(counts, noise=NOISE, key=["place", "answer"])
    model = BetaBinomial(1, 1, success=("answer", "yes"))
    exact = posterior(measured, model, seed=1)
    pairs = sum(len(law.masses) for law in exact.exact["share"])  # type: ignore[attr-defined,misc]
    monkeypatch.setattr("discreet.bayes.counts.yes_and_no._ALL_PAIRS", pairs - 1)
    drawn = posterior(measured, model, seed=1)
    assert set(drawn.exact) == {"count", "people"}
    # by Hoeffding's inequality 4000 draws are off by .06 with a chance below 1e-12
    assert drawn.probability("share", group=0, above=0.5).value == pytest.approx(
        exact.probability("share", group=0, above=0.5).value, abs=0.06
    )


def test_an_answer_with_numbers_of_different_values_alone_says_so() -> None:
    frame = pd.DataFrame({"g": ["a", "b"] * 40})
    session = Session.from_frames(unit="row", budget=dp.PureDP(9), columns={"g": {"values": ["a", "b"]}}, t=frame)
    with pytest.raises(InputError, match="numbers of different values"):
        posterior(session.sql("SELECT COUNT(DISTINCT g) FROM t", epsilon=1), PoissonGamma(1, 1))


ONE_THIRD = Fraction(1, 3)
OTHER_NUMBERS: list[tuple[Measurement, Any, Any]] = [
    (TWO, PoissonGamma(ONE_THIRD, ONE_THIRD, ONE_THIRD), PoissonGamma(1 / 3, 1 / 3, 1 / 3)),  # type: ignore[arg-type]
    (TWO, DirichletMultinomial(ONE_THIRD), DirichletMultinomial(1 / 3)),  # type: ignore[arg-type]
    (
        YES_NO,
        LogisticCells(success=SUCCESS, people=np.int8(100)),  # type: ignore[arg-type]
        LogisticCells(success=SUCCESS, people=100),
    ),
    (
        YES_NO,
        SmallAreaShares(success=SUCCESS, people=np.int8(100)),  # type: ignore[arg-type]
        SmallAreaShares(success=SUCCESS, people=100),
    ),
    (
        TWO,
        PoissonCells(exposures=np.float32(3), intercept=Normal(np.float32(1), Fraction(2))),  # type: ignore[arg-type]
        PoissonCells(exposures=3, intercept=Normal(1, 2)),
    ),
    (
        TWO,
        DataAugmentation(CategoricalRecords(("group",), (("a",), ("b",)), (ONE_THIRD, 1)), people=40),  # type: ignore[arg-type]
        DataAugmentation(CategoricalRecords(("group",), (("a",), ("b",)), (1 / 3, 1)), people=40),
    ),
]


@pytest.mark.parametrize("place", range(len(OTHER_NUMBERS)))
def test_fractions_and_numbers_of_numpy_are_the_floats_they_name(place: int) -> None:
    released, stated, plain = OTHER_NUMBERS[place]
    one, other = posterior(released, stated, seed=1), posterior(released, plain, seed=1)
    for name, draws in other.draws.items():
        assert np.array_equal(one.draws[name], draws)


@pytest.mark.parametrize(
    "model",
    [
        DirichletMultinomial(10**300, people=36),
        PoissonGamma(1, 10**300),
        PoissonGamma(1, 1, 10**300),
        PoissonGamma(10**300, 1),
        BetaBinomial(10**300, 1, people={"a": 50, "b": 50}),
        PoissonCells(exposures=1, intercept=Normal(10**300, 1)),
        SmallAreaRates(exposures=1, mean=LogNormal(1e308, 1)),
    ],
)
def test_numbers_at_the_ends_of_floats_warn_of_nothing(model: Any) -> None:  # warnings are errors here
    try:
        known = posterior(TWO, model, seed=1)
        found = [known.interval(one.name).values for one in known.parameters]
    except DiscreetError:
        return
    assert all(np.isfinite(one).all() for one in found)


def test_what_a_prior_draws_is_no_more_than_numpy_can_draw() -> None:
    values = PoissonGamma(1, 1, 10**20).prior([TWO.plan], np.random.default_rng(1))
    assert (values["count"] >= 0).all()


def test_labels_of_pictures_are_shown_as_escapes_and_cut() -> None:
    labels = ["nul\0", "\ud800", "\x1b[31m", "\u202e", "$x^2_{$", "x" * 10**6]
    odd = posterior(noisy_counts(dict.fromkeys(labels, 9), noise=NOISE), DirichletMultinomial(1), seed=1)
    drawn = (bayes.ranking(odd, "share").plot(), odd.check(40, seed=1).plot(), odd.plot())
    assert all(len(one.svg()) < 400_000 for one in drawn)


def test_noise_of_many_simulated_runs_is_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.bayes.planning.plans._DRAWN_AT_ONCE", 7)
    plan = bayes.counts_plan(["a", "b"], relation=dp.Relation.ADD_REMOVE)
    held = bayes.calibration(DirichletMultinomial(1, people=40), plan, epsilon=1, reps=50, seed=1)
    assert held.reps == 50
