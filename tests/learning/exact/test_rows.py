"""How rows are read: one cell has no say in what becomes of the others, and narrow ranges spoil no sum."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet as dp
from discreet.errors import InputError, ParameterError, RelationMismatch
from discreet.learning import LogisticRegression
from discreet.learning.base import stated_bounds
from discreet.learning.exact import Cut, FitPrice, Measurements, matrix
from discreet.ledger.contract import in_full
from discreet.privacy import Relation


class _Raises:
    """A cell that shows a secret in whatever it is asked."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("secret")

    def __len__(self) -> int:
        raise RuntimeError("secret")

    def __float__(self) -> float:
        raise RuntimeError("secret")


ODD = [
    1j,
    [1, 2],
    (3,),
    range(3),
    bytearray(b"x"),
    np.array([1.0]),
    _Raises(),
    "x" * 100_000,
    None,
    b"1",
    {"a": 1},
    2**70,
]


@pytest.mark.parametrize("cell", ODD, ids=lambda cell: type(cell).__name__)
def test_an_odd_cell_in_a_list_changes_no_other_cell(cell):
    found = matrix([[1, 2.5], [cell, 4], [5, True]])
    expected = np.array([[1, 2.5], [np.nan, 4], [5, 1]])
    assert np.array_equal(np.delete(found, (2,)), np.delete(expected, (2,)), equal_nan=True)
    assert np.isnan(found[1, 0]) or found[1, 0] == 2.0**70


def test_rows_of_different_lengths_are_refused_without_a_word_about_them():
    with pytest.raises(InputError) as caught:
        matrix([[1, 2], [_Raises()]])
    assert caught.value.__context__ is None


@pytest.mark.parametrize("bounds", [(0, 5e-324), (0, 1e-305), (1, 1 + 2.0**-45), (-1e-200, 1e-200)])
def test_ranges_that_floats_cannot_scale_are_refused(bounds):
    with pytest.raises(ParameterError, match="narrower"):
        stated_bounds(bounds, 3)


@pytest.mark.parametrize("high", [5e-324, 1e-310, 1.0])
def test_no_cell_becomes_nan_whatever_the_range(high):
    lines, counted = Cut(np.zeros(1), np.array([high]))(np.array([[-1.0], [0.0], [high], [np.inf], [np.nan], [1e308]]))
    assert np.isfinite(lines).all()
    assert not counted[3:5].any()


def test_a_refused_fit_leaves_the_model_as_it_was():
    stated = {"mu": 1, "relation": Relation.ADD_REMOVE, "people": 10, "classes": [0, 1]}
    model = LogisticRegression(**stated, bounds=(0, 1)).fit([[0.5, 0.5]] * 10, [0, 1] * 5)
    before = dict(vars(model))
    with pytest.raises(ParameterError):
        model.set_params(bounds=(1, 0)).fit([[0.5, 0.5, 0.5]] * 10, [0, 1] * 5)
    assert {name: value for name, value in vars(model).items() if name != "bounds"} == {
        name: value for name, value in before.items() if name != "bounds"
    }


@pytest.mark.parametrize("features", [0, -1, True, 2.5, "3", 10**9])
def test_explain_is_for_a_whole_number_of_features(features):
    model = LogisticRegression(mu=1, relation=Relation.ADD_REMOVE, people=10, classes=[0, 1], bounds=(0, 1))
    with pytest.raises(ParameterError, match="features"):
        model.explain(features)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b"], dtype="str"),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"])),
        pl.Series(["1.5", "2.5"]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_whose_type_holds_no_numbers_are_refused_by_name(column):
    frame = pd.DataFrame({"plan": column}) if isinstance(column, pd.Series) else pl.DataFrame({"plan": column})
    with pytest.raises(InputError, match="plan must be a column of numbers"):
        matrix(frame)


def test_requests_with_other_objects_in_an_array_have_other_digests():
    made = {json.dumps(in_full(np.array([300 + k, "x"], dtype=object))) for k in range(12)}
    assert len(made) == 12


def test_the_number_of_rows_has_no_say_in_how_noise_is_cut():
    stated = FitPrice.read(epsilon=None, delta=None, rho=None, mu=1e-12, relation=Relation.ADD_REMOVE, pure=False)
    for dtype in (np.int64, object):
        released = Measurements(stated).release(np.zeros(50, dtype=dtype), share=Fraction(1), squared=1 << 76)
        assert np.abs(released).max() <= 2.0**63


def test_a_budget_for_other_neighbors_than_those_of_frames_is_refused():
    frame = pd.DataFrame({"age": [1, 2]})
    with pytest.raises(RelationMismatch):
        dp.Session.from_frames(t=frame, unit="row", budget=dp.GaussianDP(1, relation=Relation.CHANGE_ONE))
