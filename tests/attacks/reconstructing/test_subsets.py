"""Designs given by sets of people: what is counted, what is written in SQL, and what their products are."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks import AllSubsets, RandomSubsets, exact_answers, sql_answers
from discreet.errors import InputError, MissingParameter, ParameterError

NAMES = {"table": "people", "secret": "marker", "person": "person"}


def secret_of(people: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, people)


@given(people=st.integers(1, 70), queries=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_the_packed_sets_the_matrix_and_the_members_are_the_same(people, queries, seed):
    design = RandomSubsets(people=people, queries=queries, seed=seed)
    matrix, secret = design.matrix(), secret_of(people, seed)
    assert matrix.shape == (len(design), people)
    assert all(np.array_equal(np.flatnonzero(matrix[query]), design.members(query)) for query in range(queries))
    assert np.array_equal(design.exact(secret), matrix @ secret)
    assert np.array_equal(design.gram(), matrix.T @ matrix)
    numbers, answers = np.arange(people) / 7, np.arange(queries) / 3
    assert design.times(numbers) == pytest.approx(matrix @ numbers)
    assert design.transposed(answers) == pytest.approx(matrix.T @ answers)


def test_a_matrix_of_many_parts_is_put_together_in_order():
    design = RandomSubsets(people=21, queries=1300, seed=3)
    assert [len(part) for part in design.parts()] == [512, 512, 276]
    assert np.array_equal(np.concatenate(list(design.parts())), design.matrix())


def test_everybody_is_in_about_half_of_the_sets_and_pairs_in_a_quarter():
    together = RandomSubsets(people=40, queries=4000, seed=1).gram() / 4000
    assert np.diag(together) == pytest.approx(0.5, abs=0.06)
    assert together[~np.eye(40, dtype=bool)] == pytest.approx(0.25, abs=0.06)


def test_the_same_seed_gives_the_same_sets_and_another_seed_others():
    one, two, three = (RandomSubsets(people=50, queries=20, seed=seed).packed for seed in (4, 4, 5))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, three)
    with pytest.raises(ValueError, match="read-only"):
        one[0, 0] = 1


@pytest.mark.parametrize("design", [RandomSubsets(people=9, queries=60, seed=2), AllSubsets(people=5)], ids=repr)
def test_the_sql_of_a_set_counts_what_is_exact(design):
    secret = secret_of(design.people, 1)
    with duckdb.connect() as connection:
        connection.register("arrays", {"person": np.arange(design.people), "marker": secret})
        connection.execute("CREATE TABLE people AS SELECT * FROM arrays")
        ask = sql_answers(lambda text: connection.execute(text).fetchall(), **NAMES)
        assert np.array_equal(ask(design), exact_answers(secret)(design))


def test_all_subsets_are_there_once_and_the_empty_one_first():
    design = AllSubsets(people=6)
    assert len({tuple(design.members(query).tolist()) for query in range(64)}) == 64
    assert design.members(0).size == 0
    assert next(design.texts(NAMES)).endswith("person IN (-1)")


@pytest.mark.parametrize("people", [0, 21, 2.0, True])
def test_more_people_than_whose_subsets_can_be_listed_are_refused(people):
    with pytest.raises(ParameterError, match="people"):
        AllSubsets(people=people)


@pytest.mark.parametrize(
    ("people", "queries", "seed", "words"),
    [(0, 5, 1, "people"), (5, 0, 1, "queries"), (5, 5, -1, "seed"), (5, 5, True, "seed"), (10**6, 10**6, 1, "gibi")],
)
def test_sizes_that_make_no_design_are_refused(people, queries, seed, words):
    with pytest.raises(ParameterError, match=words):
        RandomSubsets(people=people, queries=queries, seed=seed)


@pytest.mark.parametrize("answers", [np.zeros(3), np.zeros((4, 1)), [0, 0, 0, np.inf]])
def test_answers_of_another_shape_are_refused(answers):
    with pytest.raises(InputError, match="answers"):
        RandomSubsets(people=5, queries=4, seed=1).checked(answers)


def test_a_name_that_is_missing_in_sql_is_asked_for():
    with pytest.raises(MissingParameter, match="person="):
        next(RandomSubsets(people=5, queries=4, seed=1).texts({"table": "people", "secret": "marker"}))


@pytest.mark.parametrize("answers", [["a"] * 4, [[1], [1, 2], [3], [4]], [1e300] * 4, [None] * 4])
def test_answers_that_are_no_numbers_of_a_sensible_size_are_refused(answers):
    with pytest.raises(InputError, match="answers"):
        RandomSubsets(people=5, queries=4, seed=1).checked(answers)
