"""Second moments about a public center: exact integers, how far a row moves them, what the intervals contain."""

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
from hypothesis.extra import numpy as hnp

import discreet as dp
from discreet.audit import Outcome, audit
from discreet.statistics import Covariance, MatrixEstimate, Missing, covariance
from discreet.statistics.moments.gram import STEPS, Region, table_columns
from discreet.testing import Check, Subject, conformance_checks
from tests.chances import fewest
from tests.conftest import Rounds

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
FORMS = [(ADD_REMOVE, Missing.LEAVE_OUT), (CHANGE_ONE, Missing.LEAVE_OUT), (CHANGE_ONE, 0)]


def region_of(kind, columns):
    return {"bounds": [(-1, 1)] * columns} if kind == "box" else {"center": [0] * columns, "radius": 1}


def moves(statistic, rows):
    """The distances of what neighboring tables measure, over all pairs of the given rows, or of a row and none."""
    nothing = [np.nan] * len(rows[0]) if statistic._fill is None else None
    beside = [rows[0]]
    measured = [
        statistic.measure(np.array([*beside, row], dtype=float)) for row in [*rows, *([nothing] if nothing else [])]
    ]
    others = measured if statistic.relation is CHANGE_ONE else [statistic.measure(np.array(beside, dtype=float))]
    gaps = [[abs(int(a) - int(b)) for a, b in zip(one, other, strict=True)] for one in measured for other in others]
    return max(map(sum, gaps)), max(sum(gap * gap for gap in row) for row in gaps)


def grid_of_rows(columns):
    fine = {1: 9, 2: 9, 3: 5}[columns]
    return [list(row) for row in product(np.linspace(-1, 1, fine), repeat=columns)]


@pytest.mark.theorem("Covariance.privacy")
@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize(("relation", "missing"), FORMS)
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_row_moves_what_is_released_no_further_than_stated(kind, relation, missing, columns):
    rows = grid_of_rows(columns)
    parameters = {"relation": relation, "missing": missing, "steps": 1000, **region_of(kind, columns)}
    laplace = Covariance(epsilon=1, **parameters)
    in_l1, _ = moves(laplace, rows)
    assert in_l1 <= laplace.mechanism.noise.scale
    gaussian = Covariance(rho=0.5, **parameters)
    _, squared = moves(gaussian, rows)
    assert squared <= gaussian.mechanism.noise.scale**2
    if kind == "box" and relation is ADD_REMOVE:  # attained at the corners, and for every number of columns
        assert in_l1 == laplace.mechanism.noise.scale
        assert squared >= 0.999 * gaussian.mechanism.noise.scale**2
    if kind == "ball" and relation is ADD_REMOVE:
        assert in_l1 == laplace.mechanism.noise.scale  # by a row at the center
        assert squared >= 0.98 * gaussian.mechanism.noise.scale**2


@given(
    hnp.arrays(np.float64, (2, 4), elements=st.floats(-1, 1, width=32)),
    st.sampled_from(["box", "ball"]),
    st.sampled_from(FORMS),
    st.sampled_from(["epsilon", "rho"]),
)
def test_no_two_rows_of_four_columns_are_further_apart_than_stated(rows, kind, form, price):
    amount = {"epsilon": {"epsilon": 1}, "rho": {"rho": 0.5}}[price]
    statistic = Covariance(relation=form[0], missing=form[1], **amount, **region_of(kind, 4))
    in_l1, squared = moves(statistic, [list(rows[0]), list(rows[1])])
    scale = statistic.mechanism.noise.scale
    assert in_l1 <= scale if price == "epsilon" else squared <= scale**2


@pytest.mark.theorem("Covariance.privacy")
@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize(("relation", "missing"), FORMS)
def test_an_exact_audit_keeps_the_guarantee(kind, relation, missing):
    statistic = Covariance(relation=relation, missing=missing, epsilon=0.5, **region_of(kind, 2))
    verdict = audit(statistic)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low <= 0.5 * (1 + 1e-12)
    if relation is ADD_REMOVE:
        assert verdict.low == pytest.approx(0.5)


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 20), st.integers(2, 5)), elements=st.floats(allow_nan=False, width=64)
    ),
    st.sampled_from([7, 1000, STEPS]),
)
def test_whole_rows_stay_in_the_ball_exactly(rows, steps):
    region = Region((0.0,) * rows.shape[1], (1.0,) * rows.shape[1], ball=True, steps=steps)
    for row in region.positions(rows):
        assert sum(int(entry) ** 2 for entry in row) <= steps**2


