"""Every mechanism passes the kit that third parties use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import discreet as dp
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds

_COUNTS = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)

SUBJECTS = {
    "Laplace on integers": Subject(lambda: dp.Laplace(epsilon=0.5, sensitivity=1), [0, 41, -7]),
    "Laplace on a grid": Subject(lambda: dp.Laplace(epsilon=0.5, sensitivity=0.25), [0.0, 0.3, -1e6]),
    "Laplace on a coarse grid": Subject(lambda: dp.Laplace(epsilon=1, sensitivity=1.5, grid=0.5), [0.0, 0.25, 7.7]),
    "Laplace on an array": Subject(lambda: dp.Laplace(epsilon=1, sensitivity=_COUNTS), [np.array([1, 2, 3])]),
    "Gaussian on integers": Subject(lambda: dp.Gaussian(scale=3, sensitivity=2), [0, 41, -7]),
    "Gaussian by target": Subject(lambda: dp.Gaussian(epsilon=1, delta=1e-5, sensitivity=1), [5]),
    "Gaussian on a grid": Subject(lambda: dp.Gaussian(scale=2.5, sensitivity=1.0), [0.0, 0.3]),
    "RandomizedResponse": Subject(lambda: dp.RandomizedResponse(epsilon=1, categories=2), [0, 1]),
    "RandomizedResponse by truth": Subject(lambda: dp.RandomizedResponse(truth=0.75, categories=2), [0, 1]),
    "RandomizedResponse of five": Subject(lambda: dp.RandomizedResponse(epsilon=1, categories=5), [0, 4]),
    "Exponential": Subject(lambda: dp.Exponential(epsilon=1, sensitivity=1), [[0, 1, 2], [0.5, -3.25]], draws=2000),
    "Exponential, monotone": Subject(
        lambda: dp.Exponential(epsilon=1, sensitivity=2, monotone=True), [[0, 1, 2]], draws=2000
    ),
    "NoisyMax": Subject(lambda: dp.NoisyMax(epsilon=1, sensitivity=1), [[0, 1, 2], [5, 5]]),
    "NoisyMax on a grid": Subject(lambda: dp.NoisyMax(epsilon=1, sensitivity=0.5, grid=0.25), [[0.0, 0.3, 2.0]]),
    "AboveThreshold": Subject(
        lambda: dp.AboveThreshold(threshold=3, epsilon=1, sensitivity=1), [[0, 4, 3], [9, 9]], draws=2000
    ),
    "AboveThreshold, two hits": Subject(
        lambda: dp.AboveThreshold(threshold=3, epsilon=2, sensitivity=1, hits=2), [[0, 4, 3, 3]], draws=2000
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_mechanism_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    check(replace(subject, draws=rounds(sample=subject.draws, full=20 * subject.draws)))
