"""Boxes keep k and cover their rows; k-anonymity still tells secrets by homogeneity, intersection and dimension."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet.attacks import (
    AttackedRelease,
    chance_of_one_left,
    curse,
    expected_side,
    homogeneity,
    intersection,
    least_side,
    mondrian,
)
from discreet.data import register
from discreet.errors import InputError, ParameterError

TABLE = register(people=40_000, seed=3).discharges
ONE_HOSPITAL = ("zip_code", "birth_date", "sex")
ANOTHER = ("education", "occupation", "children", "vehicle", "height")
POINTS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 60), st.integers(1, 4)),
    elements=st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-1e6, 1e6)),
)


def overlap(low, high, one, two):
    return bool(np.all((low[one] <= high[two]) & (low[two] <= high[one])))


def cuts_left(points, k):
    """Whether some cut of some column leaves k rows on either side."""
    for column in points.T:
        counts = np.unique(column, return_counts=True)[1]
        below = np.cumsum(counts)[:-1]
        if np.any((below >= k) & (len(column) - below >= k)):
            return True
    return False


@pytest.mark.theorem("mondrian.accuracy")
@given(points=POINTS, k=st.integers(1, 8))
def test_every_group_has_k_boxes_cover_their_rows_do_not_overlap_and_cannot_be_cut(points, k):
    if len(points) < k:
        with pytest.raises(InputError, match="fewer people than k"):
            mondrian(points, k=k)
        return
    boxes = mondrian(points, k=k)
    assert np.array_equal(np.bincount(boxes.group), boxes.sizes)
    assert boxes.anonymity == boxes.sizes.min() >= k
    assert np.all((boxes.low[boxes.group] <= points) & (points <= boxes.high[boxes.group]))
    for group in range(len(boxes.sizes)):
        rows = points[boxes.group == group]
        assert np.array_equal(boxes.low[group], rows.min(axis=0))
        assert np.array_equal(boxes.high[group], rows.max(axis=0))
        assert not cuts_left(rows, k)
    for one, two in product(range(len(boxes.sizes)), repeat=2):
        if one < two:
            assert not overlap(boxes.low, boxes.high, one, two)


def test_the_widest_side_is_cut_at_its_median():
    points = np.column_stack([np.arange(8) * 10.0, [0, 1, 0, 1, 0, 1, 0, 1]])
    boxes = mondrian(points, k=4)
    # both columns span their whole range; the first is cut, as the first of the widest
    assert sorted(map(tuple, boxes.low.tolist())) == [(0.0, 0.0), (40.0, 0.0)]


def test_rows_in_any_order_give_the_same_groups():
    points = np.random.default_rng(3).random((500, 3))
    order = np.random.default_rng(4).permutation(500)
    one, two = mondrian(points, k=7), mondrian(points[order], k=7)
    partition = {frozenset(np.flatnonzero(one.group == group).tolist()) for group in range(len(one.sizes))}
    assert partition == {frozenset(order[two.group == group].tolist()) for group in range(len(two.sizes))}


def test_constant_columns_make_one_group_and_no_side():
    boxes = mondrian(np.ones((50, 3)), k=5)
    assert boxes.sizes.tolist() == [50]
    assert boxes.mean_side == 0.0


def test_ties_are_never_parted():
    boxes = mondrian(np.repeat([0.0, 1.0, 2.0], [40, 3, 40])[:, None], k=4)
    assert sorted(boxes.sizes.tolist()) == [40, 43]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2.0**60])
def test_values_that_are_missing_or_endless_are_refused_without_showing_them(bad):
    points = np.ones((20, 2))
    points[3, 1] = bad
    with pytest.raises(InputError, match=r"a size below 2\^53") as refusal:
        mondrian(points, k=2)
    assert "3" not in str(refusal.value).replace("53", "")


@pytest.mark.parametrize("data", [np.ones(5), np.ones((2, 2, 2)), np.ones((0, 3)), [["a", "b"]]])
def test_what_is_no_table_of_numbers_is_refused(data):
    with pytest.raises(InputError, match="array of numbers"):
        mondrian(data, k=1)


@pytest.mark.parametrize("k", [0, -1, True, 2.0])
def test_a_senseless_k_is_refused(k):
    with pytest.raises(ParameterError, match="k must be"):
        mondrian(np.ones((9, 1)), k=k)


def test_tables_need_names_and_arrays_one_a_column():
    with pytest.raises(ParameterError, match="columns="):
        mondrian(TABLE, k=5)
    with pytest.raises(ParameterError, match="one name for each column"):
        mondrian(np.ones((9, 2)), k=2, columns=["a"])
    with pytest.raises(InputError, match="one length"):
        mondrian({"a": [1, 2], "b": [1]}, k=1, columns=["a", "b"])


def test_a_table_of_texts_and_dates_is_put_into_boxes():
    boxes = mondrian(TABLE, k=10, columns=ONE_HOSPITAL)
    assert boxes.anonymity >= 10
    assert boxes.columns == ONE_HOSPITAL
    assert 300 < len(boxes.sizes) <= len(TABLE) // 10
    zips = np.unique(TABLE.zip_code, return_inverse=True)[1]
    assert np.all(boxes.low[boxes.group, 0] <= zips)
    assert np.all(zips <= boxes.high[boxes.group, 0])


def release(k, columns, mask, told="code"):
    chosen = TABLE.where(mask)
    return AttackedRelease(mondrian(chosen, k=k, columns=columns), chosen.column(told), np.flatnonzero(mask))


@pytest.mark.theorem("homogeneity.accuracy")
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5))
def test_homogeneity_counts_groups_of_one_value_and_expects_the_sum_of_powers(seed, k):
    random = np.random.default_rng(seed)
    secret = random.integers(0, 3, 40)
    boxes = mondrian(random.integers(0, 6, (40, 2)), k=k)
    found = homogeneity(AttackedRelease(boxes, secret, np.arange(40)))
    members = [set(secret[boxes.group == group].tolist()) for group in boxes.group]
    assert found.candidates.tolist() == [len(values) for values in members]
    chances = np.bincount(secret) / 40
    expected = np.mean([np.sum(chances ** boxes.sizes[group]) for group in boxes.group])
    assert found.expected == pytest.approx(expected)
    assert found.frequency == pytest.approx(np.mean([len(values) == 1 for values in members]))


@pytest.mark.theorem("chance_of_one_left.accuracy")
@pytest.mark.parametrize(
    "kind", [(0, 0, 1), (1, 1, 1), (2, 1, 1), (1, 3, 1), (2, 2, 2), (0, 3, 1), (3, 0, 2), (1, 1, 3)], ids=str
)
def test_the_chance_of_one_candidate_is_that_of_enumerating_all_secrets(kind):
    alone, other, both = kind
    chances = np.array([0.5, 0.3, 0.2])
    total = 0.0
    for values in product(range(3), repeat=alone + other + both):
        shared = set(values[:both])
        first, second = set(values[both : both + alone]), set(values[both + alone :])
        if (shared | first) & (shared | second) == {values[0]}:
            total += float(np.prod(chances[list(values)]))
    assert chance_of_one_left(chances, np.array(kind)[:, None])[0] == pytest.approx(total, rel=1e-12)


def test_what_would_take_too_long_is_left_out():
    assert chance_of_one_left(np.full(500, 1 / 500), [[3000], [3000], [1]]) is None


@pytest.mark.parametrize("kinds", [[[0], [0], [0]], [[-1], [0], [1]], [[0], [0]], [[0.5], [0], [1]]])
def test_kinds_that_are_none_are_refused(kinds):
    with pytest.raises(InputError, match="kinds"):
        chance_of_one_left([1.0], kinds)


@pytest.mark.parametrize("chances", [[0.5], [[1.0]], [-1.0, 2.0]])
def test_chances_that_are_none_are_refused(chances):
    with pytest.raises(InputError, match="add up to 1"):
        chance_of_one_left(chances, [[1], [1], [1]])


@pytest.mark.theorem("intersection.accuracy")
def test_two_releases_tell_what_neither_tells_and_every_single_candidate_is_right():
    everybody = np.ones(len(TABLE), dtype=bool)
    releases = [release(5, columns, everybody) for columns in (ONE_HOSPITAL, ANOTHER)]
    found = intersection(*releases)
    assert all(homogeneity(one).frequency < 0.005 for one in releases)
    assert found.frequency > 0.5
    assert found.frequency == pytest.approx(found.expected, abs=0.05)
    first, second = releases
    for person in np.flatnonzero(found.candidates == 1)[:200].tolist():
        left = set.intersection(
            *(set(one.secret[one.boxes.group == one.boxes.group[person]].tolist()) for one in (first, second))
        )
        assert left == {TABLE.code[person]}


@pytest.mark.theorem("intersection.accuracy")
def test_candidates_are_those_of_intersecting_sets_for_people_in_all_releases():
    random = np.random.default_rng(8)
    masks = [random.random(len(TABLE)) < share for share in (0.3, 0.4, 0.5)]
    releases = [release(4, ONE_HOSPITAL, mask) for mask in masks]
    found = intersection(*releases)
    assert found.people.tolist() == np.flatnonzero(np.all(masks, axis=0)).tolist()
    assert found.expected is None
    for person, candidates in list(zip(found.people.tolist(), found.candidates.tolist(), strict=True))[:150]:
        groups = []
        for one in releases:
            mine = one.boxes.group[np.flatnonzero(one.person == person)[0]]
            groups.append(set(one.secret[one.boxes.group == mine].tolist()))
        assert candidates == len(set.intersection(*groups))


def test_independent_secrets_are_left_single_as_often_as_theory_says():
    random = np.random.default_rng(11)
    secret = random.integers(0, 60, 20_000)
    facts = random.random((20_000, 4))
    people = np.arange(20_000)
    releases = [AttackedRelease(mondrian(facts[:, part], k=5), secret, people) for part in (slice(0, 2), slice(2, 4))]
    found = intersection(*releases)
    assert 0.3 < found.expected < 0.7
    assert found.frequency == pytest.approx(found.expected, abs=0.03)


def test_releases_that_do_not_fit_together_are_refused():
    everybody = np.ones(len(TABLE), dtype=bool)
    one = release(5, ONE_HOSPITAL, everybody)
    with pytest.raises(ParameterError, match="at least two"):
        intersection(one)
    with pytest.raises(InputError, match="same secret"):
        intersection(one, AttackedRelease(one.boxes, np.roll(one.secret, 1), one.person))
    with pytest.raises(InputError, match="one row"):
        AttackedRelease(one.boxes, one.secret, np.zeros(len(TABLE), dtype=int))
    with pytest.raises(InputError, match="one value a row"):
        AttackedRelease(one.boxes, one.secret[:5], one.person)


@pytest.mark.parametrize(
    "people",
    [
        ["a", "a\0", "b", "c"],
        [1, 2.0, 3, 4],
        [2**64 - 1, -1, 3, 4],
        [Decimal("0.5"), Fraction(1, 3), 1, 2**70],
        [(1, "a"), (1, "b"), (2, "a"), (2, "b")],
        [b"a", b"a\0", b"", b"b"],
        range(4),
    ],
    ids=str,
)
def test_people_who_are_told_apart_in_one_release_are_told_apart_in_two(people):
    boxes = mondrian(np.arange(4)[:, None], k=2)
    one = AttackedRelease(boxes, np.arange(4), people)
    assert one.person.tolist() == list(people)
    assert not one.person.flags.writeable
    for found in (intersection(one, AttackedRelease(boxes, np.arange(4), people)), homogeneity(one)):
        assert len(found.people) == 4
        assert set(found.people.tolist()) == set(people)
        assert found.candidates.tolist() == [2] * 4


def test_nobody_in_common_exposes_nobody():
    half = np.arange(len(TABLE)) % 2 == 0
    found = intersection(release(5, ONE_HOSPITAL, half), release(5, ONE_HOSPITAL, ~half))
    assert (len(found.people), found.frequency, found.expected) == (0, 0.0, None)


@pytest.mark.parametrize(
    ("columns", "side"), [(1, 0.001), (2, 0.034), (3, 0.098), (5, 0.24), (8, 0.39), (12, 0.52), (20, 0.65), (40, 0.75)]
)
def test_the_boxes_of_ten_thousand_people_widen_with_every_column(columns, side):
    points = np.random.default_rng(columns).random((10_000, columns))
    found = mondrian(points, k=10).mean_side
    assert found == pytest.approx(side, abs=0.006)
    assert found == pytest.approx(expected_side(people=10_000, k=10, columns=columns), abs=0.006)


@pytest.mark.theorem("least_side.accuracy")
@pytest.mark.parametrize(("columns", "steps", "k"), [(1, 1024, 10), (2, 32, 4), (2, 30, 7), (3, 12, 5), (4, 6, 3)])
def test_cells_that_fill_a_cube_are_no_smaller_than_the_root(columns, steps, k):
    # one person in the middle of each of the cells of a grid: a box of them fills as many cells
    grid = np.array(list(product(range(steps), repeat=columns)), dtype=np.float64)
    boxes = mondrian(grid, k=k)
    sides = (boxes.high - boxes.low + 1) / steps
    volumes = np.prod(sides, axis=1)
    assert volumes.sum() == pytest.approx(1)
    assert np.allclose(volumes * len(grid), boxes.sizes)
    mean = float(volumes @ sides.mean(axis=1))
    assert mean >= least_side(people=len(grid), k=k, columns=columns) - 1e-12


def test_the_curse_holds_side_and_uniques_beside_theory():
    found = curse(people=3000, k=5, columns=(1, 3, 4, 10), seed=2)
    assert np.abs(found.sides - found.expected_sides).max() < 0.01
    assert np.all(np.diff(found.sides) > 0)
    assert np.abs(found.frequencies - found.expected_frequencies).max() < 0.05
    assert found.frequencies[-1] > 0.99
    assert "3,000 people in groups of 5" in str(found.table())
    assert found.plot().svg().startswith("<?xml")
    assert "3,000" in repr(found)
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize("columns", [(), (2, 1), (1, 1), (0,), (1.5,)])
def test_a_curse_of_senseless_columns_is_refused(columns):
    with pytest.raises(ParameterError, match="columns"):
        curse(people=100, columns=columns, seed=1)


def test_a_curse_of_more_than_everybody_is_refused():
    with pytest.raises(ParameterError, match="k must be"):
        curse(people=100, k=101, seed=1)


def test_results_tell_totals_and_nobodys_secret():
    one = release(2, ONE_HOSPITAL, np.ones(len(TABLE), dtype=bool), "diagnosis")
    found = homogeneity(one)
    for text in (repr(one), repr(one.boxes), one.boxes._repr_html_(), repr(found), found._repr_html_()):
        assert "8,000" in text
        assert "[" not in text
        assert not any(name in text for name in np.unique(TABLE.diagnosis).tolist())
    assert found.plot().svg().startswith("<?xml")
    with pytest.raises(ValueError, match="read-only"):
        one.boxes.group[0] = 1


@pytest.mark.parametrize("unit", ["ns", "us", "s", "D"])
def test_dates_are_days_whatever_unit_they_come_in(unit):
    days = np.arange("2020-01-01", "2020-01-11", dtype="datetime64[D]")
    boxes = mondrian({"day": days.astype(f"datetime64[{unit}]")}, k=5, columns=["day"])
    assert boxes.low.ravel().tolist() == days[[0, 5]].astype(int).tolist()


def test_large_groups_leave_the_chance_out_instead_of_overflowing():
    assert chance_of_one_left([0.5, 0.5], [[3000], [0], [2]]) is None
    found = chance_of_one_left([0.5, 0.3, 0.2], [[900, 2], [0, 1], [2, 1]])
    # nobody is in the second group alone: the two in both must agree
    assert found[0] == pytest.approx(0.5**2 + 0.3**2 + 0.2**2)


@pytest.mark.parametrize("chances", [[np.nan, 0.5], ["a"]])
def test_chances_that_are_no_numbers_are_refused(chances):
    with pytest.raises(InputError, match="add up to 1"):
        chance_of_one_left(chances, [[1], [1], [1]])
    with pytest.raises(InputError, match="kinds"):
        chance_of_one_left([1.0], np.zeros((3, 0), dtype=int))


def test_a_secret_of_its_own_for_everybody_is_no_burden():
    facts = np.random.default_rng(1).random((40_000, 2))
    one = AttackedRelease(mondrian(facts, k=2), np.arange(40_000), np.arange(40_000))
    found = homogeneity(one)
    assert found.candidates.tolist() == one.boxes.sizes[one.boxes.group].tolist()
    more = AttackedRelease(mondrian(np.ones((200_000, 1)), k=2), np.arange(200_000), np.arange(200_000))
    with pytest.raises(InputError, match="too many different secrets"):
        intersection(more, more)


@pytest.mark.parametrize("sizes", [(10, 0, 1), (10, 11, 1), (0, 1, 1), (10, 2, 0)])
def test_sides_of_senseless_cubes_are_refused(sizes):
    people, k, columns = sizes
    for side in (least_side, expected_side):
        with pytest.raises(ParameterError):
            side(people=people, k=k, columns=columns)
