"""The audits: exact ones are two-sided and certain, wire audits see what the form of an output gives away."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, Outcome, audit, goodness_of_fit
from discreet.audit.wire import reachable
from discreet.errors import MissingParameter, ParameterError


def naive_laplace(value: float) -> float:
    """The textbook float sampler, with its holes: scale 10, claimed 0.1-DP for sensitivity 1."""
    uniform = (secrets.randbits(53) + 1) * 2.0**-53
    sign = 1.0 if secrets.randbits(1) else -1.0
    return value + sign * 10.0 * math.log(uniform)


@pytest.mark.theorem("Laplace.privacy")
def test_laplace_loses_exactly_its_claim() -> None:
    verdict = audit(dp.Laplace(epsilon=0.1, sensitivity=1))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == pytest.approx(0.1, abs=1e-12)


@pytest.mark.theorem("RandomizedResponse.privacy")
@pytest.mark.parametrize("categories", [2, 3, 10])
def test_randomized_response_loses_exactly_its_claim(categories: int) -> None:
    verdict = audit(dp.RandomizedResponse(epsilon=0.1, categories=categories))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == pytest.approx(0.1, abs=1e-9)


@pytest.mark.theorem("AboveThreshold.privacy")
@pytest.mark.parametrize("split", list(dp.Split))
@pytest.mark.parametrize("monotone", [False, True])
def test_above_threshold_loses_its_claim_to_four_digits_and_never_more(split: dp.Split, monotone: bool) -> None:
    stream = dp.AboveThreshold(threshold=0, epsilon=0.1, sensitivity=1, split=split, monotone=monotone)
    verdict = audit(stream, search=1)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low <= 0.1
    if not monotone:
        assert f"{verdict.low:.4f}" == "0.1000"


@pytest.mark.theorem("AboveThreshold.privacy")
def test_above_threshold_with_several_hits_keeps_its_claim() -> None:
    verdict = audit(dp.AboveThreshold(threshold=0, epsilon=0.5, sensitivity=2, hits=2), search=1)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low > 0.3


@pytest.mark.theorem("NoisyMax.privacy")
@pytest.mark.parametrize("monotone", [False, True])
def test_noisy_max_keeps_its_claim_and_comes_close(monotone: bool) -> None:
    verdict = audit(dp.NoisyMax(epsilon=0.1, sensitivity=1, monotone=monotone), search=1)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low > 0.0999


def test_noisy_max_with_half_the_noise_is_refuted() -> None:
    careless = dp.NoisyMax(epsilon=0.2, sensitivity=1)
    assert audit(careless, dp.PureDP(0.1)).refuted


def test_monotone_noise_is_not_enough_for_scores_that_move_both_ways() -> None:
    half_noise = dp.NoisyMax(epsilon=0.1, sensitivity=1, monotone=True)
    both_ways = dp.NoisyMax(epsilon=0.2, sensitivity=1)  # the same noise, neighbours that move both ways
    assert half_noise.noise == both_ways.noise
    assert audit(half_noise, dp.PureDP(0.1), neighbours=list(both_ways.neighbours())).refuted


@pytest.mark.theorem("Exponential.privacy")
@pytest.mark.parametrize("monotone", [False, True])
def test_exponential_keeps_its_claim_and_comes_close(monotone: bool) -> None:
    verdict = audit(dp.Exponential(epsilon=0.1, sensitivity=3, monotone=monotone))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low > 0.0999


@pytest.mark.theorem("Gaussian.privacy")
@pytest.mark.parametrize("sensitivity", [1, 3, 0.7])
def test_gaussian_meets_its_target_and_wastes_nothing(sensitivity: float) -> None:
    mechanism = dp.Gaussian(epsilon=0.5, delta=1e-6, sensitivity=sensitivity)
    verdict = audit(mechanism)
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low > 0.5 * (1 - 1e-4)


@pytest.mark.theorem("Gaussian.privacy")
@pytest.mark.parametrize("scale", [0.5, 1, 3])
def test_the_zcdp_of_discrete_gaussian_noise_holds_over_the_whole_curve(scale: float) -> None:
    verdict = audit(dp.Gaussian(scale=scale, sensitivity=1))
    assert verdict.outcome is Outcome.KEPT
    assert isinstance(verdict.claim, dp.ZCDP)


def test_a_claim_below_the_truth_is_refuted_for_good() -> None:
    verdict = audit(dp.Gaussian(scale=1, sensitivity=1), dp.ApproxDP(1.0, 1e-6))
    assert verdict.refuted
    assert verdict.high >= verdict.low > 1.0


def test_a_gaussian_has_no_pure_promise() -> None:
    assert audit(dp.Gaussian(scale=1, sensitivity=1), dp.PureDP(50)).refuted


def test_wire_audit_passes_our_float_noise() -> None:
    for mechanism in (dp.Laplace(scale=10.0, sensitivity=1.0), dp.Gaussian(scale=10.0, sensitivity=1.0)):
        verdict = audit(mechanism, level=Level.WIRE, draws=3000)
        assert verdict.outcome is Outcome.KEPT, str(verdict)


def test_wire_audit_catches_naive_float_noise() -> None:
    verdict = audit(naive_laplace, dp.PureDP(0.1), neighbours=[(0.0, 1.0)], level=Level.WIRE, draws=20_000)
    assert verdict.refuted
    assert verdict.low > 2.0
    assert "multiple" in verdict.witness.event


def test_reachability_tells_naive_noise_from_its_neighbour() -> None:
    outputs = np.array([naive_laplace(0.0) for _ in range(2000)])
    assert reachable(outputs, 0.0, 10.0).mean() > reachable(outputs, 1.0, 10.0).mean() + 0.3


@pytest.mark.parametrize(
    ("broken", "finding"),
    [
        (lambda _: float("nan"), "NaN"),
        (lambda _: -0.0, "minus zero"),
        (lambda x: 1 if x > 0 else 1.0, "type"),
        (lambda x: np.zeros(1 + int(x > 0)), "shape"),
        (lambda x: 1 / (x - 1.0), "same error"),
    ],
)
def test_wire_audit_names_forbidden_forms(broken: Any, finding: str) -> None:
    verdict = audit(broken, dp.PureDP(1), neighbours=[(0.0, 1.0)], level=Level.WIRE, draws=20)
    assert verdict.refuted
    assert any(finding in text for text in verdict.findings)


def test_an_audit_says_what_it_needs() -> None:
    with pytest.raises(MissingParameter, match="claim"):
        audit(naive_laplace)
    with pytest.raises(ParameterError, match="law"):
        audit(naive_laplace, dp.PureDP(1))
    with pytest.raises(MissingParameter, match="neighbour"):
        audit(naive_laplace, dp.PureDP(1), level=Level.WIRE)
    with pytest.raises(ParameterError, match="at least one pair"):
        audit(dp.Laplace(scale=1, sensitivity=1), neighbours=[])


def test_a_verdict_reads_well_in_text_and_in_a_notebook() -> None:
    verdict = audit(dp.Laplace(epsilon=0.1, sensitivity=1))
    assert "kept on everything" in str(verdict)
    assert "<" in verdict._repr_html_()


def test_the_g_test_sees_a_wrong_scale_and_an_impossible_outcome() -> None:
    law = dp.laws.DiscreteLaplace(5)
    assert not goodness_of_fit(law, law.sample(50_000)).alarm()
    assert goodness_of_fit(law, dp.laws.DiscreteLaplace(5.5).sample(50_000)).alarm()
    on_grid = dp.laws.OnGrid(law, dp.Laplace(scale=1.0, sensitivity=1.0).grid)
    assert goodness_of_fit(on_grid, np.array([0.3])).p_value == 0.0
