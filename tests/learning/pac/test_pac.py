"""Private PAC learners: their exact laws against epsilon, their draws against their laws, and what they find."""

from __future__ import annotations

import math
import threading
import warnings
from collections import deque
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.learning.exact import unheard
from discreet.learning.pac import (
    ConjunctionLearner,
    FiniteClassLearner,
    Parity,
    ParityLearner,
    Stump,
    StumpLearner,
    sample_sizes,
)
from discreet.privacy import Relation

RELATIONS = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]
ROWS_OF_TWO = [(bits, label) for bits in product((0, 1), repeat=2) for label in (0, 1)]


def table(entries, features=2):
    rows = np.array([bits for bits, _ in entries], dtype=np.int64).reshape(-1, features)
    return rows, np.array([label for _, label in entries], dtype=np.int64)


def neighbors(entries, relation, every):
    """Return all tables with one row fewer, or one row changed to any other."""
    for place in range(len(entries)):
        rest = entries[:place] + entries[place + 1 :]
        if relation is Relation.ADD_REMOVE:
            yield rest
        else:
            yield from ((*rest, other) for other in every)


def largest_loss(first, second):
    """Return the largest log ratio of two finite laws, both ways, from their exact chances."""
    one, two = (dict(zip(law.outcomes, law.probabilities, strict=True)) for law in (first, second))
    return max(abs(math.log(float(one[key] / two[key]))) for key in one if one[key] or two[key])


