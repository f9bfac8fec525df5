"""Every statistic passes the kit that mechanisms pass: law, price, wire format, copies, forks, threads."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet as dp
from discreet import statistics
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds
from tests.forms import runs_for_forms

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
POPULATION = dp.Target.POPULATION

SUBJECTS = {
    "Count": Subject(lambda: statistics.Count(relation=ADD_REMOVE, epsilon=0.5), [[1, 2, 3], []]),
    "Count of a condition": Subject(
        lambda: statistics.Count(relation=CHANGE_ONE, epsilon=1, filtered=True), [[True, False], [None, True]]
    ),
    "Count, Gaussian": Subject(lambda: statistics.Count(relation=ADD_REMOVE, rho=0.5), [[1, 2, 3]]),
    "Sum": Subject(
        lambda: statistics.Sum(bounds=(0, 10), relation=ADD_REMOVE, epsilon=1), [[1.5, None, 7.25], [float("inf")]]
    ),
    "Sum of whole numbers": Subject(
        lambda: statistics.Sum(bounds=(-2, 3), grid=1, relation=CHANGE_ONE, epsilon=1), [[1, 2, -7]]
    ),
    "Sum, calibrated": Subject(
        lambda: statistics.Sum(bounds=(0, 1), grid=0.25, relation=CHANGE_ONE, epsilon=1, delta=1e-5, missing=0),
        [[0.5, 0.25]],
    ),
    "Mean": Subject(lambda: statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1), [[0.5, 0.25], []]),
    "Mean, change-one": Subject(
        lambda: statistics.Mean(bounds=(0, 1), grid=0.5, relation=CHANGE_ONE, epsilon=1), [[0.5, None]]
    ),
    "Mean of a known number": Subject(
        lambda: statistics.Mean(bounds=(0, 1), relation=CHANGE_ONE, epsilon=1, missing=0.5), [[0.5, None]]
    ),
    # the approximate interval is found at once, and what is released is of the same kind
    "Mean of a population": Subject(
        lambda: statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, target=POPULATION, approximate=True),
        [[0.5, 0.25], []],
    ),
    "Mean of a population, Gaussian": Subject(
        lambda: statistics.Mean(
            bounds=(0, 1), relation=CHANGE_ONE, rho=0.5, missing=0, target=POPULATION, approximate=True
        ),
        [[0.5, None]],
    ),
    "Mean, Gaussian": Subject(
        lambda: statistics.Mean(bounds=(0, 1), grid=0.25, relation=ADD_REMOVE, rho=0.5), [[0.5, 0.25]]
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_statistic_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    draws = rounds(sample=1000, full=10 * subject.draws)
    wire, forks = rounds(sample=runs_for_forms(subject), full=subject.wire), rounds(sample=1, full=subject.forks)
    check(replace(subject, draws=draws, wire=wire, forks=forks))
