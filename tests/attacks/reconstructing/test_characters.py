"""The queries of the Fourier attack: which sets they are, in numbers and in SQL, and what their errors can do."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks import Characters, exact_answers, sql_answers
from discreet.errors import InputError, MissingParameter, ParameterError

NAMES = {"table": "people", "secret": "marker", "person": "person"}


def bits(people: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, people)


def sets(design: Characters) -> np.ndarray:
    """Who is counted by each query, from the definition alone."""
    rows = []
    for odd, even in design.factors:
        moved = [(x * (odd + even * x)) % design.length for x in range(1, design.people + 1)]
        rows += [[(a & x).bit_count() % 2 == 0 for x in moved] for a in range(design.length)]
    return np.array(rows, dtype=np.int64)


@given(people=st.integers(2, 40), relabelings=st.integers(1, 3), seed=st.integers(0, 2**32))
def test_the_true_answers_are_counts_over_sets_of_even_parity(people, relabelings, seed):
    design, secret = Characters(people=people, relabelings=relabelings, seed=seed), bits(people, seed)
    assert len(design) == relabelings * design.length
    assert np.array_equal(design.exact(secret), sets(design) @ secret)


@pytest.mark.parametrize(("people", "size"), [(1, 2), (2, 4), (3, 4), (4, 8), (1023, 1024), (1024, 2048)])
def test_there_is_a_place_more_than_people_at_least(people, size):
    assert Characters(people=people).length == size


@pytest.mark.theorem("Characters.accuracy")
@given(people=st.integers(2, 200), relabelings=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_exact_answers_give_back_every_bit(people, relabelings, seed):
    design, secret = Characters(people=people, relabelings=relabelings, seed=seed), bits(people, seed)
    assert np.array_equal(design.decode(design.exact(secret)), secret)


@pytest.mark.theorem("Characters.accuracy")
@pytest.mark.parametrize(("people", "relabelings"), [(63, 1), (63, 3), (40, 1), (40, 3), (2, 4), (1, 1)])
@pytest.mark.parametrize("error", [0.2, 0.249, 0.5, 0.75, 1.0, 1.5])
def test_no_errors_make_more_than_sixteen_squares_wrong(people, error, relabelings):
    design, secret = Characters(people=people, relabelings=relabelings, seed=5), bits(people, 3)
    exact, against = design.exact(secret), np.zeros(design.length)
    against[1 : people + 1] = 1 - 2 * secret
    # errors aimed at one person, at some, at everybody at once, and at nobody
    random = np.random.default_rng(5)
    aims = [against * (random.random(design.length) < share) for share in (0.05, 0.1, 0.2, 0.5, 1.0) for _ in range(5)]
    aims += [against * (np.arange(design.length) == place) for place in range(1, people + 1)]
    errors = [np.sign(design.times(aim)) for aim in aims]
    errors += [random.choice([-1.0, 1.0], len(design)) for _ in range(50)]
    wrong = [np.count_nonzero(design.decode(exact + error * one) != secret) for one in errors]
    assert max(wrong) <= 16 * error**2
    if error < 0.25:
        assert max(wrong) == 0


def test_errors_aimed_at_one_person_do_turn_that_bit():
    design, secret = Characters(people=63), np.zeros(63, dtype=int)
    aimed = 0.3 * np.sign(design.times(np.eye(64)[7]))
    assert np.flatnonzero(design.decode(design.exact(secret) + aimed) != secret).tolist() == [6]


@pytest.mark.theorem("Characters.accuracy")
@pytest.mark.parametrize("relabelings", [1, 2, 5])
def test_the_columns_are_orthogonal_and_the_estimate_is_least_squares(relabelings):
    design = Characters(people=12, relabelings=relabelings, seed=1)
    matrix = np.array([design.times(column) for column in np.eye(16)]).T
    assert np.array_equal(matrix.T @ matrix, relabelings * 16 / 4 * np.eye(16))
    answers = np.random.default_rng(1).normal(size=len(design))
    solution, *_ = np.linalg.lstsq(matrix, answers, rcond=None)
    assert design.estimate(answers) == pytest.approx(solution[1:13], abs=1e-12)
    assert design.transposed(answers) == pytest.approx(matrix.T @ answers, abs=1e-12)


@pytest.mark.theorem("Characters.accuracy")
@pytest.mark.parametrize("people", [2, 3, 31, 1023, 65_535, 2**23])
def test_a_relabeling_permutes_the_places_and_leaves_the_empty_one(people):
    design = Characters(people=people, relabelings=4, seed=people)
    for place, (odd, even) in zip(design.places(), design.factors, strict=True):
        assert place[0] == 0
        assert np.all(np.bincount(place, minlength=design.length) == 1)
        # whole numbers of any size: at 2^23 people products of 64 bits have wrapped around
        for x in (people, people - 1, people // 2 + 1):
            assert place[x] == x * (odd + even * x) % design.length


@pytest.mark.parametrize("people", [2, 3, 7, 15])
def test_no_labeling_and_no_text_comes_twice(people):
    least = Characters(people=people)
    design = Characters(people=people, relabelings=min((least.length // 2) ** 2, 12), seed=4)
    assert len(set(design.factors)) == design.relabelings
    assert len(set(design.texts(NAMES))) == len(design)
    with pytest.raises(ParameterError, match="at most"):
        Characters(people=people, relabelings=(least.length // 2) ** 2 + 1, seed=4)


def test_relabeled_queries_are_other_sets():
    design = Characters(people=1023, relabelings=4, seed=1)
    secret = np.zeros((1023, 1023), dtype=np.int64)
    np.fill_diagonal(secret, 1)
    chosen = np.random.default_rng(1).choice(1023, 40, replace=False)
    seen = np.array([design.exact(secret[person]) for person in chosen]).T.reshape(4, 1024, 40)
    first = {row.tobytes() for row in seen[0]}
    for later in seen[1:]:
        assert sum(row.tobytes() in first for row in later) <= 16


@pytest.mark.parametrize("kind", ["INTEGER", "BIGINT"])
@pytest.mark.parametrize("person", ["person", "number - 1"])
def test_the_sql_of_the_queries_gives_their_true_answers(kind, person):
    design, secret = Characters(people=29, relabelings=3, seed=2), bits(29)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people (person {kind}, number {kind}, marker INTEGER)")
        connection.executemany(
            "INSERT INTO people VALUES (?, ?, ?)", [[i, i + 1, int(b)] for i, b in enumerate(secret)]
        )
        ask = sql_answers(lambda text: connection.execute(text).fetchall(), **NAMES | {"person": person})
        assert np.array_equal(ask(design), exact_answers(secret)(design))


@pytest.mark.parametrize("place", [2**20 - 2, 2**19, 777_777])
def test_a_relabeled_place_fits_into_sixty_four_bits(place):
    design = Characters(people=2**20 - 1, relabelings=2, seed=1)
    names = {"table": "(SELECT 1 AS marker)", "secret": "marker", "person": str(place)}
    odd, even = design.factors[1]
    moved = (place + 1) * (odd + even * (place + 1)) % 2**20
    with duckdb.connect() as connection:
        assert connection.execute(design.text(2**21 - 1, names)).fetchone() == (1 - moved.bit_count() % 2,)


def test_quoted_names_and_expressions_stay_whole():
    design, secret = Characters(people=5, relabelings=2, seed=1), bits(5)
    names = {"table": '"the people"', "secret": '"it\'s ""it"" 1"', "person": '"row id" - 10 | 0'}
    with duckdb.connect() as connection:
        connection.execute("""CREATE TABLE "the people" ("row id" INTEGER, "it's ""it"" 1" INTEGER)""")
        rows = [[i + 10, int(b)] for i, b in enumerate(secret)]
        connection.executemany('INSERT INTO "the people" VALUES (?, ?)', rows)
        ask = sql_answers(lambda text: connection.execute(text).fetchall(), **names)
        assert np.array_equal(ask(design), design.exact(secret))


@pytest.mark.parametrize("number", [-1, 8])
def test_there_are_no_texts_of_other_numbers(number):
    with pytest.raises(InputError, match="0 to 7"):
        Characters(people=7).text(number, NAMES)


@pytest.mark.parametrize("rows", [[(None,)], [("many",)], [(10**400,)], [(1, 2)], []])
def test_rows_that_hold_no_number_are_refused(rows):
    with pytest.raises(InputError, match="number"):
        sql_answers(lambda _: rows, **NAMES)(Characters(people=3))


def test_texts_say_which_name_is_missing():
    with pytest.raises(MissingParameter, match="person"):
        next(Characters(people=3).texts({"table": "people", "secret": "marker"}))


def test_too_many_people_cannot_be_relabeled_in_sql():
    with pytest.raises(ParameterError, match="relabelings=1"):
        Characters(people=2**20, relabelings=2, seed=1).text(2**21, NAMES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"people": 0},
        {"people": 2.0},
        {"people": 2**24},
        {"people": 3, "relabelings": 0},
        {"people": 3, "relabelings": 5, "seed": 1},
        {"people": 2**24 - 1, "relabelings": 17, "seed": 1},
        {"people": 3, "relabelings": 2},
        {"people": 3, "seed": -1},
        {"people": 3, "seed": True},
        {"people": 3, "seed": 1.0},
    ],
)
def test_sizes_that_make_no_design_are_refused(wrong):
    with pytest.raises(ParameterError, match=r"people|relabelings|seed"):
        Characters(**wrong)


def test_numbers_of_numpy_are_numbers():
    design = Characters(people=np.int64(7), relabelings=np.int32(2), seed=np.int64(3))
    assert design == Characters(people=7, relabelings=2, seed=3)


@pytest.mark.parametrize(
    "answers",
    [
        np.zeros(3),
        np.zeros((4, 1)),
        [0, 1, np.nan, 2],
        [0, 1, np.inf, 2],
        [0, 1, -np.inf, 2],
        [1.7e308] * 4,
        [10**400] * 4,
        ["one"] * 4,
        [None] * 4,
        [1, [2], 3, 4],
        [1j] * 4,
        {0: 1},
    ],
)
def test_answers_of_another_shape_are_refused(answers):
    with pytest.raises(InputError, match="answers"):
        Characters(people=3).decode(answers)


def test_a_column_that_holds_no_bits_is_refused_without_showing_it():
    with pytest.raises(InputError, match="must hold 3 bits") as refusal:
        Characters(people=3).exact([0, 1, 7])
    assert "7" not in str(refusal.value)
