"""Variance and standard deviation: three sums at the price of one, their noise, and what the intervals contain."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.audit import Outcome, audit
from discreet.statistics import Missing, Rows, StandardDeviation, Variance, standard_deviation, variance
from discreet.statistics.sums.three_sums import FOR_GAUSSIAN, FOR_LAPLACE
from discreet.statistics.sums.variances import VarianceForm
from discreet.testing import Check, Subject, conformance_checks
from tests.chances import fewest
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
RELATIONS = [ADD_REMOVE, CHANGE_ONE]
PRICES = [{"epsilon": 1}, {"rho": 0.5}]


def distances(one, other):
    """The L1 distance and the square of the L2 distance."""
    moved = [abs(int(a) - int(b)) for a, b in zip(np.atleast_1d(one), np.atleast_1d(other), strict=True)]
    return sum(moved), sum(step * step for step in moved)


def furthest(statistic, domain, largest, relation):
    moves = [
        distances(statistic.measure(one), statistic.measure(other))
        for one, other in neighbors(domain, largest, relation)
    ]
    return max(one for one, _ in moves), max(two for _, two in moves)


@pytest.mark.parametrize("basis", [FOR_LAPLACE, FOR_GAUSSIAN], ids=["laplace", "gaussian"])
def test_number_sum_and_squares_come_back_from_the_three_sums(basis):
    for power, combination in enumerate((basis.size, basis.first, basis.second)):
        made = [
            sum(part * row[place] for part, row in zip(combination, basis.coefficients, strict=True))
            for place in range(3)
        ]
        assert made == [int(place == power) for place in range(3)]


@pytest.mark.theorem("Variance.privacy")
def test_the_three_numbers_of_a_row_are_positive_and_always_add_up_to_the_same():
    for steps, position in product((1, 2, 5, 7, 1000), range(8)):
        if position <= steps:
            row = [a * steps**2 + b * steps * position + c * position**2 for a, b, c in FOR_LAPLACE.coefficients]
            assert min(row) >= 0
            assert sum(row) == 17 * steps**2


@pytest.mark.theorem("Variance.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("missing", [Missing.LEAVE_OUT, 0])
def test_a_row_moves_what_is_released_as_far_as_stated_and_no_further(relation, missing):
    bounds, domain = (0, 5), [*range(-1, 7), None]
    laplace = Variance(bounds=bounds, relation=relation, epsilon=1, grid=1, missing=missing)
    assert furthest(laplace, domain, 3, relation)[0] == laplace.mechanism.noise.scale
    gaussian = Variance(bounds=bounds, relation=relation, rho=0.5, grid=1, missing=missing)
    squared = furthest(gaussian, domain, 3, relation)[1]
    assert squared <= gaussian.mechanism.noise.scale**2 <= 1.05 * squared + 1


@pytest.mark.theorem("Variance.privacy")
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_with_a_public_number_of_rows_the_exact_variance_moves_by_its_stated_sensitivity(rows):
    def exact(table):
        return Fraction(rows * sum(x * x for x in table) - sum(table) ** 2, rows**2)

    domain = range(4)
    pairs = [(list(t), [*t[:-1], x]) for t in product(domain, repeat=rows) for x in domain]
    assert max(abs(exact(one) - exact(other)) for one, other in pairs) == Fraction(rows - 1, rows**2) * 9
    statistic = Variance(bounds=(0, 3), relation=CHANGE_ONE, epsilon=1, grid=1, missing=0)
    assert statistic.form is VarianceForm.KNOWN_SIZE
    moved = max(abs(statistic.measure(one) - statistic.measure(other)) for one, other in pairs)
    assert moved == (9 if rows > 1 else 0) <= statistic.mechanism.noise.scale


@pytest.mark.theorem("Variance.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_a_person_with_several_rows_moves_it_by_the_contribution_at_most(relation, price):
    statistic = Variance(bounds=(0, 5), relation=relation, grid=1, rows=2, **price)
    persons = [rows for count in range(4) for rows in product([0, 2, 4, 5, None], repeat=count)]
    measured = [statistic.measure(Rows([1.0, *rows], unit=["x", *["me"] * len(rows)])) for rows in persons]
    others = measured if relation is CHANGE_ONE else measured[:1]
    in_l1, squared = (max(part) for part in zip(*(distances(a, b) for a in measured for b in others), strict=True))
    scale = statistic.mechanism.noise.scale
    assert in_l1 == scale if "epsilon" in price else squared <= scale**2 <= 1.05 * squared


@pytest.mark.theorem("Variance.privacy")
@pytest.mark.theorem("StandardDeviation.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("missing", [Missing.LEAVE_OUT, 0])
def test_an_exact_audit_over_all_small_tables_keeps_the_guarantee(relation, missing):
    for kind in (Variance, StandardDeviation):
        statistic = kind(bounds=(0, 5), relation=relation, epsilon=0.5, grid=1, missing=missing)
        pairs = [pair for pair in neighbors([0, 1, 4, 5, None], 2, relation) if pair[0] or relation is ADD_REMOVE]
        verdict = audit(statistic, neighbors=pairs)
        assert verdict.outcome is Outcome.KEPT
        assert verdict.low == pytest.approx(0.5)
        assert statistic.guarantee == dp.PureDP(0.5, relation=relation)


def covered(statistic, table, truth, runs):
    """In how many releases of one table the interval contains the truth."""
    measured, rows = statistic.measure(table), statistic.public_rows(table)
    estimates = (statistic.estimate(statistic.mechanism(measured), public_rows=rows) for _ in range(runs))
    return sum(estimate.low <= truth <= estimate.high for estimate in estimates)


COLUMNS = {
    "narrow": (np.random.default_rng(1).normal(0, 1, 400), (-5.0, 5.0)),
    "skewed": (np.random.default_rng(2).lognormal(10, 0.6, 3000), (0.0, 2e5)),
    "two ends": (np.repeat([0.0, 1.0], [30, 60]), (0.0, 1.0)),
    "constant": (np.full(2000, 0.25), (0.0, 1.0)),
}
CASES = [
    ("narrow", {"relation": ADD_REMOVE, "epsilon": 1}),
    ("skewed", {"relation": ADD_REMOVE, "epsilon": 0.1, "sample": True}),
    ("two ends", {"relation": ADD_REMOVE, "rho": 0.1}),
    ("constant", {"relation": ADD_REMOVE, "epsilon": 1, "delta": 1e-6}),
    ("narrow", {"relation": CHANGE_ONE, "epsilon": 0.5}),
    ("skewed", {"relation": CHANGE_ONE, "epsilon": 0.5, "missing": 0}),
]


@pytest.mark.theorem("Variance.accuracy")
@pytest.mark.parametrize(("column", "parameters"), CASES, ids=str)
def test_intervals_contain_the_variance_of_the_table_as_often_as_guaranteed(column, parameters, rounds: Rounds):
    runs = rounds(sample=400, full=10_000)
    values, bounds = COLUMNS[column]
    truth = float(np.var(np.clip(values, *bounds), ddof=int(parameters.get("sample", False))))
    assert covered(Variance(bounds=bounds, **parameters), values, truth, runs) >= fewest(runs, 0.95)


@pytest.mark.theorem("Variance.accuracy")
def test_intervals_are_hardly_wider_than_the_noise_demands():
    values, bounds = COLUMNS["skewed"]
    statistic = Variance(bounds=bounds, relation=ADD_REMOVE, epsilon=1)
    estimates = [statistic.estimate(statistic.release(values), public_rows=None) for _ in range(1000)]
    errors = np.sort([abs(one.value - values.clip(*bounds).var()) for one in estimates])
    widths = [(one.high - one.low) / 2 for one in estimates]
    assert np.median(widths) < 1.5 * errors[950]


@pytest.mark.theorem("StandardDeviation.accuracy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_intervals_contain_the_standard_deviation_as_often_as_guaranteed(relation, rounds: Rounds):
    runs = rounds(sample=500, full=10_000)
    values, bounds = COLUMNS["narrow"]
    statistic = StandardDeviation(bounds=bounds, relation=relation, epsilon=1, missing=0)
    assert covered(statistic, values, float(np.std(np.clip(values, *bounds))), runs) >= fewest(runs, 0.95)


@pytest.mark.theorem("Variance.accuracy")
@pytest.mark.parametrize("parameters", [{"relation": ADD_REMOVE}, {"relation": CHANGE_ONE, "missing": 0}], ids=str)
def test_intervals_for_the_population_cover_noise_and_sampling(parameters, rounds: Rounds):
    runs = rounds(sample=300, full=3000)
    people = np.random.default_rng(7)
    statistic = Variance(bounds=(0, 1), epsilon=1, target=dp.Target.POPULATION, **parameters)
    estimates = [statistic(people.beta(2, 5, 500)) for _ in range(runs)]
    truth = 2 * 5 / (7**2 * 8)
    assert sum(one.low <= truth <= one.high for one in estimates) >= fewest(runs, 0.95)
    assert max(one.high for one in estimates) < 0.15


def squared_error_to_first_order(basis, mean, spread, per_row):
    """The variance of the answer, times the number of rows squared, for noise of variance 2 on each sum of norm 1."""
    return 2 * sum((size * per_row) ** 2 for size in basis.about((mean, mean), (spread, spread)))


@pytest.mark.theorem("Variance.accuracy")
def test_three_sums_beat_a_count_and_two_sums_at_every_mean_and_variance():
    ratios = []
    for mean in np.linspace(0, 1, 41):
        for spread in np.linspace(0, mean * (1 - mean), 21):
            center = mean - 0.5
            # a third of epsilon each: count, sum about the middle, squares about the middle of their range
            parts = (0.125, 2 * center * 0.5, 0.125 - (spread + center**2) + 2 * center**2)
            common = 2 * 9 * sum(part**2 for part in parts)
            ratios.append(common / squared_error_to_first_order(FOR_LAPLACE, mean, spread, 17))
    assert min(ratios) >= 1.8


def test_the_middle_of_many_answers_is_the_variance():
    values, bounds = COLUMNS["narrow"]
    for parameters in ({"relation": ADD_REMOVE}, {"relation": CHANGE_ONE}, {"relation": CHANGE_ONE, "missing": 0}):
        statistic = Variance(bounds=bounds, epsilon=1, **parameters)
        answers = [statistic(values).value for _ in range(300)]
        assert np.median(answers) == pytest.approx(np.var(values), rel=0.25)


@given(st.lists(st.integers(-2, 9), min_size=1, max_size=12), st.booleans())
def test_without_noise_the_arithmetic_gives_back_the_variance(values, gaussian):
    basis = FOR_GAUSSIAN if gaussian else FOR_LAPLACE
    price = {"rho": 0.5} if gaussian else {"epsilon": 1}
    statistic = Variance(bounds=(0, 7), grid=1, relation=ADD_REMOVE, **price)
    measured = statistic.measure(values)
    clipped = np.clip(values, 0, 7)
    assert list(measured) == [
        sum(a * 49 + b * 7 * int(x) + c * int(x) ** 2 for x in clipped) for a, b, c in basis.coefficients
    ]
    estimate = statistic.estimate(measured, public_rows=None)
    assert estimate.value == pytest.approx(float(np.var(clipped)), abs=1e-12)
    assert estimate.low <= np.var(clipped) <= estimate.high


def test_the_sample_variance_divides_by_one_less():
    values = [0.0, 1.0, 1.0, 1.0]
    for relation, missing in ((ADD_REMOVE, Missing.LEAVE_OUT), (CHANGE_ONE, 0)):
        statistic = Variance(bounds=(0, 1), grid=1, relation=relation, epsilon=1, missing=missing, sample=True)
        rows = statistic.public_rows(values) if missing == 0 else None
        assert statistic.estimate(statistic.measure(values), public_rows=rows).value == pytest.approx(
            np.var(values, ddof=1)
        )


def test_error_asks_for_the_cheapest_price_that_keeps_it():
    values = np.random.default_rng(3).uniform(0, 100, 4000)
    for parameters in ({"relation": ADD_REMOVE}, {"relation": CHANGE_ONE, "missing": 0}):
        asked = Variance(bounds=(0, 100), error=40, rows_expected=4000, **parameters)
        answer = asked(values)
        assert (answer.high - answer.low) / 2 <= 40
    cheaper = Variance(bounds=(0, 100), epsilon=0.99 * asked.guarantee.epsilon, **parameters)(values)
    assert (cheaper.high - cheaper.low) / 2 > 40
    deviation = StandardDeviation(bounds=(0, 100), relation=ADD_REMOVE, error=2, rows_expected=4000)(values)
    assert (deviation.high - deviation.low) / 2 <= 2


@pytest.mark.theorem("StandardDeviation.accuracy")
@pytest.mark.parametrize("parameters", [{"relation": ADD_REMOVE}, {"relation": CHANGE_ONE, "missing": 0}], ids=str)
def test_the_error_asked_of_a_deviation_holds_even_where_there_is_none(parameters, rounds: Rounds):
    runs = rounds(sample=1000, full=10_000)
    statistic = StandardDeviation(bounds=(0, 1), error=0.1, rows_expected=2000, **parameters)
    measured = statistic.measure(np.full(2000, 0.25))
    answers = (statistic.estimate(statistic.mechanism(measured), public_rows=2000).value for _ in range(runs))
    assert sum(answer <= 0.1 for answer in answers) >= fewest(runs, 0.95)


@pytest.mark.theorem("NoisyVector.privacy")
@pytest.mark.parametrize("price", [*PRICES, {"epsilon": 1, "delta": 1e-5}], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_noise_is_audited_on_integers_as_far_apart_as_neighbors_and_no_further(price, relation):
    statistic = Variance(bounds=(0, 5), grid=1, relation=relation, **price)
    gaussian = price != {"epsilon": 1}
    basis = FOR_GAUSSIAN if gaussian else FOR_LAPLACE
    changed = relation is CHANGE_ONE
    stated = (
        25 * (basis.apart if changed else basis.sensitivity),
        25**2 * (basis.apart_squared if changed else basis.squared),
    )
    pairs = list(statistic.mechanism.neighbors())
    assert len(pairs) == 2
    for pair in pairs:
        measured = distances(*pair)[gaussian]
        assert 0.97 * stated[gaussian] <= measured <= stated[gaussian]
    if price in PRICES:
        small = Variance(bounds=(0, 1), grid=1, relation=relation, **price)
        assert audit(small.mechanism).outcome is Outcome.KEPT


ROWS = [1.0, 2.5, None, 4.0, float("nan")]


@pytest.mark.parametrize(
    "column",
    [
        ROWS,
        np.array(ROWS, dtype=np.float64),
        pd.Series(ROWS),
        pd.Series(ROWS, dtype="Float64"),
        pl.Series(ROWS, strict=False),
        pa.array([1.0, 2.5, None, 4.0, None]),
        pa.chunked_array([[1.0, 2.5], [None, 4.0, None]]),
        [Fraction(1), 2.5, None, 10**400, float("nan")],
    ],
    ids=lambda column: type(column).__module__,
)
def test_every_kind_of_column_is_measured_alike(column):
    statistic = Variance(bounds=(0, 4), grid=0.5, relation=ADD_REMOVE, epsilon=1)
    assert list(statistic.measure(column)) == list(statistic.measure([1.0, 2.5, 4.0]))


def test_infinities_are_clipped_and_missing_values_left_out_or_replaced():
    statistic = Variance(bounds=(0, 2), grid=1, relation=CHANGE_ONE, epsilon=1, missing=1)
    wide = [float("inf"), float("-inf"), None]
    assert statistic.measure(wide) == statistic.measure([2, 0, 1])


def test_empty_tables_are_answered_where_the_number_is_private_and_refused_where_it_is_public():
    answer = variance([], bounds=(0, 1), relation=ADD_REMOVE, epsilon=1)
    assert 0 <= answer.value <= 0.25
    statistic = Variance(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1)
    assert statistic.estimate(statistic.measure([]), public_rows=None).high == pytest.approx(
        0.25
    )  # at the most likely noise
    with pytest.raises(dp.errors.InputError, match="must have a row"):
        variance([], bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0)
    with pytest.raises(dp.errors.InputError, match="two where"):
        variance([0.5], bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0, sample=True)
    assert variance([0.5], bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0).value == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "relation="),
        ({"relation": ADD_REMOVE}, "has no default"),
        ({"relation": ADD_REMOVE, "error": 1}, "rows_expected="),
        ({"relation": ADD_REMOVE, "epsilon": 1, "rows": 2, "sample": True}, "n - 1"),
        ({"relation": ADD_REMOVE, "epsilon": 1, "rows": 2, "target": dp.Target.POPULATION}, "population"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(parameters, words):
    with pytest.raises(dp.errors.ParameterError, match=words):
        Variance(bounds=(0, 1), **parameters)


@pytest.mark.parametrize("ask", [{"epsilon": 1}, {"error": 1, "rows_expected": 10}], ids=str)
@pytest.mark.parametrize("kind", [Variance, StandardDeviation])
@pytest.mark.parametrize("far", [1e200, 1e-200])
def test_bounds_whose_squares_leave_the_floats_are_refused_before_anything_is_drawn(ask, kind, far):
    with pytest.raises(dp.errors.ParameterError, match="another unit"):
        kind(bounds=(0, far), relation=ADD_REMOVE, **ask)


def test_far_from_zero_the_interval_knows_how_far_apart_floats_are():
    start = 2**60
    values = np.array([start + 100, start + 700, start + 1000] * 1000, dtype=np.int64)
    truth = float(np.var(values - start))
    statistic = Variance(bounds=(start, start + 1024), relation=ADD_REMOVE, epsilon=10)
    assert statistic.scale.grid == 256
    assert covered(statistic, values, truth, 100) >= fewest(100, 0.95)


def test_the_functions_return_what_the_classes_do():
    for ask in (variance, standard_deviation):
        answer = ask([1.0, 2.0] * 50, bounds=(0, 4), relation=ADD_REMOVE, epsilon=1, unit=[*range(50)] * 2, rows=2)
        assert answer.guarantee == dp.PureDP(1, relation=ADD_REMOVE)
        assert answer.low <= answer.high


SUBJECTS = {
    "Variance": Subject(lambda: Variance(bounds=(0, 1), grid=1, relation=ADD_REMOVE, epsilon=2), [[0, 1, 1], []]),
    "Variance of a known number": Subject(
        lambda: Variance(bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0.5), [[0.5, None], [0.0, 1.0]]
    ),
    "Variance, Gaussian": Subject(
        lambda: StandardDeviation(bounds=(0, 1), grid=1, relation=ADD_REMOVE, rho=0.5), [[0, 1, 1]]
    ),
    "Variance, calibrated": Subject(
        lambda: Variance(bounds=(0, 1), grid=0.25, relation=CHANGE_ONE, epsilon=1, delta=1e-5, missing=0),
        [[0.5, 0.75]],
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_variance_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    check(replace(subject, draws=rounds(sample=500, full=40_000), forks=rounds(sample=1, full=subject.forks)))
