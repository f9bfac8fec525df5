"""No attacker beats the ceiling: the best one is computed from exact laws and compared."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import Flip, Weighing, ceiling, expected_fraction
from discreet.errors import ParameterError, RelationMismatch
from discreet.laws import DiscreteLaplace

ADD_REMOVE = dp.Relation.ADD_REMOVE


def mechanism(epsilon):
    return dp.Laplace(epsilon=epsilon, sensitivity=dp.Sensitivity(1, norm=dp.Norm.L1, relation=ADD_REMOVE))


def clamped_law(epsilon: float, count: int, most: int) -> np.ndarray:
    """Count plus discrete Laplace noise, clamped to [0, most]: outside, the likelihood ratios are those at the ends."""
    q = np.exp(-epsilon)
    places = np.arange(most + 1)
    law = (1 - q) / (1 + q) * q ** np.abs(places - count)
    law[0], law[-1] = q**count / (1 + q), q ** (most - count) / (1 + q)
    return law


def joint_laws(people: int, queries: int, epsilon: float) -> dict[tuple[int, ...], np.ndarray]:
    """For every secret column, the chances of all answers together."""
    design = Weighing(people=people, queries=queries)
    most = [max(int(question.counted.sum()), 1) for question in design.questions]
    laws = {}
    for secret in product((0, 1), repeat=people):
        law = np.ones(1)
        for question, top in zip(design.questions, most, strict=True):
            law = np.outer(law, clamped_law(epsilon, int(question.counts(secret)[0]), top)).ravel()
        laws[secret] = law
    return laws


def prior(secret: tuple[int, ...], frequency: float) -> float:
    return float(np.prod([frequency if bit else 1 - frequency for bit in secret]))


def best_fraction(laws: dict[tuple[int, ...], np.ndarray], frequency: float, *, knows_others: bool) -> float:
    """What the best attacker gets right on average, by Bayes' rule for every outcome."""
    people = len(next(iter(laws)))
    total = 0.0
    for person in range(people):
        groups: dict[tuple[int, ...], np.ndarray] = {}
        for secret, law in laws.items():
            others = secret[:person] + secret[person + 1 :] if knows_others else ()
            group = groups.setdefault(others, np.zeros((2, len(law))))
            group[secret[person]] += prior(secret, frequency) * law
        total += sum(float(group.max(axis=0).sum()) for group in groups.values())
    return total / people


@pytest.mark.theorem("ceiling.privacy")
@pytest.mark.parametrize(("people", "queries"), [(1, 1), (2, 3), (3, 3), (3, 7)])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("frequency", [0.5, 0.2, 0.7])
def test_the_best_attacker_never_exceeds_the_ceiling(people, queries, epsilon, frequency):
    laws = joint_laws(people, queries, epsilon)
    each = Weighing(people=people, queries=queries).each
    highest = ceiling(mechanism(epsilon).loss * each, flip=Flip.ONE_ROW, frequency=frequency)
    alone, knowing = (best_fraction(laws, frequency, knows_others=knows) for knows in (False, True))
    assert alone <= knowing + 1e-12
    assert knowing <= highest.upper + 1e-12
    # whoever knows all others attains it, so that no smaller number would be right
    assert knowing == pytest.approx(highest.upper, abs=1e-6)
    assert highest.lower <= knowing + 1e-12
    assert max(frequency, 1 - frequency) <= alone + 1e-12
    if frequency == 0.5 and people == queries:
        assert expected_fraction(DiscreteLaplace(1 / Fraction(epsilon)), queries=queries) <= alone + 1e-9


@pytest.mark.theorem("ceiling.privacy")
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_a_query_that_looks_at_both_values_is_two_steps_and_beats_the_ceiling_of_one(epsilon):
    # the sum of +1 for every 1 and -1 for every 0: a person added or removed moves it by 1, a flip by 2
    without, with_bit = clamped_law(epsilon, 0, 2), clamped_law(epsilon, 2, 2)
    best = float(np.maximum(without, with_bit).sum() / 2)
    loss = mechanism(epsilon).loss
    assert best <= ceiling(loss, flip=Flip.TWO_ROWS).upper + 1e-12
    assert best > ceiling(loss, flip=Flip.ONE_ROW).upper + 0.01


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_a_pure_guarantee_gives_the_odds_of_the_textbook(epsilon):
    odds = np.exp(epsilon)
    loss = dp.PureDP(epsilon, relation=ADD_REMOVE).loss
    assert ceiling(loss, flip=Flip.ONE_ROW).upper == pytest.approx(odds / (1 + odds))
    assert ceiling(loss, flip=Flip.TWO_ROWS).upper == pytest.approx(odds**2 / (1 + odds**2))


def test_the_balanced_ceiling_is_the_best_point_of_the_tradeoff_curve():
    loss = mechanism(0.3).loss * 5
    curve = loss.tradeoff()
    highest = ceiling(loss, flip=Flip.ONE_ROW)
    assert float((1 - (curve.alpha + curve.lower) / 2).max()) <= highest.upper + 1e-9
    assert highest.upper == pytest.approx(float((1 - (curve.alpha + curve.lower) / 2).max()), abs=2e-3)


def test_change_one_counts_a_flip_as_one_step():
    loss = dp.PureDP(1, relation=dp.Relation.CHANGE_ONE).loss
    assert ceiling(loss, flip=Flip.ONE_ROW) == ceiling(loss, flip=Flip.TWO_ROWS)


def test_two_steps_need_a_stated_relation():
    with pytest.raises(RelationMismatch, match="ADD_REMOVE"):
        ceiling(dp.PureDP(1).loss, flip=Flip.TWO_ROWS)


@pytest.mark.parametrize("frequency", [0, 1])
def test_a_bit_that_everybody_knows_is_always_guessed(frequency):
    assert ceiling(mechanism(0.1).loss, flip=Flip.ONE_ROW, frequency=frequency).upper == 1.0


@pytest.mark.parametrize("frequency", [Fraction(1, 3), 0.01, 0.49])
def test_which_value_is_the_rarer_one_does_not_matter(frequency):
    loss = mechanism(0.5).loss * 3
    one, two = (ceiling(loss, flip=Flip.ONE_ROW, frequency=p) for p in (Fraction(frequency), 1 - Fraction(frequency)))
    assert one == two


def test_a_rare_bit_is_best_guessed_without_looking():
    highest = ceiling(mechanism(0.5).loss, flip=Flip.ONE_ROW, frequency=0.05)
    assert highest.upper == pytest.approx(0.95, abs=1e-12)


@pytest.mark.parametrize(
    ("changed", "named"), [({"flip": "one"}, "flip"), ({"frequency": 1.5}, "frequency"), ({"loss": 1.0}, "loss")]
)
def test_what_cannot_be_used_is_refused_by_name(changed, named):
    given = {"loss": mechanism(1).loss, "flip": Flip.ONE_ROW} | changed
    with pytest.raises(ParameterError, match=named):
        ceiling(given.pop("loss"), **given)


def test_both_flips_print_as_they_are_written():
    assert [repr(flip) for flip in Flip] == ["Flip.ONE_ROW", "Flip.TWO_ROWS"]
