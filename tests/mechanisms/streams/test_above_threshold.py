"""AboveThreshold: pays for hits only, cannot be used twice, and is as accurate as its exact law says."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InputError, MissingParameter, NotCopyable, StreamSpent
from tests.chances import fewest, most
from tests.conftest import Rounds


def open_stream(**changes: object) -> dp.AboveThreshold:
    settings: dict[str, object] = {"threshold": 100, "epsilon": 1, "sensitivity": 1}
    return dp.AboveThreshold(**(settings | changes))  # type: ignore[arg-type]


@pytest.mark.theorem("AboveThreshold.privacy")
def test_the_textbook_split_has_the_textbook_noise() -> None:
    stream = open_stream(split=dp.Split.TEXTBOOK)
    assert stream.threshold_noise.scale == 2
    assert stream.query_noise.scale == 4
    assert open_stream(split=dp.Split.TEXTBOOK, monotone=True).query_noise.scale == 2


@pytest.mark.theorem("AboveThreshold.privacy")
@pytest.mark.parametrize("hits", [1, 3])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_parts_of_epsilon_add_up_exactly(hits: int, monotone: bool) -> None:
    stream = open_stream(hits=hits, monotone=monotone)
    first = 1 / stream.threshold_noise.scale
    second = hits * (1 if monotone else 2) / stream.query_noise.scale
    assert first + second == 1
    assert float(second / first) == pytest.approx((hits * (1 if monotone else 2)) ** (2 / 3), rel=1e-12)


@pytest.mark.theorem("AboveThreshold.privacy")
def test_a_stream_costs_epsilon_however_long_it_is() -> None:
    stream = open_stream(epsilon=0.5)
    for _ in range(3000):
        stream.watch(-500)
    assert stream.guarantee == dp.PureDP(0.5)
    assert stream.remaining == 1


def test_a_spent_stream_cannot_be_used_again() -> None:
    stream = open_stream(hits=2)
    assert [stream.watch(10**6), stream.watch(-(10**6)), stream.watch(10**6)] == [True, False, True]
    assert stream.remaining == 0
    for _ in range(3):
        with pytest.raises(StreamSpent, match="2 hits"):
            stream.watch(0)


def test_a_refused_value_spends_nothing() -> None:
    stream = open_stream()
    with pytest.raises(dp.errors.InputError):
        stream.watch(float("nan"))
    assert stream.remaining == 1
    assert stream.watch(10**6)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stream_cannot_be_copied_or_pickled(duplicate: object) -> None:
    with pytest.raises(NotCopyable):
        duplicate(open_stream())  # type: ignore[operator]


def test_a_forked_child_cannot_go_on_with_its_parents_stream() -> None:
    stream = open_stream()
    child = os.fork()
    if child == 0:
        try:
            stream.watch(0)
            os._exit(1)
        except StreamSpent:
            os._exit(0)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert stream.watch(10**6)


def test_threads_cannot_report_more_hits_than_were_paid_for() -> None:
    stream = open_stream(hits=5)
    reports: list[bool] = []

    def work() -> None:
        for _ in range(200):
            try:
                reports.append(stream.watch(10**6))
            except StreamSpent:
                return

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(reports) == 5


def test_noisy_answers_are_priced_beside_the_verdicts() -> None:
    stream = open_stream(answer_epsilon=0.5, hits=2)
    assert stream.guarantee == dp.PureDP(1.5)
    assert stream.answer_noise is not None
    assert stream.answer_noise.scale == Fraction(2) / Fraction(0.5)
    assert stream.answer(-(10**6)) is None
    assert abs(stream.answer(10**6) - 10**6) < 500  # type: ignore[operator]
    with pytest.raises(MissingParameter, match="answer_epsilon"):
        open_stream().answer(5)


def test_real_values_are_rounded_before_anything_else() -> None:
    stream = dp.AboveThreshold(threshold=0.5, epsilon=1, sensitivity=0.25, answer_epsilon=1)
    released = stream.answer(1e6 + 1 / 3)
    assert (Fraction(released) / stream.grid).denominator == 1


@pytest.mark.theorem("AboveThreshold.accuracy")
@pytest.mark.parametrize("queries", [1, 10, 1000])
@pytest.mark.parametrize("split", list(dp.Split))
def test_alpha_is_below_the_textbook_bound_and_holds(queries: int, split: dp.Split, rounds: Rounds) -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=0.1, sensitivity=1, split=split)
    alpha = stream.alpha(queries=queries, beta=0.05)
    if split is dp.Split.TEXTBOOK:
        assert alpha <= 8 * (math.log(queries) + math.log(2 / 0.05)) / 0.1
    draws = rounds(sample=4000, full=40_000)
    threshold = stream.threshold_noise.sample(draws)
    worst = np.array([np.abs(stream.query_noise.sample(queries) - r).max() for r in threshold])
    assert np.count_nonzero(worst <= alpha) >= fewest(draws, 0.95)
    assert np.count_nonzero(worst <= alpha - 1) <= most(draws, 0.97)


@pytest.mark.theorem("AboveThreshold.accuracy")
def test_alpha_is_the_least_width_of_the_exact_law() -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=2, sensitivity=1, split=dp.Split.TEXTBOOK)
    alpha = int(stream.alpha(queries=3, beta=0.1))
    places = np.arange(-200, 201)
    threshold, query = stream.threshold_noise.pmf(places), stream.query_noise

    def inside(width: int) -> float:
        each = query.cdf(places + width) - query.cdf(places - width - 1)
        return float(np.sum(threshold * each**3))

    assert inside(alpha) >= 0.9 > inside(alpha - 1)


def test_the_fine_grid_bound_is_close_to_the_exact_one() -> None:
    coarse = dp.AboveThreshold(threshold=0, epsilon=0.1, sensitivity=1).alpha(queries=10, beta=0.05)
    fine = dp.AboveThreshold(threshold=0, epsilon=0.1, sensitivity=1.0).alpha(queries=10, beta=0.05)
    assert coarse <= fine <= 1.3 * coarse


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize(
    ("threshold", "value"),
    [(0, -(2**63)), (0, 2**63 - 1), (0, 2**61), (0, -(2**61)), (2**61 - 1, -(2**62) - 2**61), (2**61, 0)],
)
def test_no_law_is_told_where_a_distance_could_leave_64_bits(threshold: int, value: int, gap: bool) -> None:
    stream = open_stream(threshold=threshold, gap=gap)
    with pytest.raises(InputError, match="2\\^61"):
        stream.law(np.array([value]))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("threshold", [2**63, -(2**70), 2**62, 0])
def test_neighbors_of_any_threshold_move_by_the_sensitivity(threshold: int, monotone: bool) -> None:
    stream = open_stream(threshold=threshold, sensitivity=3, monotone=monotone)
    for first, second in stream.neighbors():
        moves = [int(one) - int(other) for one, other in zip(first, second, strict=True)]
        assert {abs(move) for move in moves} == {3}
        assert len(set(moves)) == (1 if monotone or len(moves) == 1 else 2)
        assert max(abs(int(one) - threshold) for one in first) <= 10 * stream.query_noise.scale + 4
