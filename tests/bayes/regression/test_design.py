"""Designs: columns by keys, and the refusals that name what stands in the way."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.bayes.regression.design import CellDesign
from discreet.errors import ParameterError

CELLS = [("a", "20-39"), ("a", "40-59"), ("b", "20-39"), ("b", "40-59"), ("c", "20-39"), ("c", "40-59")]
KEYS = ("ward", "age")


def test_every_value_but_the_reference_has_a_column():
    design = CellDesign.of(KEYS, CELLS, numeric=(), reference={"ward": "b"})
    assert design.terms == ("(intercept)", "ward = a", "ward = c", "age = 40-59")
    assert design.matrix[3].tolist() == [1, 0, 0, 1]


def test_numbers_may_be_given_for_values():
    design = CellDesign.of(KEYS, CELLS, numeric={"age": {"20-39": 30, "40-59": 50}}, reference={})
    assert design.terms == ("(intercept)", "ward = b", "ward = c", "age")
    assert design.matrix[:, 3].tolist() == [30, 50] * 3


@pytest.mark.parametrize("number", [None, "old", float("nan"), True])
def test_a_value_without_a_number_is_named(number):
    with pytest.raises(ParameterError, match="finite number for 'age'; got none for '40-59'"):
        CellDesign.of(KEYS, CELLS, numeric={"age": {"20-39": 30, "40-59": number}}, reference={})


def test_a_key_of_texts_is_no_number():
    with pytest.raises(ParameterError, match="finite number for 'age'"):
        CellDesign.of(KEYS, CELLS, numeric=["age"], reference={})


def test_a_reference_must_be_a_value_of_its_key():
    with pytest.raises(ParameterError, match="reference of 'ward' must be one of its values; got 'd'"):
        CellDesign.of(KEYS, CELLS, numeric=(), reference={"ward": "d"})


@pytest.mark.parametrize("named", [{"numeric": ["salary"], "reference": {}}, {"numeric": (), "reference": {"x": 1}}])
def test_a_name_that_is_no_predictor_is_refused(named):
    with pytest.raises(
        ParameterError, match=r"must name predictors; got '(salary|x)', the predictors are 'ward', 'age'"
    ):
        CellDesign.of(KEYS, CELLS, **named)


def test_columns_that_follow_from_each_other_are_named():
    cells = [("a", "north"), ("b", "north"), ("c", "south")]
    with pytest.raises(ParameterError, match="got 3 cells in which 'ward = c', 'side = south' do"):
        CellDesign.of(("ward", "side"), cells, numeric=(), reference={})


def test_more_columns_than_cells_are_refused():
    cells = [("a", "x"), ("b", "y"), ("b", "z")]
    with pytest.raises(ParameterError, match="must not follow from each other; got 3 cells"):
        CellDesign.of(("one", "two"), cells, numeric=(), reference={})


def test_units_of_a_number_do_not_make_a_design_singular():
    cells = [(1e-9, "a"), (2e-9, "b"), (4e-9, "a"), (9e-9, "b")]
    design = CellDesign.of(("dose", "ward"), cells, numeric=["dose"], reference={})
    assert np.linalg.matrix_rank(design.matrix / design.matrix.max(axis=0)) == 3
