"""Count, sum and mean: how far a person moves them, what they guarantee, and what their intervals contain."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet import statistics
from tests.chances import fewest, most
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
RELATIONS = [ADD_REMOVE, CHANGE_ONE]
NOTHING = None


def distances(one, other):
    first, second = np.atleast_1d(np.array(one, dtype=object)), np.atleast_1d(np.array(other, dtype=object))
    moved = [abs(int(a) - int(b)) for a, b in zip(first, second, strict=True)]
    return sum(moved), sum(step * step for step in moved)


def largest_move(statistic, domain, largest, relation):
    """The largest L1 and squared L2 distance of what is measured, over all neighbors of small tables."""
    moves = [
        distances(statistic.measure(one), statistic.measure(other))
        for one, other in neighbors(domain, largest, relation)
        if len(one) or relation is ADD_REMOVE
    ]
    return max(one for one, _ in moves), max(two for _, two in moves)


def noise_for(statistic):
    """The L1 shift that the noise was built for, at epsilon 1."""
    return statistic.mechanism.noise.scale


BOUNDS = [(0, 3), (-2, 1), (-3, -1), (1, 4), (-2, 2)]


@pytest.mark.theorem("Sum.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("missing", [statistics.Missing.LEAVE_OUT, "bound"])
def test_a_row_moves_the_sum_as_far_as_stated_and_no_further(bounds, relation, missing):
    missing = bounds[0] if missing == "bound" else missing
    statistic = statistics.Sum(bounds=bounds, relation=relation, epsilon=1, grid=1, missing=missing)
    domain = [*range(bounds[0] - 1, bounds[1] + 2), None]
    assert largest_move(statistic, domain, 3, relation)[0] == noise_for(statistic)


@pytest.mark.theorem("Mean.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("missing", [statistics.Missing.LEAVE_OUT, "bound"])
def test_a_row_moves_what_a_mean_releases_as_far_as_stated_and_no_further(bounds, relation, missing):
    missing = bounds[0] if missing == "bound" else missing
    statistic = statistics.Mean(bounds=bounds, relation=relation, epsilon=1, missing=missing)
    domain = [*np.linspace(bounds[0] - 1, bounds[1] + 1, 7), None]
    in_l1, squared = largest_move(statistic, domain, 3, relation)
    assert in_l1 == noise_for(statistic)
    assert squared <= in_l1 * in_l1
    gaussian = statistics.Mean(bounds=bounds, relation=relation, rho=0.5, missing=missing).mechanism.noise.scale
    assert squared <= gaussian**2


@pytest.mark.theorem("Count.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_row_moves_a_filtered_count_by_one(relation):
    statistic = statistics.Count(relation=relation, epsilon=1, filtered=True)
    assert largest_move(statistic, [True, False, None], 4, relation)[0] == noise_for(statistic) == 1


def persons(domain, rows):
    """All ways to fill up to so many rows of one person."""
    fills = [[]]
    for _ in range(rows):
        fills += [[*fill, value] for fill in fills for value in domain if len(fill) == max(map(len, fills))]
    return fills


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows_of_one", [1, 2])
@pytest.mark.parametrize("make", [statistics.Sum, statistics.Mean, statistics.Count], ids=lambda make: make.__name__)
def test_a_person_with_many_rows_moves_no_more_than_the_contribution_allows(make, rows_of_one, relation):
    bounded = {} if make is statistics.Count else {"bounds": (-1, 2)}
    statistic = make(relation=relation, epsilon=1, rows=rows_of_one, **bounded)
    others, largest = [1.0, -1.0], 0
    fills = persons([-1.0, 2.0], 4)
    tables = [statistics.Rows([*others, *fill], unit=["ana", "bo", *["cy"] * len(fill)]) for fill in fills]
    measured = [statistic.measure(table) for table in tables]
    for one in measured[:1] if relation is ADD_REMOVE else measured:
        largest = max([largest, *(distances(one, other)[0] for other in measured)])
    assert largest <= noise_for(statistic)
    if not (make is statistics.Count and relation is CHANGE_ONE):
        assert largest > 0.99 * noise_for(statistic)


def test_rows_of_nobody_count_for_nothing():
    statistic = statistics.Count(relation=ADD_REMOVE, epsilon=1, rows=1)
    assert statistic.measure(statistics.Rows([1, 2, 3], unit=["ana", None, None])) == 1 << 20


@pytest.mark.theorem("Statistic.privacy")
@pytest.mark.theorem("NoisyVector.privacy")
@pytest.mark.parametrize(
    "price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 2, "delta": 1e-3}], ids=["pure", "zCDP", "approximate"]
)
@pytest.mark.parametrize(
    "make",
    [
        lambda price: statistics.Count(relation=ADD_REMOVE, **price),
        lambda price: statistics.Count(relation=CHANGE_ONE, filtered=True, **price),
        lambda price: statistics.Sum(bounds=(-1, 3), relation=ADD_REMOVE, **price),
        lambda price: statistics.Sum(bounds=(-1, 3), relation=CHANGE_ONE, **price),
        lambda price: statistics.Mean(bounds=(0, 5), relation=ADD_REMOVE, **price),
        lambda price: statistics.Mean(bounds=(0, 4), grid=2, relation=CHANGE_ONE, **price),
        lambda price: statistics.Mean(bounds=(0, 5), relation=CHANGE_ONE, missing=2.5, **price),
    ],
)
def test_the_exact_audit_finds_the_guarantee_kept(make, price):
    statistic = make(price)
    assert dp.audit(statistic).outcome is dp.Outcome.KEPT


@pytest.mark.parametrize("price", [{"epsilon": 0.2}, {"rho": 0.02}], ids=["pure", "zCDP"])
def test_a_broken_sensitivity_would_be_caught(price):
    statistic = statistics.Sum(bounds=(0, 1), relation=ADD_REMOVE, **price)
    pair = statistic.mechanism.law(0).pair(statistic.mechanism.law(2 * statistic.sensitivity))
    assert not statistic.guarantee.loss.delta(0.1).upper >= pair.delta(0.1).lower


ROWS = [0.25, 0.5, 1.0, 0.0, 0.75] * 40


@pytest.mark.theorem("Sum.accuracy")
@pytest.mark.theorem("Count.accuracy")
@pytest.mark.theorem("Mean.accuracy")
@pytest.mark.parametrize(
    ("make", "truth", "exact"),
    [
        (lambda price: statistics.Count(relation=ADD_REMOVE, **price), 200, False),
        (lambda price: statistics.Sum(bounds=(0, 1), relation=ADD_REMOVE, **price), 100.0, True),
        (lambda price: statistics.Sum(bounds=(0, 1), relation=CHANGE_ONE, **price), 100.0, True),
        (lambda price: statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, **price), 0.5, True),
        (lambda price: statistics.Mean(bounds=(0, 1), relation=CHANGE_ONE, **price), 0.5, True),
        (lambda price: statistics.Mean(bounds=(0, 1), relation=CHANGE_ONE, missing=0, **price), 0.5, True),
        (lambda price: statistics.Mean(bounds=(0, 5), relation=ADD_REMOVE, **price), 0.5, True),
    ],
)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 0.1}, {"rho": 0.05}], ids=str)
def test_intervals_contain_the_truth_as_often_as_the_law_says(make, truth, exact, price, rounds: Rounds):
    runs = rounds(sample=600, full=10_000)
    statistic = make(price)
    inside = sum(answer.low <= truth <= answer.high for answer in (statistic(ROWS) for _ in range(runs)))
    predicted = 0.95
    if not exact:
        noise = statistic.mechanism.noise
        predicted = 1 - 2 * float(noise.sf(noise.half_width(0.95)))
    assert predicted >= 0.95
    # a noisy size too small to divide by widens the interval to the bounds, so it may cover more often, never less
    assert inside >= fewest(runs, predicted)
    if statistic.mechanism.noise.scale < 20 * (statistic.scale.steps if exact else 1):
        assert inside <= most(runs, predicted)


def test_the_add_remove_mean_has_half_the_error_of_sum_over_count(rounds: Rounds):
    runs = rounds(sample=4000, full=40_000)
    values, epsilon = np.full(2000, 0.5), 0.5
    ours = statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, epsilon=epsilon)
    total = statistics.Sum(bounds=(-0.5, 0.5), relation=ADD_REMOVE, epsilon=epsilon / 2)
    size = statistics.Count(relation=ADD_REMOVE, epsilon=epsilon / 2)
    two = [0.5 + float(total(values - 0.5)) / max(float(size(values)), 1.0) for _ in range(runs)]
    one = [float(ours(values)) for _ in range(runs)]
    ratio = np.mean((np.array(two) - 0.5) ** 2) / np.mean((np.array(one) - 0.5) ** 2)
    # squares of Laplace noise have 5 times the variance of their mean squared, and the ratio is of two such means
    assert ratio > 2 * (1 - 7 * math.sqrt(2 * 5 / runs))


def test_a_population_interval_contains_the_expectation_and_is_wider(rounds: Rounds):
    runs = rounds(sample=100, full=4000)
    made = np.random.default_rng(5)
    table = statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1)
    population = statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, target=dp.Target.POPULATION)
    inside = 0
    for _ in range(runs):
        values = (made.random(500) < 0.3).astype(float)
        answer = population(values)
        inside += answer.low <= 0.3 <= answer.high
        assert answer.high - answer.low > 0
    assert inside >= fewest(runs, 0.95)
    wider, narrower = population(values), table(values)
    assert wider.high - wider.low > narrower.high - narrower.low


@pytest.mark.parametrize("wanted", [0.5, 3, 20])
def test_asking_by_error_gives_that_error_at_the_cheapest_price(wanted):
    statistic = statistics.Sum(bounds=(0, 1), relation=ADD_REMOVE, error=wanted)
    width = statistic.mechanism.error(0.95) * statistic.scale.grid
    assert width <= wanted
    cheaper = statistics.Sum(bounds=(0, 1), relation=ADD_REMOVE, epsilon=0.999 * statistic.guarantee.epsilon)
    assert cheaper.mechanism.error(0.95) * cheaper.scale.grid > wanted


def test_the_error_asked_of_a_mean_holds_for_so_many_people(rounds: Rounds):
    runs = rounds(sample=400, full=10_000)
    statistic = statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, error=0.02, rows_expected=1000)
    for share in (0.0, 0.5, 1.0):
        values = np.full(1000, share)
        close = sum(abs(float(statistic(values)) - share) <= 0.02 for _ in range(runs))
        assert close >= fewest(runs, 0.95)


FRAMES = [
    [1.0, None, 3.0, 250.0],
    np.array([1.0, np.nan, 3.0, 250.0]),
    pd.Series([1, None, 3, 250], dtype="Int64"),
    pl.Series([1, None, 3, 250]),
    pa.array([1, None, 3, 250]),
]


@pytest.mark.parametrize("column", FRAMES, ids=lambda column: type(column).__module__)
def test_all_columns_measure_alike(column):
    statistic = statistics.Sum(bounds=(0, 100), relation=ADD_REMOVE, epsilon=1, grid=1)
    assert statistic.measure(column) == 104
    filled = statistics.Sum(bounds=(0, 100), relation=ADD_REMOVE, epsilon=1, grid=1, missing=7)
    assert filled.measure(column) == 111
    mean = statistics.Mean(bounds=(0, 100), relation=ADD_REMOVE, epsilon=1)
    low, high = mean.measure(column)
    assert Fraction(int(low), int(low + high)) * 100 == Fraction(104, 3)


def test_an_empty_table_has_an_answer():
    for statistic in (
        statistics.Count(relation=ADD_REMOVE, epsilon=1),
        statistics.Sum(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1),
        statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1),
        statistics.Mean(bounds=(0, 1), relation=CHANGE_ONE, epsilon=1),
    ):
        answer = statistic([])
        assert answer.low <= answer.high  # the value of a count may lie below: it can be negative, its interval not


def test_a_mean_lies_within_the_bounds_even_when_the_noise_is_large():
    statistic = statistics.Mean(bounds=(10, 20), relation=ADD_REMOVE, epsilon=0.001)
    assert all(10 <= statistic([12.0]).value <= 20 for _ in range(200))


REFUSED = [
    (lambda: statistics.count([1], epsilon=1), dp.errors.MissingParameter, "relation="),
    (lambda: statistics.count([1], relation=dp.Relation.UNSTATED, epsilon=1), dp.errors.MissingParameter, "relation="),
    (lambda: statistics.count([1], relation=CHANGE_ONE, epsilon=1), dp.errors.ParameterError, "public"),
    (lambda: statistics.count([1], relation=ADD_REMOVE), dp.errors.MissingParameter, "has no default"),
    (lambda: statistics.count([1], relation=ADD_REMOVE, epsilon=1, rho=1), dp.errors.ConflictingParameters, "one of"),
    (lambda: statistics.count([1], relation=ADD_REMOVE, rho=1, delta=0.1), dp.errors.ConflictingParameters, "delta"),
    (lambda: statistics.count([1], relation=ADD_REMOVE, epsilon=0), dp.errors.ParameterError, "epsilon"),
    (lambda: statistics.count([1], relation=ADD_REMOVE, epsilon=1, delta=1), dp.errors.ParameterError, "delta"),
    (lambda: statistics.count(3, relation=ADD_REMOVE, epsilon=1), dp.errors.InputError, "column"),
    (lambda: statistics.count("abc", relation=ADD_REMOVE, epsilon=1), dp.errors.InputError, "column"),
    (lambda: statistics.sum([1], relation=ADD_REMOVE, epsilon=1), dp.errors.MissingParameter, "bounds"),
    (lambda: statistics.mean([1], relation=ADD_REMOVE, epsilon=1), dp.errors.MissingParameter, "bounds"),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, error=1),
        dp.errors.MissingParameter,
        "rows_expected=",
    ),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, unit=["a"]),
        dp.errors.MissingParameter,
        "rows",
    ),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, rows=2),
        dp.errors.MissingParameter,
        "unit",
    ),
    (
        lambda: statistics.mean([1, 2], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, unit=["a"], rows=2),
        dp.errors.InputError,
        "as long as",
    ),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, missing=float("nan")),
        dp.errors.ParameterError,
        "missing",
    ),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, missing=7),
        dp.errors.ParameterError,
        "within the bounds",
    ),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, confidence=95),
        dp.errors.ParameterError,
        "confidence",
    ),
    (
        lambda: statistics.mean([1], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, target="population"),
        dp.errors.ParameterError,
        "target",
    ),
    (
        lambda: statistics.mean([], bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0),
        dp.errors.InputError,
        "at least one row",
    ),
]


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED)
def test_what_cannot_be_asked_is_refused_in_words(ask, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ask()
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("bounds", [(2**53 + 1, 2**53 + 9), (2**60, 2**60 + 10), (-(2**53) - 9, -(2**53) - 1)], ids=str)
@pytest.mark.parametrize("make", [statistics.Sum, statistics.Mean, statistics.Variance], ids=lambda make: make.__name__)
def test_bounds_that_floats_do_not_hold_are_refused(make, bounds):
    with pytest.raises(dp.errors.ParameterError, match="subtract a public offset"):
        make(bounds=bounds, relation=ADD_REMOVE, epsilon=1)


def test_a_grid_finer_than_the_floats_at_the_bounds_is_refused():
    for start, grid in ((2**53, 1), (1e15, 0.0625)):
        with pytest.raises(dp.errors.ParameterError, match="finer than floats"):
            statistics.Mean(bounds=(start, start + 16), grid=grid, relation=ADD_REMOVE, epsilon=1)
        statistics.Mean(bounds=(start, start + 16), grid=2 * grid, relation=ADD_REMOVE, epsilon=1)


@pytest.mark.parametrize("start", [1e15, 1e6, 2.0**53 - 0.5, -1e15])
def test_far_from_zero_no_step_is_finer_than_the_floats(start):
    scale = statistics.Mean(bounds=(start, start + 4), relation=ADD_REMOVE, epsilon=1).scale
    assert scale.grid == math.ulp(max(abs(start), abs(start + 4)))
    for value in (start, start + 1, start + 2.5):
        position = int(scale.positions(np.array([value]))[0])
        assert abs(scale.value(position) - Fraction(value)) <= scale.grid / 2


def test_an_estimate_knows_what_it_cost():
    answer = statistics.count([1, 2, 3], relation=ADD_REMOVE, rho=0.5)
    assert answer.guarantee == dp.ZCDP(0.5, relation=ADD_REMOVE)
    assert answer.cost.epsilon(1e-6).upper < answer.guarantee.to_approx(delta=1e-6).epsilon
