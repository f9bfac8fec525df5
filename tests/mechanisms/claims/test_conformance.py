"""Every mechanism passes the kit that third parties use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import discreet as dp
from discreet import mechanisms
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds
from tests.forms import runs_for_forms

_KEYS = {"a": 30, "b": 1, "c": 0}

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
    "PermuteAndFlip": Subject(
        lambda: mechanisms.PermuteAndFlip(epsilon=1, sensitivity=1), [[0, 1, 2], [0.5, -3.25]], draws=1000
    ),
    "PermuteAndFlip, monotone": Subject(
        lambda: mechanisms.PermuteAndFlip(epsilon=1, sensitivity=2, monotone=True), [[0, 1, 2]], draws=1000
    ),
    "Top": Subject(lambda: mechanisms.Top(k=2, epsilon=1, sensitivity=1), [[0, 1, 2, 1], [0.5, -3.25]], draws=1000),
    "NoisyMax": Subject(lambda: dp.NoisyMax(epsilon=1, sensitivity=1), [[0, 1, 2], [5, 5]]),
    "NoisyMax on a grid": Subject(lambda: dp.NoisyMax(epsilon=1, sensitivity=0.5, grid=0.25), [[0.0, 0.3, 2.0]]),
    "NoisyMax with the gap": Subject(
        lambda: dp.NoisyMax(epsilon=1, sensitivity=1, gap=True), [[0, 1, 2], [5, 5]], draws=2000, search=0
    ),
    "NoisyMax with the gap, on a grid": Subject(
        lambda: dp.NoisyMax(epsilon=1, sensitivity=0.5, grid=0.25, monotone=True, gap=True),
        [[0.0, 0.3, 2.0]],
        draws=2000,
        search=0,
    ),
    "AboveThreshold": Subject(
        lambda: dp.AboveThreshold(threshold=3, epsilon=1, sensitivity=1), [[0, 4, 3], [9, 9]], draws=2000
    ),
    "AboveThreshold, two hits": Subject(
        lambda: dp.AboveThreshold(threshold=3, epsilon=2, sensitivity=1, hits=2), [[0, 4, 3, 3]], draws=2000
    ),
    "AboveThreshold with gaps": Subject(
        lambda: dp.AboveThreshold(threshold=3, epsilon=1, sensitivity=1, gap=True),
        [[0, 4, 3], [9, 9]],
        draws=600,
        search=0,
    ),
    "TruncatedGeometric": Subject(
        lambda: mechanisms.TruncatedGeometric(epsilon=1, delta=1e-3, sensitivity=1), [0, 41, -7]
    ),
    "TruncatedGeometric, shifts by three": Subject(
        lambda: mechanisms.TruncatedGeometric(epsilon=1, delta=1e-3, sensitivity=3), [0, 41]
    ),
    "TruncatedGeometric on an array": Subject(
        lambda: mechanisms.TruncatedGeometric(epsilon=1, delta=1e-3, sensitivity=_COUNTS), [np.array([1, 2, 3])]
    ),
    "ThresholdedHistogram": Subject(
        lambda: mechanisms.ThresholdedHistogram(epsilon=1, delta=5e-3, keys=1, relation=dp.Relation.ADD_REMOVE),
        [_KEYS, {"a": 6, "d": 7, 3: 8}],
    ),
    "ThresholdedHistogram, two keys": Subject(
        lambda: mechanisms.ThresholdedHistogram(epsilon=2, delta=5e-3, keys=2, relation=dp.Relation.CHANGE_ONE),
        [_KEYS],
        draws=2000,
    ),
    "ThresholdedHistogram, Gaussian": Subject(
        lambda: mechanisms.ThresholdedHistogram(
            epsilon=2, delta=5e-3, keys=2, relation=dp.Relation.ADD_REMOVE, noise=mechanisms.KeyNoise.GAUSSIAN
        ),
        [_KEYS],
        draws=2000,
    ),
    "ThresholdedHistogram, truncated": Subject(
        lambda: mechanisms.ThresholdedHistogram(
            epsilon=1,
            delta=5e-3,
            keys=1,
            relation=dp.Relation.CHANGE_ONE,
            noise=mechanisms.KeyNoise.TRUNCATED_GEOMETRIC,
        ),
        [_KEYS],
        draws=2000,
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_mechanism_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    draws = rounds(sample=min(subject.draws, 2000), full=20 * subject.draws)
    wire, forks = rounds(sample=runs_for_forms(subject), full=subject.wire), rounds(sample=1, full=subject.forks)
    check(replace(subject, draws=draws, wire=wire, forks=forks))
