"""Statistics of ranks pass the kit that mechanisms pass: law, price, wire format, copies, forks, threads."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet as dp
from discreet.statistics.order_statistics.clipping import ClippingBounds
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.one_quantile import Quantile
from discreet.statistics.order_statistics.several_quantiles import Quantiles
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE

SUBJECTS = {
    "Quantile": Subject(
        lambda: Quantile(level=0.5, bounds=(0, 4), grid=1, relation=ADD_REMOVE, epsilon=1), [[1, 2, None], []], search=0
    ),
    "Quantile, change-one": Subject(
        lambda: Quantile(level=0.9, bounds=(0, 1), grid=0.25, relation=CHANGE_ONE, rho=0.5), [[0.5, 0.25]], search=0
    ),
    "JointQuantiles": Subject(
        lambda: JointQuantiles(levels=(0.4, 0.6), relation=ADD_REMOVE, epsilon=6, steps=2, tie_bits=0),
        [[1, 2]],
        search=0,
    ),
    "Quantiles, a tree": Subject(
        lambda: Quantiles(
            levels=(0.25, 0.5, 0.75), bounds=(0, 2), grid=1, relation=CHANGE_ONE, rho=0.5, tie_bits=0, missing=0
        ),
        [[1, 2, 0]],
        search=0,
    ),
    "ClippingBounds": Subject(
        lambda: ClippingBounds(
            level=0.5, relation=ADD_REMOVE, epsilon=4, smallest=1, largest=2, per_doubling=1, symmetric=True
        ),
        [[1.0, 3.0]],
        search=0,
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_statistic_of_ranks_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    check(replace(subject, draws=rounds(sample=500, full=20_000), forks=rounds(sample=1, full=subject.forks)))
