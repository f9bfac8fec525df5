"""Of six published sparse-vector algorithms the auditor passes the two right ones and refutes the other four."""

from __future__ import annotations

import math

import pytest

from discreet.audit import Outcome, audit
from discreet.testing.museum import sparse_vectors
from discreet.testing.museum.sparse_vector.verdicts import SparseVector, SparseVectorMisscaled, SparseVectorRedrawn

EPSILON = 0.1
VARIANTS = dict(enumerate(sparse_vectors(), start=1))


@pytest.mark.parametrize("exhibit", [VARIANTS[1], VARIANTS[2]], ids=["1", "2"])
def test_the_right_variants_reach_their_claim_and_keep_it_on_every_searched_input(exhibit: SparseVector) -> None:
    verdict = audit(exhibit, search=1)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == pytest.approx(EPSILON, abs=5e-5)
    assert verdict.high is not None
    assert verdict.high <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("variant", [SparseVector, SparseVectorRedrawn])
def test_the_right_variants_keep_their_claim_for_two_hits_too(variant: type[SparseVector]) -> None:
    verdict = audit(variant(hits=2), search=0)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.high is not None
    assert verdict.high <= EPSILON


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_the_wrong_variants_are_refuted_with_a_witness(number: int) -> None:
    verdict = audit(VARIANTS[number], search=0)
    assert verdict.refuted
    assert verdict.low > EPSILON * 1.2
    assert verdict.witness is not None
    assert verdict.witness.event


@pytest.mark.parametrize(("hits", "loss"), [(1, 0.175), (2, 0.325)])
def test_the_fourth_variant_loses_a_quarter_and_six_quarters_for_each_hit(hits: int, loss: float) -> None:
    # (1 + 6 c) / 4 times epsilon at c hits, by its published analysis
    verdict = audit(SparseVectorMisscaled(hits=hits), search=1)
    assert verdict.low == pytest.approx(loss, abs=5e-5)
    assert verdict.high is not None
    assert verdict.high <= loss * (1 + 1e-8)


def test_without_query_noise_the_loss_is_infinite() -> None:
    assert audit(VARIANTS[5], search=0).low == math.inf