@pytest.mark.parametrize("length", [0.5, 1.0, 1.0 + 1e-15, 3.0, 1e300])
def test_rows_on_the_sphere_are_not_pulled_outside_by_rounding(length):
    directions = np.random.default_rng(5).normal(size=(3000, 6))
    rows = length * directions / np.linalg.norm(directions, axis=1)[:, np.newaxis]
    region = Region((0.0,) * 6, (1.0,) * 6, ball=True)
    norms = [sum(int(entry) ** 2 for entry in row) for row in region.positions(rows)]
    assert max(norms) <= STEPS**2
    assert min(norms) >= (min(length, 1.0) * STEPS * (1 - 1e-9)) ** 2


def test_products_are_summed_exactly():
    rows = np.random.default_rng(2).uniform(-1, 1, (40_000, 3))
    rows[17] = [1.0, -1.0, 1.0]
    region = Region((0.0,) * 3, (1.0,) * 3, ball=False)
    whole = region.positions(rows).astype(np.int64).astype(object)
    gram = region.gram(table_columns(rows, 3), None)
    assert gram.present == 40_000
    assert (gram.products == whole.T @ whole).all()


def test_without_noise_the_arithmetic_gives_back_the_second_moments():
    rows = np.random.default_rng(4).uniform([0, -10, 5], [4, 10, 6], (500, 3))
    bounds = [(0, 4), (-10, 10), (5, 6)]
    about = (rows - [2, 0, 5.5]).T @ (rows - [2, 0, 5.5]) / 500
    for relation, missing in FORMS:
        fill = missing if missing is Missing.LEAVE_OUT else [0, 0, 5]
        for price in ({"epsilon": 1}, {"rho": 1}):
            statistic = Covariance(bounds=bounds, relation=relation, missing=fill, **price)
            estimate = statistic.estimate(statistic.measure(rows), public_rows=statistic.public_rows(rows))
            assert np.allclose(estimate.value, about, rtol=0, atol=1e-8)
            assert estimate.count == pytest.approx(500)
            assert (estimate.low <= about).all()
            assert (about <= estimate.high).all()


CASES = [
    ({"bounds": [(-4, 4)] * 2, "epsilon": 1}, FORMS[0]),
    ({"bounds": [(-4, 4)] * 2, "rho": 0.1}, FORMS[1]),
    ({"bounds": [(-4, 4)] * 2, "epsilon": 1}, FORMS[2]),
    ({"center": [0, 0], "radius": 4, "epsilon": 0.5}, FORMS[0]),
    ({"center": [0, 0], "radius": 4, "epsilon": 1, "delta": 1e-6}, FORMS[0]),
]


@pytest.mark.theorem("Covariance.accuracy")
@pytest.mark.parametrize(("parameters", "form"), CASES, ids=str)
def test_all_entries_lie_in_their_intervals_as_often_as_guaranteed(parameters, form, rounds: Rounds):
    runs = rounds(sample=400, full=10_000)
    rows = np.random.default_rng(6).multivariate_normal([0.5, 0], [[1, 0.6], [0.6, 1]], 800)
    statistic = Covariance(relation=form[0], missing=form[1], **parameters)
    rows = rows / np.maximum(1, np.linalg.norm(rows, axis=1) / 4)[:, np.newaxis]
    truth = rows.T @ rows / len(rows)
    measured, public = statistic.measure(rows), statistic.public_rows(rows)
    inside = widths = 0
    for _ in range(runs):
        estimate = statistic.estimate(statistic.mechanism(measured), public_rows=public)
        inside += bool(((estimate.low <= truth) & (truth <= estimate.high)).all())
        widths = max(widths, float(estimate.half_width.max()))
    assert inside >= fewest(runs, 0.95)
    assert widths < 2


def test_error_is_kept_for_the_widest_entry():
    rows = np.random.default_rng(8).uniform(-1, 1, (5000, 2)) * [1, 10]
    for relation, missing in FORMS:
        parameters = {"bounds": [(-1, 1), (-10, 10)], "relation": relation, "missing": missing}
        estimate = Covariance(error=3, rows_expected=5000, **parameters)(rows)
        assert estimate.half_width.max() <= 3 * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize(("relation", "missing"), FORMS)
def test_error_leaves_room_for_the_steps(kind, relation, missing):
    rows = np.random.default_rng(9).uniform(-0.7, 0.7, (5000, 2))
    parameters = {"relation": relation, "missing": missing, "rows_expected": 5000, **region_of(kind, 2)}
    estimate = Covariance(error=0.02, steps=500, **parameters)(rows)
    assert 0.5 * 0.02 <= estimate.half_width.max() <= 0.02 * (1 + 1e-9)
    with pytest.raises(dp.errors.ParameterError, match="below the grid"):
        Covariance(error=0.02, steps=50, **parameters)


