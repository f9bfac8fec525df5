"""What one unit can move, against all pairs of small neighboring tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import Relation
from discreet.synthesis import Neighbors
from tests.synthesis.base.units import SETS, counts, histogram, neighboring

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
both = pytest.mark.parametrize("relation", [ADD, CHANGE])
few = pytest.mark.parametrize("rows", [1, 2])


@pytest.mark.theorem("Neighbors.privacy")
@both
@few
def test_one_unit_moves_counts_and_centered_counts_by_what_is_stated_and_no_less(relation, rows):
    stated = Neighbors(relation, people=3, rows=rows)
    moved, numbers, centered = [], [], []
    for one, other in neighboring(relation, rows):
        by, more = counts(one) - counts(other), len(one) - len(other)
        moved.append(np.abs(by).max())
        numbers.append(abs(more))
        centered.append(np.abs(2 * by - more).max())
    assert max(moved) == max(numbers) == stated.count
    assert max(centered) == stated.swing


@pytest.mark.theorem("Neighbors.privacy")
@both
@few
@pytest.mark.parametrize("attributes", SETS, ids=str)
def test_one_unit_moves_every_histogram_by_what_is_stated_and_no_less(relation, rows, attributes):
    stated = Neighbors(relation, people=3, rows=rows)
    moved = [histogram(one, attributes) - histogram(other, attributes) for one, other in neighboring(relation, rows)]
    assert max(int(np.abs(by).sum()) for by in moved) == stated.l1
    assert max(int(by @ by) for by in moved) == stated.squared


@pytest.mark.theorem("Neighbors.privacy")
@both
@few
@pytest.mark.parametrize("everyone", [True, False])
def test_the_number_of_records_is_the_same_exactly_where_that_is_said(relation, rows, everyone):
    stated = Neighbors(relation, people=3, rows=rows, everyone=everyone)
    pairs = neighboring(relation, rows, least=1 if everyone else 0)
    assert stated.same_count == all(len(one) == len(other) for one, other in pairs)


@pytest.mark.theorem("Neighbors.privacy")
@both
def test_the_numbers_grow_with_the_rows_as_they_must(relation):
    times = 2 if relation is CHANGE else 1
    stated = Neighbors(relation, people=50, rows=7)
    assert (stated.count, stated.swing, stated.l1, stated.squared) == (7, 7 * times, 7 * times, 49 * times)
    assert stated.range_per_count == Fraction(7 * times, 50)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({"relation": Relation.UNSTATED}, MissingParameter), ({"relation": None}, MissingParameter),
     ({"people": 0}, ParameterError), ({"people": 2.0}, ParameterError), ({"people": True}, ParameterError),
     ({"rows": 0}, ParameterError), ({"rows": 1.0}, ParameterError), ({"everyone": 1}, ParameterError)],
    ids=str,
)  # fmt: skip
def test_what_is_not_stated_is_refused(wrong, error):
    with pytest.raises(error):
        Neighbors(**({"relation": ADD, "people": 5} | wrong))
