"""What an attack refuses it refuses in one sentence that says what to change, and without anybody's value."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import (
    Flip,
    averaging,
    ceiling,
    differencing,
    exact_answers,
    exhaustive,
    fourier,
    from_marginals,
    least_squares,
    linear_program,
    membership,
    noisy_answers,
    noisy_run,
    random_least_squares,
    robust_fourier,
    session_answers,
    sql_answers,
)
from discreet.errors import InputError, MissingParameter, ParameterError

QUESTION = {"table": "t", "secret": "marker = 1", "target": "id = 1"}
NAMES = {"table": "t", "secret": "marker", "person": "id"}
SECRET = np.arange(500) % 2
FETCHALL = r"lambda text: connection\.execute\(text\)\.fetchall\(\)"


class Connection:
    """A database connection: it can be asked, and not called."""


class Frame:
    """A data frame, as a library that nobody need install would name it."""


Frame.__module__ = "pandas.core.frame"


def test_a_truth_of_another_length_is_counted():
    with pytest.raises(InputError, match="truth has 400 bits, people=500"):
        fourier(exact_answers(SECRET), 500, truth=SECRET[:400])
    with pytest.raises(InputError, match="the secret column has 500 bits, people=400"):
        fourier(exact_answers(SECRET), 400)


@pytest.mark.parametrize("make", [exact_answers, lambda bits: noisy_answers(bits, lambda counts: counts)])
def test_bits_are_whole_numbers_or_truth_values_from_the_start(make):
    with pytest.raises(InputError, match="ints or Booleans, got float64"):
        make(SECRET.astype(float))
    with pytest.raises(InputError, match="2 dimensions"):
        make(SECRET.reshape(2, -1))
    with pytest.raises(InputError, match="each 0 or 1"):
        make(SECRET + 1)


@pytest.mark.parametrize(
    "attack",
    [
        lambda ask: fourier(ask, 500),
        lambda ask: robust_fourier(ask, 500, relabelings=4, seed=1),
        lambda ask: least_squares(ask, 500, queries=63),
        lambda ask: random_least_squares(ask, 20, queries=40, seed=1),
        lambda ask: linear_program(ask, 20, queries=40, seed=1),
        lambda ask: exhaustive(ask, 4, error=0),
        lambda ask: from_marginals(ask, [[0, 1], [1, 1]]),
    ],
)
def test_an_array_cannot_be_asked_and_the_makers_are_named(attack):
    with pytest.raises(ParameterError, match=r"exact_answers\(secret\).*sql_answers\(run.*got ndarray"):
        attack(SECRET)


def test_noise_is_a_function():
    with pytest.raises(ParameterError, match=r"attacks\.uniform_noise\(5, seed=1\).*got int"):
        noisy_answers(SECRET, 5)
    with pytest.raises(ParameterError, match="noise must be a function"):
        noisy_run(lambda _: [(1,)], 5)


@pytest.mark.parametrize(
    "attack",
    [
        lambda run: sql_answers(run, table="t"),
        lambda run: noisy_run(run, round),
        lambda run: averaging(run, [("SELECT 1",)]),
        lambda run: differencing(run, **QUESTION),
    ],
)
def test_a_connection_is_turned_into_a_function_first(attack):
    with pytest.raises(ParameterError, match=f"{FETCHALL}; got Connection"):
        attack(Connection())


@pytest.mark.parametrize("found", [Frame(), Connection(), None, "rows", (1,), {"n": [1]}])
def test_rows_come_as_from_fetchall(found):
    ask = sql_answers(lambda _: found, **NAMES)
    with pytest.raises(InputError, match=rf"fetchall\(\).*gave {type(found).__name__}"):
        fourier(ask, 7)
    with pytest.raises(InputError, match=r"fetchall\(\)"):
        differencing(lambda _: found, **QUESTION)


def test_a_session_is_a_session():
    with pytest.raises(ParameterError, match=f"sql_answers.{FETCHALL}"):
        session_answers(Connection(), epsilon=1)


def test_wordings_are_a_list():
    for given in (5, "SELECT 1"):
        with pytest.raises(InputError, match="wordings must be a list"):
            averaging(lambda _: [(1,)], given)


def test_a_ceiling_does_not_guess_what_a_flip_does():
    with pytest.raises(MissingParameter, match=r"Flip\.ONE_ROW if .* Flip\.TWO_ROWS|flip=Flip\.TWO_ROWS if"):
        ceiling(dp.PureDP(1).loss)


def test_a_guarantee_is_not_its_price():
    with pytest.raises(ParameterError, match=r"PureDP\(1\)\.loss"):
        ceiling(dp.PureDP(1), flip=Flip.ONE_ROW)
    with pytest.raises(ParameterError, match=r"PureDP\(1\)\.loss"):
        fourier(exact_answers(SECRET), 500, loss=dp.PureDP(1))


def judged_members(published, **more):
    bits = np.ones((3, 10), dtype=int)
    return membership(published, np.full(10, 0.5), bits, reference=bits, people=100, **more)


def test_counts_are_no_frequencies_and_noisy_frequencies_may_be_anything():
    with pytest.raises(InputError, match="divide counts by people"):
        judged_members(np.full(10, 50.0))
    assert judged_members(np.full(10, -3.0)).positions == 10
    assert judged_members(np.full(10, 50.0), deviation=20).positions == 10
