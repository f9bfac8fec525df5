"""A few remarks, some wrong, find a person's row; those who are not there are seldom claimed; theory says why."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.attacks import Scoreboard, expected_candidates, identify
from discreet.attacks.linking.ratings import leader
from discreet.data import Ratings, hearsay, ratings
from discreet.errors import InputError, ParameterError

TABLE = ratings(people=4000, items=2000, seed=6)


def small():
    return Ratings(person=[0, 0, 1, 1, 2], item=[0, 2, 0, 1, 0], stars=[5, 3, 1, 4, 4], day=[10, 40, 12, 400, 900])


def test_scores_are_the_formula():
    board = Scoreboard(small())
    scores = board.scores([0, 1], [4, 4], [10, 430])
    common, rare = 1 / np.log(4), 1 / np.log(2)
    expected = [
        common * (np.exp(-1 / 1.5) + 1),
        common * (np.exp(-3 / 1.5) + np.exp(-2 / 30)) + rare * (1 + np.exp(-1)),
        common * (1 + np.exp(-890 / 30)),
    ]
    assert scores == pytest.approx(expected, rel=1e-12)


def test_the_best_is_the_highest_and_stands_out_by_its_lead():
    board = Scoreboard(small())
    scores = board.scores([0, 1], [4, 4], [10, 430])
    found = board.best([0, 1], [4, 4], [10, 430])
    assert found.person == 1
    assert found.score == pytest.approx(scores[1])
    ordered = np.sort(scores)
    assert found.eccentricity == pytest.approx((ordered[-1] - ordered[-2]) / scores.std())


def test_remarks_about_unknown_items_change_nothing_and_no_points_stand_out_by_nothing():
    board = Scoreboard(small())
    assert np.array_equal(board.scores([0, 99, -1], [4, 1, 1], [10, 1, 1]), board.scores([0], [4], [10]))
    assert board.best([99], [1], [1]).eccentricity == 0.0


@pytest.mark.parametrize("wrong", [0.0, 0.25])
def test_more_remarks_identify_more_and_eight_are_enough(wrong):
    found = identify(TABLE, known=(1, 2, 4, 8), wrong=wrong, targets=100, seed=3)
    shares = [one.identified for one in found.rows]
    assert shares == sorted(shares)
    assert shares[0] < 0.3
    assert shares[-1] >= 0.95
    assert all(one.mistaken <= 0.05 for one in found.rows)
    assert all(one.identified + one.mistaken + one.silent == pytest.approx(1) for one in found.rows)
    assert [one.wrong for one in found.rows] == [int(wrong * one.known) for one in found.rows]


def test_people_whose_row_is_not_there_are_seldom_claimed_and_a_low_threshold_claims_them():
    high, low = (identify(TABLE, known=(8,), targets=100, threshold=limit, seed=3).rows[0] for limit in (6.0, 1.0))
    assert high.absent <= 0.05
    assert low.absent > 0.2


def test_eight_remarks_leave_fewer_than_one_other_person_in_theory():
    found = identify(TABLE, known=(2, 8), targets=50, seed=3)
    assert found.rows[0].candidates > 1
    assert found.rows[1].candidates < 0.1


def test_candidates_are_counted_for_as_many_items_as_the_target_rated():
    found = identify(TABLE, known=(4,), wrong=0.25, targets=5, seed=3).rows[0]
    heard = hearsay(TABLE, targets=5, known=4, wrong=1, seed=3)
    support = np.bincount(TABLE.item) / 4000
    each = [expected_candidates(support[items], people=3999, at_least=3) for items in heard.item.reshape(5, 4)]
    assert found.candidates == pytest.approx(np.mean(each))


@pytest.mark.theorem("expected_candidates.accuracy")
@pytest.mark.parametrize("at_least", range(5))
def test_expected_candidates_are_those_of_enumerating_what_a_person_rates(at_least):
    chances = [0.5, 0.1, 0.02, 0.3]
    total = sum(
        float(np.prod([chance if rated else 1 - chance for chance, rated in zip(chances, ways, strict=True)]))
        for ways in product((0, 1), repeat=4)
        if sum(ways) >= at_least
    )
    assert expected_candidates(chances, people=700, at_least=at_least) == pytest.approx(700 * total)
    assert expected_candidates(chances, people=700, at_least=4) == pytest.approx(700 * float(np.prod(chances)))


@pytest.mark.theorem("expected_candidates.accuracy")
def test_a_table_of_every_combination_has_exactly_the_candidates_expected():
    table = np.array(list(product((0, 1), repeat=5)))
    for at_least in range(6):
        found = np.count_nonzero(table.sum(axis=1) >= at_least)
        assert expected_candidates([0.5] * 5, people=32, at_least=at_least) == pytest.approx(found)


@pytest.mark.parametrize("frequencies", [[1.5], [-0.1], [[0.5]]])
def test_frequencies_that_are_none_are_refused(frequencies):
    with pytest.raises(InputError, match="between 0 and 1"):
        expected_candidates(frequencies, people=3, at_least=1)


def test_senseless_questions_are_refused():
    for known in ((), (0,), (2.5,), (True,)):
        with pytest.raises(ParameterError, match="known"):
            identify(TABLE, known=known, seed=1)
    with pytest.raises(ParameterError, match="wrong"):
        identify(TABLE, wrong=1.0, seed=1)
    with pytest.raises(ParameterError, match="stars_scale"):
        Scoreboard(TABLE, stars_scale=0)
    with pytest.raises(InputError, match="one length"):
        Scoreboard(TABLE).scores([1, 2], [3], [4])
    with pytest.raises(InputError, match="at least one rating"):
        Scoreboard(TABLE.where(np.zeros(len(TABLE), dtype=bool)))
    with pytest.raises(InputError, match="stand out"):
        leader(np.ones(1))


def test_results_tell_shares_and_nobody():
    found = identify(TABLE, known=(2, 8), targets=30, seed=3)
    for text in (repr(found), found._repr_html_()):
        assert "4,000" in text
    assert found.plot().svg().startswith("<?xml")
    targets = hearsay(TABLE, targets=30, known=8, wrong=2, seed=3).target
    assert not any(f" {target} " in str(found.table()) for target in targets.tolist() if target > 100)


@pytest.mark.parametrize(
    "column", [{"person": [-1, 1]}, {"item": [0.0, 1.0]}, {"item": [0, 10**9]}, {"day": ["a", "b"]}]
)
def test_a_table_that_is_not_numbered_is_refused(column):
    columns = {"person": [0, 1], "item": [0, 1], "stars": [1, 2], "day": [3, 4]} | column
    with pytest.raises(InputError, match="must be"):
        Scoreboard(Ratings(**columns))


@pytest.mark.parametrize("remark", [([0.5], [1], [1]), ([0], [np.nan], [1]), ([0], [1], [np.inf])])
def test_remarks_that_are_no_numbers_are_refused(remark):
    with pytest.raises(InputError, match="must be"):
        Scoreboard(small()).scores(*remark)


def test_missing_frequencies_thresholds_and_people_are_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        expected_candidates([np.nan], people=3, at_least=1)
    with pytest.raises(ParameterError, match="people"):
        expected_candidates([0.5], people=-3, at_least=1)
    with pytest.raises(ParameterError, match="threshold"):
        identify(TABLE, threshold=np.nan, seed=1)