@pytest.mark.theorem("Covariance.accuracy")
def test_rows_at_the_edge_of_any_box_stay_in_their_interval():
    for low, high in np.sort(np.random.default_rng(10).uniform(0, 1, (60, 2))).tolist():
        statistic = Covariance(bounds=[(low, high)], relation=CHANGE_ONE, missing=low, epsilon=1)
        center = Fraction(statistic.region.center[0])
        for row in (low, high):
            rows = np.full((100, 1), row)
            estimate = statistic.estimate(statistic.measure(rows), public_rows=100)
            truth = (Fraction(row) - center) ** 2
            assert Fraction(float(estimate.low[0, 0])) <= truth <= Fraction(float(estimate.high[0, 0]))


def test_a_box_reaches_at_least_as_far_as_its_bounds():
    for low, high in np.sort(np.random.default_rng(11).uniform(-1, 1, (200, 2))).tolist():
        region = Covariance(bounds=[(low, high)], relation=ADD_REMOVE, epsilon=1).region
        center, half = Fraction(region.center[0]), Fraction(region.halves[0])
        assert center - half <= Fraction(low) < Fraction(high) <= center + half
    third = Fraction(1, 3)
    assert Covariance(center=[0], radius=third, relation=ADD_REMOVE, epsilon=1).region.halves[0] > third


TABLE = {"a": [1.0, 2.0, None, 4.0], "b": [3, 1, 2, 5]}


@pytest.mark.parametrize(
    "table",
    [
        [np.array(TABLE["a"], dtype=float), np.array(TABLE["b"])],
        np.array([[1, 3], [2, 1], [np.nan, 2], [4, 5]]),
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        pa.RecordBatch.from_pydict(TABLE),
        (pd.Series(TABLE["a"]), pl.Series(TABLE["b"])),
        [np.array([1, 2, None, 10**400], dtype=object), pa.array([3.0, 1, 2, float("inf")])],
    ],
    ids=lambda table: type(table).__name__,
)
def test_every_kind_of_table_is_measured_alike_and_rows_with_a_missing_value_left_out(table):
    statistic = Covariance(bounds=[(0, 4), (0, 5)], relation=ADD_REMOVE, epsilon=1)
    expected = statistic.measure(np.array([[1.0, 3.0], [2.0, 1.0], [4.0, 5.0]]))
    assert list(statistic.measure(table)) == list(expected)


def test_missing_values_are_replaced_where_asked_and_the_size_is_then_public():
    statistic = Covariance(bounds=[(0, 4), (0, 5)], relation=CHANGE_ONE, epsilon=1, missing=[2, 1])
    table = pd.DataFrame(TABLE)
    assert list(statistic.measure(table)) == list(statistic.measure(table.fillna({"a": 2.0})))
    assert statistic(table).count == 4


