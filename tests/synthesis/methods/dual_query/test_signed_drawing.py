"""The draws of a round have their law, and the exact auditor finds the losses of all neighbors within the price."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import pytest

from discreet.audit import Outcome, audit
from discreet.errors import InputError, ParameterError
from discreet.privacy import ZCDP, PureDP, Relation
from discreet.synthesis.base.neighbors import Neighbors
from discreet.synthesis.methods.dual_query.drawing import Drawing
from discreet.testing import Subject, conformance_checks
from discreet.testing.planted.synthesis import DividesByPrivate

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
QUERIES = np.array(
    [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0]]
)  # of the four kinds of record


def stated(relation, *, eta=2, turn=4, sums=(1, 0, 3, 3, 2), draws=1, size=4, rows=1):
    return Drawing(
        eta=eta, turn=turn, sums=list(sums), draws=draws, neighbors=Neighbors(relation, people=size, rows=rows)
    )


def counted(table):
    """Return the input for a table of kinds of records."""
    return QUERIES[:, list(table)].sum(axis=1).tolist(), len(table)


def tables_apart(relation, records, rows):
    """Yield all tables of so many records beside each of their neighbors: units of exactly `rows` records."""
    kinds = range(QUERIES.shape[1])
    units = list(combinations_with_replacement(kinds, rows))
    for rest in combinations_with_replacement(kinds, records):
        for unit in units:
            if relation is ADD:
                yield counted(rest), counted((*rest, *unit))
            else:
                yield from ((counted((*rest, *unit)), counted((*rest, *other))) for other in units if other > unit)


@pytest.mark.theorem("Drawing.privacy")
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize(("records", "rows"), [(0, 1), (3, 1), (2, 2)])
def test_no_two_neighboring_tables_lose_more_than_the_price(relation, records, rows):
    drawing = stated(relation, rows=rows)
    verdict = audit(drawing, neighbors=tables_apart(relation, records, rows), search=0)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.high <= float(drawing.range) * (1 + 1e-9)


@pytest.mark.theorem("Drawing.privacy")
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize("turn", [2, 5])
def test_the_losses_of_one_draw_span_at_most_the_range_and_reach_it(relation, turn):
    drawing = stated(relation, turn=turn, sums=[0] * 5)
    spans = []
    for first, second in tables_apart(relation, 3, 1):
        here, there = (drawing.scores(value) for value in (first, second))
        moved = np.concatenate([here - there, there - here])
        spans.append(drawing.slope * int(moved.max() - moved.min()))
    assert max(spans) == drawing.range


@pytest.mark.theorem("Drawing.privacy")
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize("draws", [1, 2])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_pure_price_is_attained_by_its_own_neighbors(relation, draws, rows):
    drawing = stated(relation, draws=draws, rows=rows)
    verdict = audit(drawing)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low >= float(drawing.guarantee.epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("relation", [ADD, CHANGE])
def test_a_claim_of_half_the_range_is_refuted(relation):
    drawing = stated(relation)
    assert audit(drawing, PureDP(drawing.range / 2, relation=relation)).refuted


@pytest.mark.parametrize("eta", [1, 5, 20])
def test_the_symmetric_weights_over_a_private_number_refute_the_price_of_the_centered_ones(eta):
    """Adding a record moves c/N by up to 1/N and its negation the other way: the rho of the centered form is 4x low."""
    faulty = DividesByPrivate(eta=eta, turn=4, sums=[0, 0], draws=1, neighbors=Neighbors(ADD, people=10))
    right = Drawing(eta=eta, turn=4, sums=[0, 0], draws=1, neighbors=Neighbors(ADD, people=10))
    pairs = [(([0, 9], 9), ([1, 9], 10)), (([0, 0], 9), ([1, 0], 10))]
    concentrated = ZCDP(right.range**2 / 8, relation=ADD)
    assert audit(faulty, concentrated, neighbors=pairs, search=0).refuted
    assert audit(faulty, neighbors=pairs, search=0).refuted
    assert not audit(right, concentrated, neighbors=pairs, search=0).refuted
    assert audit(right, neighbors=pairs, search=0).outcome is Outcome.KEPT


def test_where_the_size_is_the_number_of_records_the_weights_are_those_of_the_paper():
    drawing = stated(CHANGE, size=30)
    counts = [3, 0, 30, 17, 8]
    for score, count, total in zip(drawing.scores((counts, 30)), counts, drawing.sums, strict=True):
        assert drawing.slope * int(score) == drawing.eta * (3 * Fraction(count, 30) - int(total))


def test_under_add_remove_the_number_of_records_only_shifts_the_weights():
    drawing = stated(ADD, size=30)
    counts = [3, 0, 7, 5, 8]
    shift = drawing.scores((counts, 40)) - drawing.scores((counts, 39))
    assert set(shift.tolist()) == {-(drawing.turn - 1)}


SUBJECTS = {
    f"{relation.name}, {draws} draws": Subject(
        make=partial(stated, relation, draws=draws),
        inputs=[([2, 1, 0, 4, 3], 4), ([0, 0, 0, 3, 0], 3)],
        draws=400,
    )
    for relation, draws in ((ADD, 2), (CHANGE, 1))
}


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
@pytest.mark.parametrize("check", conformance_checks(), ids=str)
def test_the_drawing_conforms(check, subject):
    check(subject)


def test_the_first_round_costs_nothing():
    drawing = stated(CHANGE, turn=1, sums=[0] * 5, draws=3)
    assert drawing.range == 0
    assert drawing.guarantee == PureDP(0, relation=CHANGE)
    assert drawing.loss.delta(0).upper == 0
    for first, second in tables_apart(CHANGE, 2, 1):
        assert np.array_equal(drawing.scores(first), drawing.scores(second))


def test_the_price_of_a_round_is_that_of_its_draws():
    drawing = stated(CHANGE, draws=7, size=1000)
    assert drawing.loss.releases == 7
    assert drawing.range == Fraction(2 * 2 * 3, 1000)
    assert drawing.guarantee.epsilon == 7 * drawing.range


@pytest.mark.parametrize(
    "value",
    [None, 5, ([1] * 5,), ([1] * 4, 9), ([1] * 5, 9.0), ([1] * 5, True), ([1.0] * 5, 9), ([1] * 5, -1),
     ([10] * 5, 9), ([-1] * 5, 9), (None, 9), ([2**62] * 5, 2**62), (np.ones((5, 1), dtype=int), 9)],
)  # fmt: skip
def test_inputs_that_are_not_counts_are_refused_without_showing_them(value):
    with pytest.raises(InputError, match=r"count|records"):
        stated(ADD)(value)


@pytest.mark.parametrize(
    "wrong",
    [{"eta": 0}, {"turn": 0}, {"draws": 0}, {"sums": [4] * 5}, {"sums": [-1]}, {"sums": []}, {"sums": ["a"]}],
    ids=str,
)
def test_parameters_that_cannot_be_are_refused(wrong):
    with pytest.raises(ParameterError):
        stated(ADD, **wrong)
    with pytest.raises(ParameterError, match="Neighbors"):
        Drawing(eta=1, turn=2, sums=[0], draws=1, neighbors=ADD)
