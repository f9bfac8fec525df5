"""The reusable holdout and the ladder: what is free, what is paid for, and that a holdout cannot be fitted by much."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError, MissingParameter, NotCopyable, ParameterError, StreamSpent
from discreet.learning.generalization import Ladder, ReusableHoldout
from discreet.learning.generalization.holdout import _right_alone

PRICE = {"epsilon": 1, "delta": 1e-6}
SIGNS = np.array([-1, 1], dtype=np.float32)


def holdout(people=4000, **changed):
    return ReusableHoldout(people, **{"threshold": 0.1, "hits": 5, "bounds": (0, 1), **PRICE, **changed})


@pytest.mark.theorem("_PaidHits.privacy")
@pytest.mark.theorem("ReusableHoldout.privacy")
@pytest.mark.parametrize("hits", [1, 5, 100])
def test_all_that_can_be_paid_for_keeps_the_price(hits):
    made = holdout(hits=hits)
    found = made.loss.epsilon(1e-6)
    assert found.upper <= 1 + 1e-9
    assert found.upper > 0.99
    assert 2 * hits * float(made._comparing) >= float(found.upper)  # composed better than by sums


@pytest.mark.theorem("ReusableHoldout.privacy")
def test_one_row_moves_what_is_compared_by_one_score():
    made = holdout(people=3)
    sums = [made._sum(scores) for scores in ([0, 0.2, 1], [1, 0.2, 1], [np.nan, 0.2, 7], [np.inf, 0.2, -math.inf])]
    assert [abs(one - sums[0]) for one in sums] == [0, 1 << 20, 0, 0]


def test_answers_are_free_while_training_and_holdout_agree():
    made = holdout()
    for _ in range(200):  # the noise exceeds the threshold with probability below e^-40 each
        assert made.ask(on_training=[0.4, 0.6], on_holdout=np.full(4000, 0.5)) == 0.5
    assert made.remaining == 5


def test_hits_are_counted_and_then_nothing_is_told():
    made = holdout(people=100_000, hits=2)
    for left in (1, 0):  # the comparison is 0.5 against noise of scale below 0.001
        assert abs(made.ask(on_training=0.9, on_holdout=np.full(100_000, 0.4)) - 0.4) < 0.05
        assert made.remaining == left
    with pytest.raises(StreamSpent):
        made.ask(on_training=0.9, on_holdout=np.full(100_000, 0.4))
    with pytest.raises(StreamSpent):
        made.ask(on_training=0.4, on_holdout=np.full(100_000, 0.4))


@pytest.mark.theorem("ReusableHoldout.accuracy")
def test_answers_are_within_the_predicted_error_of_the_holdout():
    made = holdout(people=10_000, hits=20)
    sample, population = made.error(queries=1000, confidence=0.95)
    assert 0.1 < sample < 0.4
    assert sample < population <= 1
    draw = np.random.default_rng(6)
    off = 0
    for _ in range(20):  # each batch fails with probability at most 0.025; 9 of 20 with probability below 1e-9
        asked = holdout(people=10_000, hits=20)
        for _ in range(15):
            means = draw.uniform(0, 1, 2)
            answer = asked.ask(on_training=means[0], on_holdout=np.full(10_000, means[1]))
            if abs(answer - means[1]) > sample + 1e-6:
                off += 1
                break
    assert off < 9


def test_picking_features_by_the_holdout_fools_a_plain_one_and_not_this_one():
    """Half of the labels at random: a plain holdout that was picked by claims far more than a half."""
    draw = np.random.default_rng(9)
    count, features = 20_000, 300
    train, held, fresh = (draw.choice(SIGNS, (count, features)) for _ in range(3))
    sides, known, new = (draw.choice(SIGNS, count) for _ in range(3))
    on_train, on_held = train.T @ sides / count, held.T @ known / count
    chosen = (np.sign(on_train) == np.sign(on_held)) & (np.abs(on_held) > 1 / math.sqrt(count))
    weights = np.sign(on_train) * chosen
    plain = np.mean(np.sign(held @ weights) == known)
    truth = np.mean(np.sign(fresh @ weights) == new)
    assert plain > 0.52
    assert truth < 0.51
    made = ReusableHoldout(count, threshold=0.04, hits=2, epsilon=2, delta=1e-6, bounds=(-1, 1))
    answers = np.array(
        [made.ask(on_training=train[:, place] * sides, on_holdout=held[:, place] * known) for place in range(features)]
    )
    picked = (np.sign(on_train) == np.sign(answers)) & (np.abs(answers) > 1 / math.sqrt(count))
    told = made.ask(
        on_training=np.sign(train @ (np.sign(on_train) * picked)) * sides,
        on_holdout=np.sign(held @ (np.sign(on_train) * picked)) * known,
    )
    # the training rows claim about 0.1; the holdout disagrees with them, and answers by itself
    assert abs(told) < 0.04
    assert made.remaining == 1


def test_a_scorer_asks_the_holdout_whatever_rows_it_is_given():
    class Constant:
        def predict(self, rows):
            return np.zeros(len(rows))

    rows = np.zeros((4000, 1))
    made = holdout()
    scorer = made.scorer(training=(rows, np.zeros(4000)), holdout=(rows, np.zeros(4000)))
    assert scorer(Constant(), "anything", None) == 1.0


@pytest.mark.theorem("Ladder.privacy")
def test_a_ladder_tells_only_what_is_better_by_a_step():
    board = Ladder(100_000, step=0.1, hits=3, bounds=(0, 1), start=0.5, **PRICE)
    assert board.loss.epsilon(1e-6).upper <= 1 + 1e-9
    assert board.submit(np.full(100_000, 0.52)) == 0.5
    assert abs(board.submit(np.full(100_000, 0.8)) - 0.8) < 0.05
    kept = board.best
    assert board.submit(np.full(100_000, 0.81)) == kept
    assert board.remaining == 2


def test_the_plan_says_the_price_before_anything_is_asked():
    plan = holdout().explain()
    assert (plan.people, plan.hits) == (4000, 5)
    assert plan.comparison > 2 * plan.answer * 0.99
    assert "epsilon 1, delta 1e-06" in str(plan)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"bounds": None}, MissingParameter),
        ({"bounds": (1, 0)}, ParameterError),
        ({"bounds": 3}, ParameterError),
        ({"bounds": (0, 1, 2)}, ParameterError),
        ({"people": -5}, ParameterError),
        ({"bounds": (0, math.inf)}, ParameterError),
        ({"threshold": 0}, ParameterError),
        ({"threshold": 1}, ParameterError),
        ({"threshold": "x"}, ParameterError),
        ({"threshold": None}, ParameterError),
        ({"threshold": Fraction(10) ** 400}, ParameterError),
        ({"bounds": (0, Fraction(10) ** 400)}, ParameterError),
        ({"hits": 0}, ParameterError),
        ({"people": 0}, ParameterError),
        ({"epsilon": 0}, ParameterError),
        ({"delta": 0}, ParameterError),
    ],
)
def test_what_cannot_be_used_is_refused(changed, error):
    with pytest.raises(error):
        holdout(**changed)


def test_scores_of_another_length_are_refused_and_cost_nothing():
    made = holdout()
    with pytest.raises(InputError):
        made.ask(on_training=0.9, on_holdout=[0.1] * 3)
    with pytest.raises(InputError):
        made.ask(on_training=[3.0], on_holdout=[0.1] * 4000)
    with pytest.raises(InputError):  # and nothing about the mean of nothing
        made.ask(on_training=[], on_holdout=[0.1] * 4000)
    assert made.remaining == 5


def test_what_is_no_number_counts_as_the_lower_bound_and_is_never_told():
    made = holdout(people=3)
    assert made._sum([1, "Helen", None]) == made._sum([1, 0, 0]) == 1 << 20
    assert made._sum([1, [2, 3], "Helen"]) == made._sum([1, 0, 0])
    with pytest.raises(InputError):
        made.ask(on_training=0.5, on_holdout=[[1], [0], [0]])


class _Hostile:
    def __array__(self, *_, **__):
        raise RuntimeError("Helen has 7")


@pytest.mark.parametrize("odd", [_Hostile(), "Helen", b"Helen", [2, 3], None, 1j, 2**2000, math.nan, -math.inf])
def test_one_odd_score_is_the_lower_bound_in_silence(odd):
    made = holdout(people=3)
    assert made._sum([1, 0.25, odd]) - made._sum([1, 0.25, 0]) in (0, 1 << 20)
    with pytest.raises(InputError) as caught:
        made._sum(_Hostile())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_score_beyond_all_floats_is_clipped_without_a_warning():
    scores = np.array([1, 0, np.longdouble("1e4000")], dtype=np.longdouble)
    assert holdout(people=3)._sum(scores) == 2 << 20


class _Above:
    """A model that labels rows by their first cell, and warns of zeros."""

    def predict(self, rows):
        return (np.log(np.asarray(rows)[:, 0].astype(np.float64)) > 0).astype(np.int64)


@pytest.mark.theorem("ReusableHoldout.privacy")
@pytest.mark.parametrize("odd", ["x", None, 2**70, [1], 1j, 0.5, _Hostile()])
@pytest.mark.parametrize("kept", [list, tuple])
def test_one_odd_row_or_label_of_the_holdout_changes_its_own_score_alone(odd, kept):
    rows, labels = [[1 + place % 2, 0] for place in range(50)], [place % 2 for place in range(50)]
    right = _right_alone(_Above(), kept(rows), kept(labels))
    for held, truth in (([[odd, 0], *rows[1:]], labels), ([[1], *rows[1:]], labels), (rows, [odd, *labels[1:]])):
        found = _right_alone(_Above(), kept(held), kept(truth))
        assert found[1:].tolist() == right[1:].tolist() == [1] * 49


def test_a_warning_about_one_row_of_the_holdout_is_not_told():
    with np.errstate(all="raise"):
        assert _right_alone(_Above(), np.array([[0.0], [2.0]]), [0, 1]).tolist() == [1, 1]


def test_a_forked_ladder_says_no_though_its_lock_is_held():
    board = Ladder(50, step=0.05, hits=1, bounds=(0, 1), start=0.5, **PRICE)
    board._owner = None  # as in a process that was forked off while a thread had the lock
    told = []

    def submit() -> None:
        try:
            board.submit([0.5] * 50)
        except StreamSpent as error:
            told.append(error)

    with board._lock:
        thread = threading.Thread(target=submit, daemon=True)
        thread.start()
        thread.join(60)
    assert len(told) == 1


@pytest.mark.theorem("ReusableHoldout.accuracy")
def test_the_error_about_the_population_says_something_where_the_price_is_small():
    made = ReusableHoldout(200_000, threshold=0.02, hits=5, epsilon=0.1, delta=1e-9, bounds=(0, 1))
    sample, population = made.error(queries=1000, confidence=0.95)
    assert 0.02 < sample < 0.05
    assert sample < population < 0.2
    for queries, confidence in ((0, 0.9), (10, 1.0), (10, 0.0), (10, "x"), (10, None), (10, math.nan)):
        with pytest.raises(ParameterError):
            made.error(queries=queries, confidence=confidence)


def test_the_number_of_queries_is_the_largest_within_the_error():
    made = ReusableHoldout(40_000, threshold=0.05, hits=5, epsilon=1, delta=1e-6, bounds=(0, 1))
    most = made.queries(error=0.065, confidence=0.95)
    assert made._sample_error(most, 0.05) <= 0.065 < made._sample_error(most + 1, 0.05)
    for error, confidence in ((0.04, 0.95), (0.07, 1.0), (-1, 0.9), ("x", 0.9), (math.nan, 0.9)):
        with pytest.raises(ParameterError):
            made.queries(error=error, confidence=confidence)


@pytest.mark.theorem("_PaidHits.privacy")
def test_many_threads_are_paid_no_more_answers_than_were_priced():
    made = holdout(people=50, hits=2, epsilon=50)
    told = []

    def ask() -> None:
        for _ in range(5):
            try:
                told.append(made.ask(on_training=1.0, on_holdout=[0.0] * 50))
            except StreamSpent:
                return

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(switch)
    assert made.remaining == 0
    assert sum(answer != 1.0 for answer in told) == 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])  # noqa: S301
def test_a_holdout_cannot_be_copied(again):
    with pytest.raises(NotCopyable):
        again(holdout())


def test_a_model_that_raises_on_one_row_is_wrong_about_that_row():
    class Picky:
        def predict(self, rows):
            if np.isnan(rows).any():
                raise ValueError(f"secret {rows}")
            return np.zeros(len(rows))

    rows = np.zeros((4000, 1))
    held = rows.copy()
    held[7] = np.nan
    labels = np.zeros(4000)
    assert holdout().score(Picky(), training=(rows, labels), holdout=(held, labels)) == 1.0


def test_bounds_whose_width_is_no_float_are_refused():
    with pytest.raises(ParameterError):
        holdout(bounds=(-1e308, 1e308))


def test_a_holdout_tells_what_is_left_of_it():
    holdout = ReusableHoldout(1000, threshold=0.1, hits=2, epsilon=1, delta=1e-6, bounds=(0, 1))
    assert repr(holdout).startswith("ReusableHoldout(people=1,000, hits=2, remaining=2, bounds=(0.0, 1.0), ApproxDP(")