def test_empty_tables_are_answered_where_the_number_is_private_and_refused_where_it_is_public():
    answer = covariance(np.empty((0, 2)), bounds=[(0, 1)] * 2, relation=ADD_REMOVE, epsilon=1)
    assert answer.value.shape == (2, 2)
    statistic = Covariance(bounds=[(0, 1)] * 2, relation=ADD_REMOVE, epsilon=1)
    measured = statistic.measure(np.empty((0, 2)))
    assert np.allclose(statistic.estimate(measured, public_rows=None).high, 0.25)  # at the most likely noise
    with pytest.raises(dp.errors.InputError, match="at least one row"):
        covariance(np.empty((0, 2)), bounds=[(0, 1)] * 2, relation=CHANGE_ONE, epsilon=1, missing=0)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "not taken from the data"),
        ({"center": [0, 0]}, "not taken from the data"),
        ({"bounds": [(0, 1)], "radius": 1}, "given once"),
        ({"center": [0, float("nan")], "radius": 1}, "finite"),
        ({"center": [], "radius": 1}, "one entry a column"),
        ({"center": [0], "radius": 0}, "radius"),
        ({"center": [0], "radius": 1e200}, "1e150"),
        ({"bounds": [(1, 0)]}, "low < high"),
        ({"bounds": [(0, 1e200)]}, "1e150"),
        ({"bounds": [(0, 1)], "missing": [0, 0]}, "one number a column"),
        ({"bounds": [(0, 1)] * 2, "missing": [Missing.LEAVE_OUT, 0.5]}, "one number a column"),
        ({"bounds": [(0, 1)] * 2, "missing": 1e9}, "within the bounds of its column"),
        ({"bounds": [(0, 1), (5, 6)], "missing": 0}, "or a list"),
        ({"center": [3, 3], "radius": 1, "missing": [3, 1.5]}, "radius of its center"),
        ({"bounds": [(2**53 + 1, 2**53 + 9)]}, "public offset"),
        ({"bounds": [(2**60, 2**60 + 2**20)]}, "public offset"),
        ({"bounds": [(1e15, 1e15 + 0.125)]}, "public offset"),
        ({"center": [0, 2**53 + 1], "radius": 8}, "public offset"),
        ({"bounds": [(0, 1)], "steps": 1 << 40}, "2.38"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(parameters, words):
    with pytest.raises(dp.errors.ParameterError, match=words):
        Covariance(relation=ADD_REMOVE, epsilon=1, **parameters)


@pytest.mark.parametrize("table", [[1.0, 2.0], np.zeros(3), np.zeros((3, 3)), [[1.0], [1.0, 2.0]], "ab", {"a": [1]}])
def test_what_is_no_table_of_two_columns_is_refused(table):
    with pytest.raises(dp.errors.InputError):
        Covariance(bounds=[(0, 1)] * 2, relation=ADD_REMOVE, epsilon=1)(table)


@pytest.mark.parametrize("rows", [[(0.0, 1.0), (0.0, 1.0)], [[0.0, 0.0], [1.0, 1.0]], (np.zeros(2), [1.0, 1.0])])
def test_lists_within_a_list_are_refused_because_they_could_be_rows_or_columns(rows):
    with pytest.raises(dp.errors.InputError, match="could be rows"):
        Covariance(bounds=[(0, 1)] * 2, relation=ADD_REMOVE, epsilon=1)(rows)


def test_bounds_far_from_zero_are_taken_where_floats_hold_their_middle():
    region = Covariance(bounds=[(1e15, 1e15 + 1), (0, 1e100)], relation=ADD_REMOVE, epsilon=1).region
    assert region.center[0] == 1e15 + 0.5
    assert region.halves[0] == 0.5


def test_the_nearest_matrix_without_negative_eigenvalues_is_at_hand():
    noisy = MatrixEstimate([[1.0, 2.0], [2.0, 1.0]], np.zeros((2, 2)), np.ones((2, 2)), 9, 0.9, dp.PureDP(1), "test")
    nearest = noisy.nearest_psd()
    assert np.allclose(nearest.value, [[1.5, 1.5], [1.5, 1.5]])
    assert nearest.guarantee == noisy.guarantee
    assert not nearest.value.flags.writeable


def test_a_matrix_estimate_shows_entries_with_their_intervals():
    estimate = covariance(np.zeros((900, 2)), bounds=[(-1, 1)] * 2, relation=CHANGE_ONE, missing=0, epsilon=1)
    assert "900 rows" in str(estimate)
    assert repr(estimate).startswith("MatrixEstimate(2 x 2, PureDP(epsilon=1.0")
    assert "<table" in estimate._repr_html_()
    assert np.asarray(estimate).shape == (2, 2)
    assert estimate.cost.epsilon(0.0).upper <= 1.0 + 1e-9
    matrix, low, high = [[0.25, -0.5], [-0.5, 0.0]], [[0, -1], [-1, 0]], [[1, 0], [0, 3]]
    cut = MatrixEstimate(matrix, low, high, 9, 0.9, dp.PureDP(1), "test")
    for shown in ("0.25 [0.00, 1.00]", "-0.50 [-1.00, 0.00]", "0 [0, 3]"):
        assert shown in str(cut)


SUBJECTS = {
    "Covariance": Subject(
        lambda: Covariance(center=[0], radius=1, steps=2, relation=ADD_REMOVE, epsilon=1),
        [np.array([[0.5], [1.0]]), np.array([[-1.0]])],
    ),
    "Covariance, Gaussian": Subject(
        lambda: Covariance(bounds=[(-1, 1)], steps=2, relation=ADD_REMOVE, rho=0.5), [np.array([[0.5], [1.0]])]
    ),
    "Covariance of a known number": Subject(
        lambda: Covariance(bounds=[(-1, 1)], relation=CHANGE_ONE, epsilon=1, missing=0), [np.array([[0.5], [1.0]])]
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_covariance_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    check(replace(subject, draws=rounds(sample=500, full=40_000), forks=rounds(sample=1, full=subject.forks)))