@pytest.mark.theorem("ParityLearner.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_parities_lose_epsilon_and_no_more_on_all_small_tables(relation, epsilon):
    learner = ParityLearner(2, epsilon=epsilon, relation=relation)
    laws = {}

    def law(entries):
        key = tuple(sorted(entries))
        if key not in laws:
            laws[key] = learner.law(table(key))
        return laws[key]

    worst = 0.0
    for size in (1, 2, 3):
        for entries in product(ROWS_OF_TWO, repeat=size):
            if list(entries) != sorted(entries):
                continue
            for other in neighbors(entries, relation, ROWS_OF_TWO):
                worst = max(worst, largest_loss(law(entries), law(other)))
    assert worst <= epsilon * (1 + 1e-12)
    assert worst > epsilon * (1 - 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_larger_chance_to_keep_rows_would_break_the_guarantee(relation):
    """With p twice as large the same search finds a loss above epsilon: it can fail."""
    learner = ParityLearner(2, epsilon=1, relation=relation)
    learner.kept = min(2 * learner.kept, Fraction(9, 10))
    losses = [
        largest_loss(learner.law(table(entries)), learner.law(table(other)))
        for entries in product(ROWS_OF_TWO, repeat=2)
        for other in neighbors(entries, relation, ROWS_OF_TWO)
    ]
    assert max(losses) > 1.1


def test_parities_are_drawn_by_their_law():
    learner = ParityLearner(2, epsilon=1, relation=Relation.ADD_REMOVE)
    value = table([((1, 0), 1), ((1, 1), 0), ((1, 0), 1)])
    law = learner.law(value)
    drawn = [learner.outcome(value) for _ in range(4000)]
    assert dp.goodness_of_fit(law, drawn).p_value > 1e-9


def test_a_parity_of_a_hundred_bits_is_found():
    # nothing is returned with probability 0.0474 a run at epsilon 3, so seven times with 5e-10; some 380 random
    # equations for 100 bits lack rank with probability below 2^-200
    draw = np.random.default_rng(3)
    rows = draw.integers(0, 2, (400, 100))
    secret = draw.integers(0, 2, 100)
    found = ParityLearner(100, epsilon=21, relation=Relation.ADD_REMOVE, runs=7)((rows, rows @ secret % 2))
    assert found is not None
    assert found.places == tuple(np.flatnonzero(secret))
    assert np.array_equal(found(rows), rows @ secret % 2)


def test_rows_that_are_no_bits_count_for_nothing():
    learner = ParityLearner(2, epsilon=1, relation=Relation.ADD_REMOVE)
    rows = np.array([[1, 0], [1, np.nan], [2, 0], [1, 1]])
    with_bad = learner.law((rows, np.array([1.0, 0, 0, np.inf])))
    alone = learner.law((rows[:1], np.array([1.0])))
    assert with_bad.probabilities == alone.probabilities


def test_a_cell_that_is_no_number_changes_no_other_row():
    learner = ParityLearner(2, epsilon=1, relation=Relation.ADD_REMOVE)
    alone = learner.law(([[1, 0]], [1]))
    assert learner.law(([[1, 0], ["x", None]], [1, 0])).probabilities == alone.probabilities
    assert learner.law(([[1, 0], [1, 1]], [1, "x"])).probabilities == alone.probabilities
    # beside a float, numpy would round the whole number to 2^63
    stumps = StumpLearner(1, bounds=(2**63, 2**63 + 2), epsilon=50, relation=Relation.ADD_REMOVE, both_sides=False)
    likely = stumps.law(([[2**63 + 1], [0.5]], [0, 2])).pmf(2)
    assert likely == stumps.law(([[2**63 + 1]], [0])).pmf(2)


@pytest.mark.theorem("StumpLearner.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("both_sides", [True, False])
def test_stumps_are_the_exponential_mechanism_by_brute_force(relation, both_sides):
    draw = np.random.default_rng(5)
    learner = StumpLearner(2, bounds=(-2, 4), epsilon=1, relation=relation, both_sides=both_sides)
    slope = 1.0 if relation is Relation.ADD_REMOVE else 0.5
    for _ in range(20):
        count = int(draw.integers(0, 7))
        rows, labels = draw.integers(-4, 7, (count, 2)), draw.integers(0, 3, count)
        missing = draw.random(count) < 0.3  # in the first feature: an error of all of its stumps
        if missing.any():
            rows = rows.astype(object)
            rows[missing, 0] = "?"
        scores = []
        for feature in range(2):
            for above in (True, False) if both_sides else (True,):
                for threshold in range(-2, 6):
                    lost = missing if feature == 0 else np.zeros(count, dtype=bool)
                    clipped = np.clip(np.where(lost, 0, rows[:, feature]).astype(int), -2, 4)
                    wrong = ((clipped >= threshold) == above) != (labels == 1)
                    scores.append(-int(np.count_nonzero((wrong | lost) & (labels < 2))))
        weights = np.exp(slope * np.array(scores))
        law = learner.law((rows, labels))
        assert np.allclose([law.pmf(place) for place in range(len(scores))], weights / weights.sum(), rtol=1e-9)


def test_stumps_are_drawn_by_their_law():
    learner = StumpLearner(1, bounds=(0, 5), epsilon=1, relation=Relation.CHANGE_ONE)
    value = (np.array([[1], [3], [3], [5]]), np.array([0, 1, 0, 1]))
    law = learner.law(value)
    assert dp.goodness_of_fit(law, [learner.outcome(value) for _ in range(4000)]).p_value > 1e-9


@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
def test_a_fraction_counts_as_the_whole_number_below_it(kind):
    """It is at or above a whole threshold exactly if that number is; one without end lies at a bound."""
    learner = StumpLearner(1, bounds=(-2, 4), epsilon=1, relation=Relation.ADD_REMOVE)
    values = [0.5, -0.5, 3.25, 4.75, 9.5, -7.5, math.inf, -math.inf]
    below = [0, -1, 3, 4, 4, -2, 4, -2]
    labels = [1, 0, 1, 0, 1, 1, 0, 1]
    found = learner.law((np.array(values, dtype=kind)[:, None], labels))
    same = learner.law((np.array(below)[:, None], labels))
    assert np.array_equal(found.scores, same.scores)
    lost = learner.law((np.array([0.5, math.nan], dtype=kind)[:, None], [1, 1]))  # an error of all stumps alike
    alone = learner.law(([[0]], [1]))
    assert np.array_equal(lost.scores - lost.scores.max(), alone.scores - alone.scores.max())


@pytest.mark.parametrize(
    "learner",
    [
        StumpLearner(1, bounds=(0, 9), epsilon=1, relation=Relation.ADD_REMOVE),
        ConjunctionLearner(1, epsilon=1, delta=1e-6, relation=Relation.ADD_REMOVE),
        ParityLearner(1, epsilon=1, relation=Relation.ADD_REMOVE),
    ],
)
def test_labels_of_a_type_without_bits_are_refused(learner):
    rows = np.zeros((3, 1), dtype=int)
    for labels in (np.array(["yes", "no", "yes"]), pd.Series(["yes", "no", "yes"], dtype="str")):
        with pytest.raises(InputError, match='write y == "yes"'):
            learner((rows, labels))
    learner((rows, ["yes", "no", "yes"]))  # a list has no type: one row must not decide whether there is an answer
    learner((rows, pd.Series([True, False, True])))


def test_learners_and_what_they_find_tell_what_they_are():
    assert repr(ParityLearner(3, epsilon=1, relation=Relation.ADD_REMOVE)) == (
        "ParityLearner(3, runs=1, PureDP(epsilon=1.0, relation=Relation.ADD_REMOVE))"
    )
    assert repr(Parity(0b101, 3)) == "Parity(places=(0, 2), features=3)"
    assert repr(FiniteClassLearner(iter([len]), epsilon=1, relation=Relation.CHANGE_ONE)).startswith(
        "FiniteClassLearner(hypotheses=a generator, PureDP("
    )
    assert "bounds=(0, 9), both_sides=False" in repr(
        StumpLearner(1, bounds=(0, 9), epsilon=1, relation=Relation.ADD_REMOVE, both_sides=False)
    )


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object, np.float64])
def test_thresholds_reach_both_ends_of_sixty_four_bits(dtype):
    low, high = (-(2**63), 2**63 - 1) if dtype is np.int64 else (0, 2**64 - 1)
    learner = StumpLearner(1, bounds=(low, high), epsilon=50, relation=Relation.ADD_REMOVE, both_sides=False)
    ends = [low, high] if dtype is not np.float64 else [0.0, 2.0**63]
    rows = np.array([[end] for end in ends for _ in range(5)], dtype=dtype)
    found = learner((rows, np.repeat([0, 1], 5)))
    assert low < found.threshold <= (high if dtype is not np.float64 else 2**63)
    above_all = learner((rows, np.zeros(10)))
    assert above_all.threshold > int(ends[1])


@pytest.mark.theorem("FiniteClassLearner.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_finite_class_loses_at_most_epsilon(relation):
    hypotheses = [lambda rows, mask=mask: rows @ [mask & 1, mask >> 1] % 2 for mask in range(4)]
    learner = FiniteClassLearner(hypotheses, epsilon=1, relation=relation)
    worst = max(
        learner.law(table(entries)).pair(learner.law(table(other))).max_loss().upper
        for size in (1, 2)
        for entries in product(ROWS_OF_TWO, repeat=size)
        for other in neighbors(entries, relation, ROWS_OF_TWO)
    )
    assert 0.4 < worst <= 1 + 1e-9


def test_hypotheses_from_a_generator_are_tried_one_after_the_other():
    rows = np.array([[0, 1], [1, 0]] * 100)
    made = (lambda rows, place=place: rows[:, place] for place in range(2))
    learner = FiniteClassLearner(made, epsilon=1, relation=Relation.ADD_REMOVE)
    assert learner((rows, rows[:, 1]))(np.array([[5, 7]])).tolist() == [7]  # the other has 200 errors: e^-200


def test_a_generator_is_used_once():
    learner = FiniteClassLearner(iter([lambda rows: rows[:, 0]]), epsilon=1, relation=Relation.ADD_REMOVE)
    learner((np.zeros((2, 1)), np.zeros(2)))
    with pytest.raises(InputError, match="once"):
        learner((np.zeros((2, 1)), np.zeros(2)))


def test_what_a_hypothesis_says_about_a_row_is_not_passed_on():
    def broken(rows):
        raise ValueError(f"secret {rows}")

    learner = FiniteClassLearner([broken], epsilon=1, relation=Relation.ADD_REMOVE)
    with pytest.raises(ParameterError) as caught:
        learner((np.array([[42]]), np.array([1])))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.theorem("ConjunctionLearner.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_row_moves_the_counts_of_literals_by_the_stated_distance(relation, monkeypatch):
    seen = []
    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", lambda _, sums: seen.append(sums) or sums)
    learner = ConjunctionLearner(3, mu=1, relation=relation)
    every = [(bits, label) for bits in product((0, 1), repeat=3) for label in (0, 1)]
    distances = []
    for entries in product(every, repeat=1):
        for other in neighbors(entries, relation, every):
            learner(table(entries, 3))
            learner(table(other, 3))
            distances.append(int(((seen[-1] - seen[-2]) ** 2).sum()))
    assert max(distances) == learner._squared == (3 if relation is Relation.ADD_REMOVE else 6)


@pytest.mark.theorem("ConjunctionLearner.accuracy")
def test_literals_of_the_truth_are_hardly_ever_lost():
    draw = np.random.default_rng(8)
    learner = ConjunctionLearner(20, mu=0.5, relation=Relation.ADD_REMOVE)
    rows = draw.integers(0, 2, (8000, 20))
    labels = rows[:, 0] & rows[:, 3] & (1 - rows[:, 7])
    lost = sum(
        not ({0, 3} <= set(found.ones) and 7 in found.zeros) for found in (learner((rows, labels)) for _ in range(300))
    )
    assert lost <= 60  # 15 expected at most; 60 of 300 at 5 % has chance below 1e-17


@pytest.mark.theorem("sample_sizes.accuracy")
def test_sizes_by_the_gap_are_enough():
    """Parities of three bits with all eight rows equally often: all wrong ones err on half of the rows."""
    rows = np.array(list(product((0, 1), repeat=3)))
    sizes = sample_sizes(math.log(8), alpha=0.1, beta=0.05, epsilon=1, relation=Relation.CHANGE_ONE, gap=0.5)
    people = np.tile(rows, (-(-sizes.gap // 8), 1))
    hypotheses = [lambda rows, mask=mask: rows @ [mask & 1, mask >> 1 & 1, mask >> 2] % 2 for mask in range(8)]
    law = FiniteClassLearner(hypotheses, epsilon=1, relation=Relation.CHANGE_ONE).law((people, people[:, 0]))
    assert law.pmf(1) >= 0.95
    assert sizes.gap < sizes.realizable < sizes.agnostic


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: FiniteClassLearner([], epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: FiniteClassLearner(lambda rows: [rows], epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: FiniteClassLearner([len, 3], epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (
            lambda: FiniteClassLearner(iter(()), epsilon=1, relation=RELATIONS[0])((np.zeros((2, 1)), np.zeros(2))),
            InputError,
        ),
        (lambda: FiniteClassLearner([len], epsilon=0, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: FiniteClassLearner([len], epsilon=1, relation=None), MissingParameter),
        (lambda: ParityLearner(0, epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: ParityLearner(-2, epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: ParityLearner(2, epsilon=1e-30, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: ParityLearner(3, epsilon=1, relation=None), MissingParameter),
        (lambda: StumpLearner(1, bounds=(3, 3), epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: StumpLearner(1, bounds=(0, 2**64), epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: StumpLearner(1, bounds=(0.5, 2), epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: ConjunctionLearner(3, epsilon=1, relation=Relation.ADD_REMOVE), MissingParameter),
        (lambda: sample_sizes(-1, alpha=0.1, beta=0.1, epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: sample_sizes(3, alpha=0, beta=0.1, epsilon=1, relation=Relation.ADD_REMOVE), ParameterError),
        (lambda: sample_sizes(3, alpha=0.1, beta=0.1, epsilon=1, relation=Relation.ADD_REMOVE, gap=2), ParameterError),
        (
            lambda: ParityLearner(2, epsilon=1, relation=Relation.ADD_REMOVE)((np.zeros((3, 4)), np.zeros(3))),
            InputError,
        ),
        (
            lambda: StumpLearner(1, bounds=(0, 9), epsilon=1, relation=Relation.ADD_REMOVE)((np.zeros(3), np.zeros(3))),
            InputError,
        ),
    ],
)
def test_what_cannot_be_used_is_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.theorem("FiniteClassLearner.privacy")
@pytest.mark.parametrize("odd", [2**63, 0.5, None, [1], "x"])
def test_one_cell_of_a_list_does_not_change_the_labels_of_other_rows(odd):
    def large(rows):
        return np.array([isinstance(cell, int) and cell * 6364136223846793005 > 0 for cell in rows[:, 0]])

    learner = FiniteClassLearner([large, lambda rows: ~large(rows)], epsilon=1, relation=Relation.CHANGE_ONE)
    rows, labels = [[1]] * 30, [True] * 30
    loss = learner.law((rows, labels)).pair(learner.law(([[odd], *rows[1:]], labels))).max_loss()
    assert loss.upper <= 1 + 1e-9


class _Hostile:
    def __array__(self, *_, **__):
        raise RuntimeError("Helen has 7")


@pytest.mark.theorem("FiniteClassLearner.privacy")
@pytest.mark.parametrize("odd", [_Hostile(), None, 1j, [1], "x", math.nan])
def test_a_row_about_which_a_hypothesis_fails_is_one_error_and_no_refusal(odd):
    def above(rows):
        return rows[:, 0] > 1  # raises an error, or warns, for a cell that cannot be compared

    learner = FiniteClassLearner([above, lambda rows: ~above(rows)], epsilon=1, relation=Relation.ADD_REMOVE)
    rows, labels = [[place % 3] for place in range(30)], [place % 3 > 1 for place in range(30)]
    for place in (0, 17, 30):
        fuller = ([*rows[:place], [odd], *rows[place:]], [*labels[:place], True, *labels[place:]])
        with np.errstate(all="raise"):
            loss = learner.law((rows, labels)).pair(learner.law(fuller)).max_loss()
        assert loss.upper <= 1 + 1e-9


@pytest.mark.theorem("FiniteClassLearner.privacy")
def test_one_label_that_a_hypothesis_gives_in_a_list_changes_no_other():
    named = {0: 0, 1: 1, 2: "two"}
    rows, labels = np.array([[0], [1], [2], [1]]), np.array([0, 1, 1, 1])
    hypothesis = [lambda rows: [named[int(cell)] for cell in rows[:, 0]], lambda rows: rows[:, 0]]
    learner = FiniteClassLearner(hypothesis, epsilon=1, relation=Relation.ADD_REMOVE)
    half = learner.law((rows, labels)).pmf(0)
    assert half == 0.5  # both are wrong about the third row alone


@pytest.mark.parametrize("broken", [lambda _: True, lambda rows: rows[:, 7], lambda rows: rows, _Hostile])
def test_whether_a_function_is_a_hypothesis_does_not_follow_from_the_rows(broken):
    learner = FiniteClassLearner([broken, broken], epsilon=1, relation=Relation.ADD_REMOVE)
    for rows in ([[1, 2]], [["x", None]] * 3):
        with pytest.raises(ParameterError, match="row of zeros") as caught:
            learner((rows, [0] * len(rows)))
        assert caught.value.__context__ is None


def test_a_hypothesis_cannot_change_the_rows():
    def writing(rows):
        rows[:, 0] = 9
        return rows[:, 1]

    rows = np.array([[0, 1], [1, 0]])
    with pytest.raises(ParameterError):
        FiniteClassLearner([writing], epsilon=1, relation=Relation.ADD_REMOVE)((rows, rows[:, 0]))
    assert rows.tolist() == [[0, 1], [1, 0]]
    assert rows.flags.writeable


LEARNERS = [
    FiniteClassLearner([lambda rows: rows[:, 0], lambda rows: rows[:, 1]], epsilon=1, relation=Relation.ADD_REMOVE),
    StumpLearner(2, bounds=(0, 3), epsilon=1, relation=Relation.ADD_REMOVE),
    ParityLearner(2, epsilon=1, relation=Relation.ADD_REMOVE),
    ConjunctionLearner(2, mu=1, relation=Relation.ADD_REMOVE),
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_nobody_and_one_person_are_learned_from_alike(learner):
    for rows, labels in (([], []), (np.empty((0, 2)), []), ([[0, 1]], [1]), ([[0, 1]], (1,))):
        learner((rows, labels))


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_odd_label_in_a_list_is_no_refusal(learner):
    for odd in ([1], "x", _Hostile(), None, 2**2000):
        learner(([[0, 1], [1, 0]], [1, odd]))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("given", [5, (1, 2, 3), (_Hostile(), [1]), ([[0, 1], [1]], [0, 1]), ([[0, 1]], [[1]])])
def test_what_is_no_table_is_refused_without_what_numpy_says(learner, given):
    with pytest.raises(InputError) as caught:
        learner(given)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.theorem("StumpLearner.privacy")
@pytest.mark.parametrize("kind", [list, tuple, deque])
def test_an_odd_label_of_a_sequence_leaves_all_others_as_they_are(kind):
    learner = StumpLearner(1, bounds=(0, 9), epsilon=1, relation=Relation.ADD_REMOVE)
    rows, labels = [[place % 10] for place in range(20)], [int(place % 10 > 4) for place in range(20)]
    without = learner.law((rows[1:], kind(labels[1:])))
    assert learner.law((rows, kind(["yes", *labels[1:]]))).pmf(5) == without.pmf(5)


def test_a_masked_cell_is_no_number():
    rows = np.ma.array([[1], [5]], mask=[[0], [1]])
    learner = StumpLearner(1, bounds=(0, 9), epsilon=1, relation=Relation.ADD_REMOVE)
    assert learner.law((rows, [0, 1])).pmf(9) == learner.law(([[1], [None]], [0, 1])).pmf(9)
    assert learner.law((rows, [0, 1])).pmf(9) != learner.law(([[1], [5]], [0, 1])).pmf(9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [1e308, Fraction(10) ** 400])
def test_the_largest_prices_are_used_without_a_warning(relation, epsilon):
    rows = np.array(list(product((0, 1), repeat=2)) * 8)
    parity = ParityLearner(2, epsilon=epsilon, relation=relation)
    assert 1 - parity.kept <= Fraction(1, 1 << 63)
    assert parity.nothing <= Fraction(1, 1 << 63)
    assert parity((rows, rows.sum(axis=1) % 2)).places == (0, 1)  # but for 2^-57
    stump = StumpLearner(2, bounds=(0, 3), epsilon=epsilon, relation=relation)
    assert stump((rows, rows[:, 1])) == Stump(1, 1, above=True)


@pytest.mark.parametrize(
    "changed",
    [
        *({name: Fraction(1, 10**400)} for name in ("alpha", "beta", "gap", "epsilon")),
        *({name: 5e-324} for name in ("alpha", "beta", "gap", "epsilon")),
        *({"log_size": size} for size in (1e308, Fraction(10) ** 400, "4.6", None, [], 1j, math.nan)),
        {"epsilon": "1"},
    ],
)
def test_sizes_that_no_float_can_be_computed_for_are_refused(changed):
    usable = {"log_size": 4.6, "alpha": 0.1, "beta": 0.05, "gap": 0.5, "epsilon": 0.1}
    with pytest.raises(ParameterError) as caught:
        sample_sizes(**{**usable, **changed}, relation=Relation.ADD_REMOVE)
    assert caught.value.__context__ is None


def test_the_largest_price_takes_as_many_people_as_no_noise():
    usable = {"alpha": 0.1, "beta": 0.05, "gap": 0.5, "relation": Relation.ADD_REMOVE}
    assert sample_sizes(4.6, epsilon=Fraction(10) ** 400, **usable) == sample_sizes(4.6, epsilon=1000, **usable)


def test_threads_leave_the_filters_of_warnings_as_they_were():
    before, first, second = list(warnings.filters), threading.Event(), threading.Event()

    def entered_first():
        with unheard():
            first.set()
            second.wait(60)  # leaves while the other is inside

    def entered_second():
        first.wait(60)
        with unheard():
            second.set()
            one.join(60)

    one, two = threading.Thread(target=entered_first), threading.Thread(target=entered_second)
    one.start()
    two.start()
    two.join(60)
    assert list(warnings.filters) == before
