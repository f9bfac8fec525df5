"""An array, a list or a tuple of outcomes gives one number each, the same as asking one by one, for every law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import laws, mechanisms
from discreet.errors import ParameterError
from discreet.laws import (
    AboveThresholdGapLaw,
    AboveThresholdLaw,
    DiscreteGaussian,
    DiscreteLaplace,
    Finite,
    IntegerLaw,
    Law,
    NoisyMaxGapLaw,
    NoisyMaxLaw,
    OnGrid,
    Outside,
    Peeling,
    PermuteAndFlipLaw,
    Product,
    RoundedGaussian,
    Softmax,
    Thresholded,
    ThresholdedTable,
    Truncated,
    TruncatedLaplace,
)
from discreet.laws.finite import Tabulated
from discreet.statistics.ranks.law import RankLaw
from discreet.statistics.ranks.ranked import Ranked
from discreet.testing.own import OWN

NOISE = DiscreteLaplace(2)
INTEGERS = {
    "laplace": DiscreteLaplace(2),
    "huge laplace": DiscreteLaplace(2**70, center=2**80),
    "gaussian": DiscreteGaussian(2),
    "rounded gaussian": RoundedGaussian(2),
    "huge rounded gaussian": RoundedGaussian(2**70, center=2**80),
    "truncated laplace": TruncatedLaplace(2, reach=5),
    "conditioned": Truncated(NOISE, -1, 5, outside=Outside.CONDITIONED),
    "clamped": Truncated(DiscreteGaussian(2), -1, 5, outside=Outside.CLAMPED),
    "thresholded": Thresholded(NOISE, 3, threshold=2),
}
LISTED = {
    "finite texts": Finite("ab", [Fraction(1, 3), Fraction(2, 3)]),
    "finite tuples": Finite([(0, 1), (1, 0)], [Fraction(1, 3), Fraction(2, 3)]),
    "softmax": Softmax([0, 1, 2], Fraction(1)),
    "noisy max": NoisyMaxLaw(np.array([0, 1, 2]), NOISE),
    "noisy max with its lead": NoisyMaxGapLaw(np.array([0, 1, 2]), NOISE),
    "permute and flip": PermuteAndFlipLaw([0, 1, 2], Fraction(1)),
    "peeling": Peeling([0, 1, 2], Fraction(1), 2),
    "above threshold": AboveThresholdLaw(np.array([0, 1, 2]), 1, Fraction(2), Fraction(2), hits=2),
    "above threshold with gaps": AboveThresholdGapLaw(np.array([0, 1]), NOISE, NOISE, hits=1),
    "response": mechanisms.RandomizedResponse(epsilon=1, categories=3).law(1),
    "rank": RankLaw(Ranked.of([1, 1, 3], steps=4), Fraction(3, 2), Fraction(1)),
}
GRID = OnGrid(NOISE, Fraction(1, 4))
PRODUCT = Product([NOISE, DiscreteGaussian(1)])
TABLE = ThresholdedTable({"a": Thresholded(NOISE, 3, threshold=2), "b": Thresholded(NOISE, 9, threshold=2)})


def listed(law: Law[Any]) -> list[Any]:
    return list(law.outcomes) if isinstance(law, Finite) else law.table()[0]  # type: ignore[attr-defined]


def object_array(entries: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


@pytest.mark.parametrize("law", INTEGERS.values(), ids=INTEGERS.keys())
@pytest.mark.parametrize("method", ["pmf", "cdf", "sf"])
def test_integer_laws_answer_arrays_lists_and_tuples_as_they_answer_one(law, method):
    asked = getattr(law, method)
    places = [int(place) for place in law.sample(20)] + [-3, 0, 2]
    alone = np.array([float(asked(place)) for place in places])
    for many in (places, tuple(places), object_array(places)):
        np.testing.assert_array_equal(asked(many), alone)
    if law.support is not None and abs(getattr(law, "center", 0)) < 2**60:
        np.testing.assert_array_equal(asked(np.array(places)), alone)
    assert asked([]).shape == (0,)
    assert np.shape(asked([places[:2], places[2:4]])) == (2, 2)
    assert np.ndim(asked(places[0])) == 0


@pytest.mark.parametrize("law", LISTED.values(), ids=LISTED.keys())
def test_laws_that_list_their_outcomes_answer_arrays_and_lists_as_they_answer_one(law):
    outcomes = listed(law)[:40]
    alone = np.array([law.pmf(outcome) for outcome in outcomes])
    assert np.all(alone > 0)
    for many in (outcomes, object_array(outcomes)):
        np.testing.assert_array_equal(law.pmf(many), alone)
    np.testing.assert_array_equal(law.pmf([outcomes[:2], outcomes[:2]]), [alone[:2], alone[:2]])
    assert law.pmf([]).shape == (0,)
    assert isinstance(law.pmf(outcomes[0]), float)


@pytest.mark.parametrize("name", ["softmax", "noisy max", "permute and flip", "response", "rank"])
def test_positions_may_be_a_tuple_or_an_array_of_any_shape(name):
    law = LISTED[name]
    alone = np.array([law.pmf(place) for place in (0, 1, 2, 1)])
    np.testing.assert_array_equal(law.pmf((0, 1, 2, 1)), alone)
    np.testing.assert_array_equal(law.pmf(np.array([0, 1, 2, 1])), alone)
    np.testing.assert_array_equal(law.pmf(np.array([[0, 1], [2, 1]], dtype=np.int8)), alone.reshape(2, 2))
    assert law.pmf(np.array(1)) == law.pmf(np.int64(1)) == alone[1]


def test_outcomes_that_are_tuples_may_be_rows_of_an_array():
    law = LISTED["peeling"]
    np.testing.assert_array_equal(law.pmf(np.array([[2, 0], [0, 1]])), [law.pmf((2, 0)), law.pmf((0, 1))])
    assert law.pmf(np.array([2, 0])) == law.pmf((2, 0)) > 0
    with pytest.raises(ParameterError, match="outcomes of this law must be tuples"):
        law.pmf([2, 0])


@pytest.mark.parametrize("method", ["pmf", "cdf", "sf"])
def test_a_law_on_a_grid_answers_arrays_and_lists_as_it_answers_one(method):
    asked = getattr(GRID, method)
    places = [0, 0.25, 0.3, -1.5]
    alone = np.array([float(asked(place)) for place in places])
    for many in (places, tuple(places), np.array(places), object_array(places)):
        np.testing.assert_array_equal(asked(many), alone)
    assert asked([]).shape == (0,)


@pytest.mark.parametrize("law", [PRODUCT, TABLE], ids=["product", "table"])
def test_vectors_may_be_rows_of_an_array_or_entries_of_a_list(law):
    rows = law.sample((2, 3))
    alone = np.array([[law.pmf(tuple(row)) for row in block] for block in rows.tolist()])
    np.testing.assert_array_equal(law.pmf(rows), alone)
    np.testing.assert_array_equal(law.pmf([tuple(row) for row in rows[0].tolist()]), alone[0])
    np.testing.assert_array_equal(law.pmf(rows[0].tolist()), alone[0])
    assert law.pmf(rows[0, 0]) == law.pmf(rows[0, 0].tolist()) == alone[0, 0]
    np.testing.assert_array_equal(ThresholdedTable({}).pmf(np.empty((3, 0))), np.ones(3))


@pytest.mark.parametrize("law", [*INTEGERS.values(), GRID, *LISTED.values(), PRODUCT, TABLE], ids=repr)
@pytest.mark.parametrize(
    "wrong", [{}, {1, 2}, None, [[1, 2], [3]], [1, [2]], [{}], "text", ["text", 1], True, [True], 1j], ids=repr
)
def test_what_is_no_outcome_is_refused_in_one_sentence(law, wrong):
    methods = [law.pmf, law.cdf, law.sf] if isinstance(law, IntegerLaw | OnGrid) else [law.pmf]
    if isinstance(law, Finite | Tabulated) and wrong in (None, "text", ["text", 1], True, [True], 1j):
        return  # what a law does not list cannot happen: probability 0, whatever it is
    for method in methods:
        with pytest.raises(ParameterError) as refusal:
            method(wrong)
        assert refusal.value.parameter == "outcome"


def test_every_law_of_the_room_is_in_this_test():
    seen = {type(law) for law in (*INTEGERS.values(), *LISTED.values(), GRID, PRODUCT, TABLE)}
    room = {one for one in vars(laws).values() if isinstance(one, type) and issubclass(one, Law)}
    assert room - seen == {Law, IntegerLaw}


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_the_law_of_every_mechanism_answers_many_outcomes_at_once(own):
    law = own.make().law(own.value)
    if isinstance(law, Tabulated | Finite):
        outcomes = listed(law)[:20]
        np.testing.assert_array_equal(law.pmf(outcomes), [law.pmf(outcome) for outcome in outcomes])
    else:
        drawn = law.sample(5)
        alone = [float(law.pmf(one if isinstance(one, np.ndarray) else one.item())) for one in drawn]
        np.testing.assert_array_equal(law.pmf(drawn), alone)
