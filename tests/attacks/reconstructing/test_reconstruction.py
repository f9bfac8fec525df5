"""The attack recovers a secret column from plain answers, whoever gives them, and hardly anything through noise."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest

import discreet as dp
from discreet.attacks import (
    Flip,
    Weighing,
    attack_queries,
    ceiling,
    exact_answers,
    expected_fraction,
    least_squares,
    noisy_answers,
    sql_answers,
)
from discreet.data import hospital_database
from discreet.errors import InputError

PEOPLE = 5040
SECRET = hospital_database(people=PEOPLE, seed=7).patients.marker
COLUMNS = {"table": "patients", "secret": "marker", "block": "practice", "place": "card"}
NUMBERED = COLUMNS | {"block": "patient_id // 63", "place": "(patient_id % 63 + 1)"}
FALSE_ALARM = 1e-9


def laplace(epsilon):
    """One person is in one block: the counts of all blocks together move by 1."""
    sensitivity = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    return dp.Laplace(epsilon=epsilon, sensitivity=sensitivity)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = hospital_database(people=PEOPLE, seed=7).to_duckdb(tmp_path_factory.mktemp("base") / "hospital.duckdb")
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


@pytest.mark.theorem("least_squares.accuracy")
@pytest.mark.parametrize(("people", "queries"), [(5040, 63), (5000, 63), (5040, 127), (6001, 255), (20_000, 31)])
def test_exact_answers_give_everybody_away(people, queries):
    secret = np.random.default_rng(people).integers(0, 2, people)
    found = least_squares(exact_answers(secret), people, queries=queries, truth=secret)
    assert found.recovered == 1.0
    assert np.array_equal(found.bits, secret)


@pytest.mark.parametrize("columns", [COLUMNS, NUMBERED], ids=["columns", "numbers"])
def test_sql_on_a_plain_database_gives_everybody_away(database, columns):
    ask = sql_answers(lambda text: database.execute(text).fetchall(), **columns)
    assert least_squares(ask, PEOPLE, queries=63, truth=SECRET).recovered == 1.0


def test_the_texts_and_their_decoder_do_the_same(database):
    attack = attack_queries(PEOPLE, queries=63, **COLUMNS)
    answers = [dict(database.execute(text).fetchall()) for text in attack.texts]
    assert len(attack) == len(set(attack.texts)) == 63
    assert np.array_equal(attack.decode(answers), SECRET)


@pytest.mark.parametrize("mask", [1, 37, 63])
def test_the_sql_of_a_question_is_its_exact_answer(database, mask):
    attack = attack_queries(PEOPLE, queries=63, **COLUMNS)
    counts = dict(database.execute(attack.texts[mask - 1]).fetchall())
    expected = attack.design.questions[mask - 1].counts(SECRET)
    assert [counts.get(block, 0) for block in range(attack.design.blocks)] == expected.tolist()


@pytest.mark.theorem("least_squares.accuracy")
@pytest.mark.parametrize(("step", "queries"), [(2, 63), (3, 63), (5, 127), (10, 511)])
def test_rounding_the_answers_does_not_help(step, queries):
    ask = noisy_answers(SECRET, lambda counts: step * np.round(counts / step))
    found = least_squares(ask, PEOPLE, queries=queries, truth=SECRET)
    assert found.recovered >= 0.95
    design = Weighing(people=PEOPLE, queries=queries)
    wrong = np.bincount(design.block[~found.right], minlength=design.blocks)
    assert wrong.max() <= 4 * step**2


@pytest.mark.parametrize(("deviation", "queries"), [(0.5, 63), (1.0, 63), (2.0, 255), (8.0, 4095)])
def test_small_noise_does_not_help_either(deviation, queries):
    random = np.random.default_rng(11)
    ask = noisy_answers(SECRET, lambda counts: counts + random.normal(0, deviation, len(counts)))
    found = least_squares(ask, PEOPLE, queries=queries, truth=SECRET)
    assert found.recovered >= 0.95


@pytest.mark.theorem("least_squares.privacy", "expected_fraction.accuracy")
@pytest.mark.parametrize("total", [1, 4, 16, 48])
def test_through_noise_the_attack_gets_what_is_predicted_and_no_more_than_the_ceiling(total):
    queries, blocks = 31, 6000
    secret = np.random.default_rng(total).integers(0, 2, queries * blocks)
    mechanism = laplace(total / queries)
    found = least_squares(
        noisy_answers(secret, mechanism), len(secret), queries=queries, truth=secret, loss=mechanism.loss * queries
    )
    # blocks are independent: Hoeffding's bound for their means; a thousandth covers bits that are not quite balanced
    margin = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * blocks)) + 1e-3
    of_each = ceiling(mechanism.loss * Weighing(people=PEOPLE, queries=found.queries).each, flip=Flip.ONE_ROW)
    predicted = expected_fraction(mechanism.law(0), queries=queries)
    assert predicted <= of_each.upper <= found.ceiling.upper
    assert abs(found.recovered - predicted) <= margin
    assert found.recovered <= of_each.upper + margin


def test_a_budget_of_one_leaves_less_than_three_points_over_chance():
    each = laplace(1 / 63)
    highest = ceiling(each.loss * 63, flip=Flip.ONE_ROW)
    assert 0.52 < highest.lower <= highest.upper < 0.53
    assert expected_fraction(each.law(0), queries=63) < 0.51


def test_the_attack_sees_nothing_but_answers():
    asked = []

    def ask(design):
        asked.extend(design.questions)
        return design.exact(SECRET)

    blind = least_squares(ask, PEOPLE, queries=63)
    assert len(asked) == 63
    assert blind.recovered is None
    assert blind.right is None
    assert blind.ceiling is None
    assert np.array_equal(blind.bits, SECRET)


def test_the_result_tells_totals_in_words_and_nobodys_bit():
    loss = laplace(1 / 63).loss * 63
    found = least_squares(exact_answers(SECRET), PEOPLE, queries=63, truth=SECRET, loss=loss)
    for text in (repr(found), found._repr_html_()):
        assert "5,040" in text
        assert "100.0 %" in text
        assert "52.6 %" in text
        assert "[" not in text
    with pytest.raises(ValueError, match="read-only"):
        found.bits[0] = 1


@pytest.mark.parametrize("truth", [SECRET, None], ids=["owner", "attacker"])
def test_the_plot_shows_the_estimates(truth):
    plot = least_squares(exact_answers(SECRET), PEOPLE, queries=63, truth=truth).plot()
    names = [text.get_text() for text in plot.figure.legends[0].get_texts()]
    assert names == (["estimates"] if truth is None else ["the bit is 0", "the bit is 1"])
    assert plot.svg().startswith("<?xml")


def test_a_truth_that_is_no_column_of_bits_is_refused_before_anything_is_asked():
    def ask(_):
        pytest.fail("asked")

    with pytest.raises(InputError, match="bits"):
        least_squares(ask, PEOPLE, queries=63, truth=[0, 1])
