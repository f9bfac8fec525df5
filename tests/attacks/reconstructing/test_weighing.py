"""The weighing design recovers every bit from exact answers, and errs no more than its theorem allows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks import ParityQuestion, Weighing, expected_fraction
from discreet.attacks.reconstructing.weighing import walsh_hadamard
from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace


def matrix(design: Weighing) -> np.ndarray:
    """The queries of one block, a row each."""
    return np.array([question.counted for question in design.questions], dtype=float)


def secret_of(people: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, people)


def exact(design: Weighing, secret: np.ndarray) -> np.ndarray:
    return np.array([question.counts(secret) for question in design.questions])


@pytest.mark.theorem("Weighing.accuracy")
@given(people=st.integers(1, 200), power=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_exact_answers_give_back_every_bit(people, power, seed):
    design = Weighing(people=people, queries=2**power - 1)
    secret = secret_of(people, seed)
    assert np.array_equal(design.decode(exact(design, secret)), secret)


@pytest.mark.theorem("Weighing.accuracy")
@pytest.mark.parametrize("people", [63, 40, 1])
@pytest.mark.parametrize("error", [0.2, 0.249, 0.5, 0.75, 1.0, 1.5])
def test_no_errors_make_more_than_sixteen_squares_of_a_block_wrong(people, error):
    design, secret = Weighing(people=people, queries=63), secret_of(people, 3)
    weighed = matrix(design)
    random = np.random.default_rng(5)
    # errors aimed at one person, at everybody at once, and at nobody
    solve = np.linalg.pinv(weighed)
    aimed = [*np.sign(solve) * (1 - 2 * secret)[:, None], np.sign((1 - 2 * secret) @ solve)]
    aimed += [random.choice([-1.0, 1.0], 63) for _ in range(50)]
    wrong = [np.count_nonzero(design.decode((weighed @ secret + error * one)[:, None]) != secret) for one in aimed]
    assert max(wrong) <= 16 * error**2
    if error < 0.25:
        assert max(wrong) == 0


def test_errors_aimed_at_one_person_do_turn_that_bit():
    design, secret = Weighing(people=63, queries=63), np.zeros(63, dtype=int)
    aimed = np.sign(np.linalg.pinv(matrix(design))[0])
    assert np.flatnonzero(design.decode(0.3 * aimed[:, None]) != secret).tolist() == [0]


@pytest.mark.parametrize("people", [7, 5, 1])
def test_the_estimate_is_the_least_squares_solution(people):
    design = Weighing(people=people, queries=7)
    answers = np.random.default_rng(1).normal(size=7)
    solution, *_ = np.linalg.lstsq(matrix(design), answers, rcond=None)
    assert design.estimate(answers[:, None]) == pytest.approx(solution, abs=1e-12)


@pytest.mark.parametrize("power", [1, 2, 3, 6])
def test_everybody_counts_in_half_of_the_queries_and_two_people_together_in_a_quarter(power):
    design = Weighing(people=2**power - 1, queries=2**power - 1)
    together = matrix(design).T @ matrix(design)
    assert np.all(np.diag(together) == design.each)
    assert np.all(together[~np.eye(len(together), dtype=bool)] == 2**power / 4)


def test_people_of_many_blocks_are_put_back_in_order():
    design = Weighing(people=100, queries=31)
    assert design.blocks == 4
    assert design.block.tolist() == [person // 31 for person in range(100)]
    assert design.place.tolist() == [person % 31 + 1 for person in range(100)]


def test_blocks_missing_from_a_mapping_count_nobody():
    design = Weighing(people=10, queries=3)
    secret = np.array([1, 0, 1, 0, 0, 0, 0, 1, 0, 1])
    answers = [
        {block: int(count) for block, count in enumerate(question.counts(secret)) if count}
        for question in design.questions
    ]
    assert np.array_equal(design.decode(answers), secret)


@pytest.mark.parametrize("queries", [0, 2, 8, 62, 2**21 - 1, 7.0, True, -1])
def test_a_number_of_queries_that_makes_no_design_is_refused(queries):
    with pytest.raises(ParameterError, match="queries"):
        Weighing(people=10, queries=queries)


@pytest.mark.parametrize(
    "answers",
    [
        np.zeros((3, 2)),
        np.zeros((7, 2)),
        [[np.nan] * 4] * 3,
        [["one"] * 4] * 3,
        [[1.7e308] * 4] * 3,
        [{9: 1}] * 3,
        [{0.5: 1}] * 3,
        [{0: 1}, ["one"] * 4, {0: 1}],
    ],
)
def test_answers_of_another_shape_are_refused(answers):
    with pytest.raises(InputError, match="answer"):
        Weighing(people=10, queries=3).decode(answers)


@pytest.mark.parametrize("rows", [[(None, 3)], [(0, None)], [(0, 1), (0, 2)], [(0,)], [("north", 1)]], ids=str)
def test_rows_that_are_not_one_count_a_block_are_refused(rows):
    with pytest.raises(InputError, match="quer"):
        Weighing(people=10, queries=3).read(rows)


def test_a_column_of_another_length_is_refused_with_both_lengths():
    with pytest.raises(InputError, match="has 2 bits, people=3"):
        ParityQuestion(1, Weighing(people=3, queries=3)).counts([0, 1])


@pytest.mark.parametrize("secret", [[0, 1, 2], [0.0, 1.0, 0.0], ["a", "b", "c"]])
def test_a_column_that_does_not_hold_bits_is_refused_without_showing_it(secret):
    with pytest.raises(InputError, match=r"must hold 3 bits|ints or Booleans, got") as refusal:
        ParityQuestion(1, Weighing(people=3, queries=3)).counts(secret)
    assert "2" not in str(refusal.value).replace("float64", "")


def test_the_transform_is_the_sum_over_characters():
    columns = np.random.default_rng(2).integers(-9, 9, (16, 3)).astype(float)
    signs = np.array([[(-1) ** (a & x).bit_count() for a in range(16)] for x in range(16)])
    assert np.array_equal(walsh_hadamard(columns), signs @ columns)


@pytest.mark.theorem("expected_fraction.accuracy")
@pytest.mark.parametrize("noise", [DiscreteLaplace(1), DiscreteLaplace(0.5), DiscreteGaussian(1)], ids=str)
def test_the_expected_fraction_is_that_of_enumerating_the_noise(noise):
    reach = 30
    values = np.arange(-reach, reach + 1)
    chances = np.asarray(noise.pmf(values))
    errors = np.array(list(product(values, repeat=3)))
    weights = np.prod(chances[errors + reach], axis=1)
    design = Weighing(people=3 * len(errors), queries=3)
    for secret in ([0, 0, 0], [1, 0, 1], [1, 1, 1]):
        truth = np.array(secret)
        answers = matrix(Weighing(people=3, queries=3)) @ truth + errors
        right = design.decode(answers.T).reshape(-1, 3) == truth
        # one chance for a 0 and one for a 1: their mean is what is claimed
        other = design.decode((matrix(Weighing(people=3, queries=3)) @ (1 - truth) + errors).T).reshape(-1, 3)
        found = weights @ (right.mean(axis=1) + (other == 1 - truth).mean(axis=1)) / 2
        assert found == pytest.approx(expected_fraction(noise, queries=3), abs=1e-9)


def test_a_law_too_wide_to_go_through_is_refused():
    with pytest.raises(ParameterError, match="recovered_fraction"):
        expected_fraction(DiscreteLaplace(10**6), queries=1023)


def test_more_noise_leaves_less_and_more_queries_recover_more():
    by_noise = [expected_fraction(DiscreteLaplace(scale), queries=63) for scale in (0.25, 1, 4, 16, 64, 1000)]
    assert by_noise == sorted(by_noise, reverse=True)
    assert by_noise[0] > 0.999999
    assert by_noise[-1] == pytest.approx(0.5, abs=1e-3)
    by_queries = [expected_fraction(DiscreteLaplace(4), queries=queries) for queries in (3, 15, 63, 255, 1023)]
    assert by_queries == sorted(by_queries)
