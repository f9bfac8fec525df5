"""Of six published sparse-vector algorithms the auditor passes the two right ones and refutes the other four."""

from __future__ import annotations

import pytest

from discreet.audit import Outcome, audit
from discreet.privacy import PureDP
from tests.audit.sparse_vector_variants import variants

EPSILON = 0.1


@pytest.mark.parametrize("number", [1, 2])
def test_the_right_variants_keep_their_claim_on_every_searched_input(number: int) -> None:
    verdict = audit(variants(EPSILON)[number], PureDP(EPSILON))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.high <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_the_wrong_variants_are_refuted_with_a_witness(number: int) -> None:
    verdict = audit(variants(EPSILON)[number], PureDP(EPSILON))
    assert verdict.refuted
    assert verdict.low > EPSILON * 1.2
    assert verdict.witness is not None
    assert verdict.witness.event


def test_the_fourth_variant_loses_seven_quarters_of_its_claim() -> None:
    # (1 + 6 c) / 4 times epsilon at one hit, by its published analysis
    verdict = audit(variants(EPSILON)[4], PureDP(EPSILON))
    assert verdict.low == pytest.approx(1.75 * EPSILON, rel=2e-2)
    assert verdict.high <= 1.75 * EPSILON * (1 + 1e-8)


def test_without_query_noise_the_loss_is_infinite() -> None:
    verdict = audit(variants(EPSILON)[5], PureDP(EPSILON))
    assert verdict.low > 20  # the smallest probability the sums resolve; the truth is infinite
