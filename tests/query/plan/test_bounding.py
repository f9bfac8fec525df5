"""Bounding: over every small person, what reaches the noise moves by what the form guarantees, and by no more."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from discreet.errors import MissingBound, PrivateKeys, UnsupportedSQL
from discreet.privacy import Relation
from discreet.query.plan.bounding import Bounding, Noise, RowNorms, choose
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.request import WEIGHT, EachRow, Groups, NormWeights, RowWeights, SumRequest
from discreet.query.plan.row_sources import Scan
from discreet.query.pricing.measures_of_query import measures
from tests.query.small_tables import (
    Slow,
    asked,
    persons,
    policy_for,
    private_key,
    public_key,
    query_for,
    stored,
    table_policy,
)

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
VALUES = {(0, 5): (0, 2, 4, 5, None), (-2, 3): (-2, 0, 2, 3, None), (-3, 3): (-3, 0, 3, None), (-5, -1): (-5, -1, None)}

FORMS = {
    "a row is a unit": ({"unit": "row"}, None, 1),
    "weights in all": ({"rows": 1}, None, 3),
    "weights in all, two rows": ({"rows": 2}, None, 3),
    "one group, one row": ({"groups": 1, "rows_per_group": 1}, None, 3),
    "two groups, one row": ({"groups": 2, "rows_per_group": 1}, None, 3),
    "one group, two rows": ({"groups": 1, "rows_per_group": 2}, None, 3),
    "a bounded table": ({"rows": 2}, 2, 2),
}
KINDS = [
    MeasureKind.COUNT_ROWS,
    MeasureKind.COUNT_VALUES,
    MeasureKind.COUNT_UNITS,
    MeasureKind.SUM,
    MeasureKind.MEAN,
    MeasureKind.VARIANCE,
    MeasureKind.DEVIATION,
]


def setting(form, relation, noise, *, keyed, bounds, kind):
    """The measure of one aggregate with its bounding, as a query would get them, or None where it is refused."""
    stated, bounded, most = FORMS[form]
    table = table_policy(**stated, low=bounds[0], high=bounds[1], people=1 if relation is CHANGE_ONE else None)
    keys = (public_key(),) if keyed else ()
    query = query_for(asked(kind, low=bounds[0], high=bounds[1]), keys=keys)
    try:
        bounding = choose(query.aggregation, table, relation, noise, bounded_rows=bounded)
    except (MissingBound, UnsupportedSQL):
        return None
    (measure,), _ = measures(query.aggregation.asked, bounding, noise)
    return table, query, bounding, measure, most


def rows_of_units(table, query, bounding, measure, most, values):
    """What each small person adds to the vectors that get noise, one row of the matrix for each person."""
    groups = list(itertools.product(*(key.domain for key in query.aggregation.keys)))
    unit = type(table.unit).__name__
    found = []
    for sums in added(unit, query.aggregation.keys, bounding.form, measure.cells, most, values):
        columns = [[cell.get(key, 0) for key in groups] for cell in sums]
        found.append([entry for vector in measure.vectors(columns) for entry in vector])
    return np.array(found, dtype=np.int64)


@cache
def added(unit, keys, form, cells, most, values):
    """The sums of each small person alone, by cell and group."""
    policy = policy_for(table_policy(unit="row" if unit == "UnitIsRow" else "u"))
    found = []
    for rows in persons(values, most=most):
        sums = Slow(policy, {"t": stored(rows)}).run(SumRequest(Scan("t"), keys, form, cells))
        found.append([dict(zip(sums.keys, cell, strict=True)) for cell in sums.cells])
    return found


def distances(matrix, relation):
    """The largest L1 distance of neighbors and the square of their largest L2 distance."""
    if relation is ADD_REMOVE:
        return int(np.abs(matrix).sum(axis=1).max()), int((matrix.astype(object) ** 2).sum(axis=1).max())
    far = squared = 0
    for row in matrix:
        apart = np.abs(matrix - row)
        far = max(far, int(apart.sum(axis=1).max()))
        squared = max(squared, round(float((apart.astype(np.float64) ** 2).sum(axis=1).max())))
    return far, squared


@pytest.mark.theorem(
    "Bounding.privacy", "count.privacy", "total.privacy", "MeanOfGroups.privacy", "VarianceOfGroups.privacy"
)
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_no_person_moves_the_vectors_further_than_the_form_says(form, kind, noise, relation, keyed):
    settled = 0
    for bounds, values in VALUES.items():
        if kind in KINDS[:3] and bounds != (0, 5):
            continue
        made = setting(form, relation, noise, keyed=keyed, bounds=bounds, kind=kind)
        if made is None:
            continue
        settled += 1
        table, query, bounding, measure, most = made
        matrix = rows_of_units(table, query, bounding, measure, most, values)
        one, squared = distances(matrix, relation)
        stated_one, stated_squared = measure.bounding.moved(measure.norms)
        if bounding.total is not None:
            assert one <= stated_one
        assert squared <= stated_squared * (1 + 1e-12)
        wanted = _tight(form, kind, noise, relation, keyed=keyed, bounds=bounds)
        if wanted and noise is Noise.LAPLACE:
            assert one == stated_one
        elif wanted:
            assert squared == pytest.approx(stated_squared, rel=1e-12)
    refused = form == "a bounded table" or (keyed and form == "weights in all, two rows")
    assert bool(settled) is not (kind is MeasureKind.COUNT_UNITS and refused)


def _tight(form, kind, noise, relation, *, keyed, bounds):
    """Whether some person of the small tables must attain the bound that the noise is calibrated to."""
    spread = kind in (MeasureKind.VARIANCE, MeasureKind.DEVIATION)
    if relation is ADD_REMOVE:
        return True
    if spread and noise is Noise.GAUSSIAN:
        return False  # two rows are less than the root of 53 apart, and over groups less than twice 5
    if spread and not keyed:
        return bounds in ((0, 5), (-2, 3))  # the largest distance needs a row four fifths along the way
    if keyed and form == "two groups, one row":
        # with two groups in all nobody can leave two and come into two others; opposite values can meet in one
        return kind is MeasureKind.SUM and bounds == (-3, 3)
    if keyed and noise is Noise.GAUSSIAN and kind is MeasureKind.SUM:
        return bounds in ((0, 5), (-3, 3))  # else no two values of the range are opposite
    return True


@pytest.mark.theorem("Bounding.privacy")
@pytest.mark.parametrize("form", FORMS)
def test_what_a_person_adds_does_not_depend_on_the_others(form):
    stated, bounded, most = FORMS[form]
    table = table_policy(**stated)
    policy = policy_for(table)
    query = query_for(asked(MeasureKind.SUM), keys=(public_key(),))
    bounding = choose(query.aggregation, table, ADD_REMOVE, Noise.GAUSSIAN, bounded_rows=bounded)
    (measure,), _ = measures(query.aggregation.asked, bounding, Noise.GAUSSIAN)
    request = SumRequest(query.aggregation.source, query.aggregation.keys, bounding.form, measure.cells)

    def sums(*tables):
        rows = [row for unit, one in enumerate(tables) for row in stored(one, unit=unit)]
        found = Slow(policy, {"t": rows}).run(request)
        return dict(zip(found.keys, found.cells[0], strict=True))

    everybody = persons((1, 4), most=min(most, 2))
    for second in everybody:
        # the unit is the same in both runs: which of its groups are kept depends on its name
        alone = sums((), second)
        for first in everybody:
            together, own = sums(first, second), sums(first, ())
            assert together == {key: own.get(key, 0) + alone.get(key, 0) for key in own.keys() | alone.keys()}


def test_norm_weights_are_chosen_for_gaussian_noise_over_groups_and_keep_their_norm_exactly():
    table = table_policy(rows=2)
    query = query_for(asked(MeasureKind.COUNT_ROWS), keys=(public_key(),))
    bounding = choose(query.aggregation, table, ADD_REMOVE, Noise.GAUSSIAN)
    assert bounding.form == NormWeights(2)
    assert bounding.total is None
    (measure,), _ = measures(query.aggregation.asked, bounding, Noise.GAUSSIAN)
    matrix = rows_of_units(table, query, bounding, measure, 6, (1,)).astype(object)
    norms = (matrix**2).sum(axis=1)
    assert max(norms) <= (2 * WEIGHT) ** 2 == bounding.moved(measure.norms)[1]
    assert max(norms) == (2 * WEIGHT) ** 2


def test_weights_are_chosen_where_rows_are_stated_and_groups_where_they_must():
    eight = (public_key((0, 1, 2, 3, 4, 5, 6, 7)),)

    def form(noise, *aggregates, keys=eight, **stated):
        return choose(query_for(*aggregates, keys=keys).aggregation, table_policy(**stated), ADD_REMOVE, noise).form

    count = asked(MeasureKind.COUNT_ROWS)
    assert form(Noise.LAPLACE, count, rows=4, groups=2, rows_per_group=1) == RowWeights(4)
    assert form(Noise.GAUSSIAN, count, rows=2, groups=2, rows_per_group=1) == NormWeights(2)
    assert form(Noise.LAPLACE, count, groups=2, rows_per_group=1) == Groups(2, 1)
    assert form(Noise.GAUSSIAN, count, groups=20, rows_per_group=1) == Groups(8, 1)
    assert form(Noise.LAPLACE, count, keys=(), groups=2, rows_per_group=3) == RowWeights(6)
    assert form(Noise.LAPLACE, count, unit="row") == EachRow()
    units = asked(MeasureKind.COUNT_UNITS)
    assert form(Noise.LAPLACE, units, count, rows=4, groups=2) == Groups(2, 4)
    assert form(Noise.LAPLACE, units, keys=(), rows=4) == Groups(1, 4)
    median = asked(MeasureKind.QUANTILE, level=1 / 2)
    assert form(Noise.GAUSSIAN, median, count, rows=4) == RowWeights(4)
    assert form(Noise.LAPLACE, count, keys=(private_key(),), rows=4, groups=3) == Groups(3, 4)


@pytest.mark.parametrize(
    ("kind", "keys", "stated", "error", "word"),
    [
        (MeasureKind.COUNT_ROWS, (public_key(),), {}, MissingBound, "rows = ..."),
        (MeasureKind.COUNT_ROWS, (public_key(),), {"groups": 2}, MissingBound, "rows_per_group"),
        (MeasureKind.COUNT_UNITS, (public_key(),), {"rows": 2}, MissingBound, "groups = ..."),
        (MeasureKind.COUNT_ROWS, (private_key(),), {"rows": 2}, PrivateKeys, "groups = ..."),
    ],
)
def test_a_bound_that_is_missing_is_named(kind, keys, stated, error, word):
    aggregation = query_for(asked(kind), keys=keys).aggregation
    with pytest.raises(error, match=r"Nothing was spent\.$") as caught:
        choose(aggregation, table_policy(**stated), ADD_REMOVE, Noise.LAPLACE)
    assert word in str(caught.value)


def test_who_has_one_row_is_in_one_group():
    for kind, keys in ((MeasureKind.COUNT_UNITS, (public_key(),)), (MeasureKind.COUNT_ROWS, (private_key(),))):
        query = query_for(asked(kind), keys=keys)
        found = choose(query.aggregation, table_policy(rows=1), ADD_REMOVE, Noise.LAPLACE)
        assert found.form == Groups(1, 1)
        with pytest.raises((MissingBound, PrivateKeys)):
            choose(query.aggregation, table_policy(rows=2), ADD_REMOVE, Noise.LAPLACE)


def test_a_bounded_table_counts_rows_not_units():
    for keys, kind in ((((private_key(),)), MeasureKind.COUNT_ROWS), ((), MeasureKind.COUNT_UNITS)):
        aggregation = query_for(asked(kind), keys=keys).aggregation
        with pytest.raises(UnsupportedSQL, match="bounded"):
            choose(aggregation, table_policy(rows=2, groups=2), ADD_REMOVE, Noise.LAPLACE, bounded_rows=2)


def test_a_single_row_form_moves_by_its_row_under_both_relations():
    norms = RowNorms(one=7, squared=49, apart=9, apart_squared=81, nonnegative=False)

    def moved(relation, *, single):
        return Bounding(EachRow(), relation, 1, 1, 1, 1, single, "").moved(norms)

    assert moved(ADD_REMOVE, single=True) == (7, 49)
    assert moved(CHANGE_ONE, single=True) == (9, 81)
    assert moved(CHANGE_ONE, single=False) == (14, 4 * 49)


@pytest.mark.parametrize("form", FORMS)
def test_no_group_holds_more_of_a_person_than_the_largest_weight(form):
    for kind, keyed in itertools.product((MeasureKind.COUNT_ROWS, MeasureKind.COUNT_UNITS), (False, True)):
        made = setting(form, ADD_REMOVE, Noise.LAPLACE, keyed=keyed, bounds=(0, 5), kind=kind)
        if made is None:
            continue
        table, query, bounding, measure, most = made
        matrix = rows_of_units(table, query, bounding, measure, most, (0, 5))
        assert matrix.max() == measure.bounding.largest


def test_the_contribution_of_a_person_in_rows_is_what_the_forms_allow():
    def rows(**stated):
        aggregation = query_for(asked(MeasureKind.QUANTILE, level=1 / 2), keys=(public_key(),)).aggregation
        return choose(aggregation, table_policy(**stated), ADD_REMOVE, Noise.LAPLACE).rows

    assert rows(rows=4) == 4
    assert rows(groups=2, rows_per_group=3) == 6
    assert rows(unit="row") == 1
