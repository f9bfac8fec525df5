"""One quantile among few candidates: permute-and-flip on the distance to a point among equal rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import discreet as dp
from discreet import statistics
from discreet.statistics.ranks.choice import RankFlip
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
SUBJECT = Subject(lambda: RankFlip(level=0.5, epsilon=1, relation=ADD_REMOVE, steps=4), [[0, 1, 1, 4], [2]], draws=2000)


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
def test_mechanism_conforms(check: Check, rounds: Rounds) -> None:
    check(replace(SUBJECT, draws=rounds(sample=600, full=SUBJECT.draws), forks=rounds(sample=1, full=SUBJECT.forks)))


@pytest.mark.theorem("RankFlip.privacy")
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10), 0, 1, Fraction(1, 3)])
@pytest.mark.parametrize("midrank", [False, True])
def test_a_row_moves_a_score_as_far_as_stated_and_no_further(level, relation, midrank):
    flip = RankFlip(level=level, epsilon=1, relation=relation, steps=3, midrank=midrank)
    moves = [
        int(np.max(np.abs(flip.scores(one) - flip.scores(other))))
        for one, other in neighbors([0, 1, 2, 3], 4, relation)
    ]
    assert max(moves) == flip.sensitivity.value


@pytest.mark.theorem("RankFlip.privacy")
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(3, 4)])
@pytest.mark.parametrize("midrank", [False, True])
def test_no_loss_of_small_tables_exceeds_epsilon(level, relation, midrank):
    flip = RankFlip(level=level, epsilon=1, relation=relation, steps=2, midrank=midrank)
    for one, other in neighbors([0, 1, 2], 4, relation):
        pair = flip.law(one).pair(flip.law(other))
        assert max(pair.max_loss().lower, pair.reversed().max_loss().lower) <= 1


def test_a_person_with_many_rows_moves_a_score_within_the_contribution():
    flip = RankFlip(level=Fraction(1, 3), epsilon=1, relation=ADD_REMOVE, steps=3, rows=2)
    quantile = statistics.Quantile(level=Fraction(1, 3), bounds=(0, 3), grid=1, relation=ADD_REMOVE, epsilon=1, rows=2)
    empty = flip.scores(quantile.measure(statistics.Rows([1.0], ["bo"])))
    for size in range(1, 5):
        for fill in combinations_with_replacement([0.0, 1.0, 2.0, 3.0], size):
            rows = statistics.Rows([1.0, *fill], ["bo", *["ana"] * size])
            assert np.max(np.abs(flip.scores(quantile.measure(rows)) - empty)) <= flip.sensitivity.value


@pytest.mark.theorem("RankFlip.accuracy")
@pytest.mark.parametrize("midrank", [False, True])
def test_the_distance_stays_within_the_error(midrank):
    rows = [0] * 10 + [1] * 30 + [2] * 5 + [3] * 20 + [4] * 3
    flip = RankFlip(level=0.5, epsilon=0.2, relation=ADD_REMOVE, steps=4, midrank=midrank)
    scores, law = flip.scores(rows), flip.law(rows)
    for confidence in (0.5, 0.9, 0.99):
        far = [v for v in range(5) if scores.max() - scores[v] > flip.error(confidence) * flip.level.denominator]
        assert sum(float(law.pmf(v)) for v in far) <= 1 - confidence


def test_a_coarse_grid_is_served_by_it_and_a_fine_one_is_not():
    coarse = statistics.Quantile(level=0.5, bounds=(0, 100), grid=1, relation=ADD_REMOVE, epsilon=1)
    assert isinstance(coarse.mechanism, RankFlip)
    assert isinstance(coarse(list(range(100)) * 10).value, int)
    for other in ({"epsilon": 1}, {"rho": 0.5, "grid": 1}):
        fine = statistics.Quantile(level=0.5, bounds=(0, 100), relation=ADD_REMOVE, **other)
        assert not isinstance(fine.mechanism, RankFlip)


@pytest.mark.theorem("Quantile.accuracy")
def test_no_value_is_returned_that_lies_far_from_every_quantile():
    rows = [10] * 2300 + [20] * 3700
    median = statistics.Quantile(level=0.5, bounds=(0, 100), grid=1, relation=ADD_REMOVE, epsilon=1)
    assert median.rank_error() < 50
    assert {median(rows).value for _ in range(200)} == {20}


def test_midranks_tell_whole_numbers_apart_more_clearly():
    rows = [age for age in range(20) for _ in range(30)]
    plain, mid = (
        RankFlip(level=Fraction(19, 40), epsilon=0.1, relation=ADD_REMOVE, steps=19, midrank=midrank)
        for midrank in (False, True)
    )
    assert plain.law(rows).pmf(9) < mid.law(rows).pmf(9)


@pytest.mark.parametrize(
    "other", [{"epsilon": 1}, {"rho": 0.5, "grid": 1}, {"epsilon": 1, "grid": 1, "interval": True}]
)
def test_midranks_are_for_one_quantile_on_a_coarse_grid(other):
    with pytest.raises(dp.errors.ParameterError, match="coarse grid"):
        statistics.Quantile(level=0.5, bounds=(0, 100), relation=ADD_REMOVE, midrank=True, **other)
