"""Handwritten queries about some attributes only, whichever method answers them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.privacy import Relation
from discreet.synthesis import (
    Best,
    Domain,
    DualQuery,
    Independent,
    Mwem,
    Neighbors,
    NoisyAnswers,
    Records,
    Tree,
    queries,
)


@pytest.mark.parametrize("make", [Independent.of, Tree.of, NoisyAnswers.of, Mwem.of, DualQuery.of, Best.of])
def test_queries_that_leave_out_the_widest_attribute_are_answered(make):
    domain = Domain.of(wide=range(30), a=[0, 1], b=[0, 1])
    records = Records(domain, np.zeros((3, 500), dtype=np.uint16))
    asked = queries(domain, [{"a": 0, "b": 0}, {"b": 1}])
    release = make(asked, Neighbors(Relation.CHANGE_ONE, 500), rho=2)(records)
    assert np.abs(release.answers - [1, 0]).max() < 0.2
