"""Soundness: on random compositions whose truth is known to many digits, every interval contains it."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest

from discreet import privacy
from discreet.privacy import Relation
from tests.privacy.accounting.cases import FAMILIES, log_uniform, mixtures, responses, tables
from tests.privacy.accounting.finite import curve_of, table
from tests.privacy.accounting.references import ball, precise

BEYOND_ALL_LOSSES = 10**5
DIRECTIONS = ("remove", "add", "both")


def worse(first, second):
    """Return the curve of two directions together."""
    return precise(lambda epsilon: first(epsilon).max(second(epsilon)))


def views(case):
    """Return each way to look at a case: what the library says and the true curve."""
    return {
        "remove": (case.loss.remove, case.remove),
        "add": (case.loss.add, case.add),
        "both": (case.loss, worse(case.remove, case.add)),
    }


def assert_sane(found, largest):
    """Check the shape of an interval: ordered, not negative, never NaN."""
    assert 0 <= found.lower <= found.estimate <= found.upper <= largest


def assert_epsilon_contained(found, curve, delta):
    """Check that the least epsilon of a decreasing curve lies in an interval, by looking at the curve at its ends."""
    target, reachable = ball(delta), curve(BEYOND_ALL_LOSSES) < ball(delta)
    if found.lower > 0:
        assert not curve(min(found.lower, BEYOND_ALL_LOSSES)) < target, "lower end above the truth"
    if math.isfinite(found.upper):
        assert not curve(found.upper) > target, "upper end below the truth"
    assert math.isfinite(found.upper) or not reachable, "a finite truth needs a finite upper end"


def assert_delta_contained(found, curve, epsilon):
    """Check that an interval contains a delta known to many digits."""
    truth = curve(epsilon)
    assert truth.rel_accuracy_bits() > 150 or truth < 1e-80, "the reference itself is too wide to judge"
    assert not truth < ball(found.lower), "lower end above the truth"
    assert not truth > ball(found.upper), "upper end below the truth"


def check(family, number):
    """Draw one case and compare both questions with its truth."""
    random = Random(f"{family.__name__} {number}")  # noqa: S311 - made-up cases
    case = family(random)
    direction, delta = random.choice(DIRECTIONS), log_uniform(random, 1e-30, 1e-2)
    loss, curve = views(case)[direction]
    try:
        found = loss.epsilon(delta)
        assert_sane(found, math.inf)
        assert_epsilon_contained(found, curve, delta)
        near = found.estimate if math.isfinite(found.estimate) else 1.0
        epsilon = near * random.uniform(0.5, 1.25)
        asked = loss.delta(epsilon)
        assert_sane(asked, 1)
        assert_delta_contained(asked, curve, epsilon)
    except Exception as problem:
        problem.add_note(f"{family.__name__} {number}, {direction}, delta {delta}: {case.words}")
        raise


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_interval_contains_the_truth(family, rounds):
    for number in range(rounds(sample=6, full=770)):
        check(family, number)


@pytest.mark.parametrize(("family", "number"), [(tables, 80), (mixtures, 38), (responses, 125)])
def test_lower_ends_are_rounded_down(family, number):
    check(family, number)


def test_a_sample_keeps_the_outcomes_that_the_person_excludes():
    # with the person in the sample the second outcome is impossible, without it is likely: mixing makes it possible
    p, q, rate, count = (Fraction(1), Fraction(0)), (Fraction(11, 26), Fraction(15, 26)), Fraction(1, 2), 11
    mixed = tuple((1 - rate) * b + rate * a for a, b in zip(p, q, strict=True))
    loss = privacy.subsample(privacy.table_loss(p, q, relation=Relation.ADD_REMOVE), rate=rate) * count
    for epsilon in (0.1, 1.0, 3.7):
        assert_delta_contained(loss.remove.delta(epsilon), curve_of(table(mixed, q, count)), epsilon)
        assert_delta_contained(loss.add.delta(epsilon), curve_of(table(q, mixed, count)), epsilon)
