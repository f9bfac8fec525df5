"""The audits: exact ones are two-sided and certain, wire audits see what the form of an output gives away."""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import pickle
import secrets
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, Outcome, audit, goodness_of_fit
from discreet.audit.wire import reachable
from discreet.errors import MissingParameter, ParameterError
from tests.chances import ALARM, most
from tests.conftest import Rounds


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
    both_ways = dp.NoisyMax(epsilon=0.2, sensitivity=1)  # the same noise, neighbors that move both ways
    assert half_noise.noise == both_ways.noise
    assert audit(half_noise, dp.PureDP(0.1), neighbors=list(both_ways.neighbors())).refuted


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
    assert isinstance(verdict.guarantee, dp.ZCDP)


def test_a_claim_below_the_truth_is_refuted_for_good() -> None:
    verdict = audit(dp.Gaussian(scale=1, sensitivity=1), dp.ApproxDP(1.0, 1e-6))
    assert verdict.refuted
    assert verdict.high >= verdict.low > 1.0


def test_a_gaussian_has_no_pure_guarantee() -> None:
    assert audit(dp.Gaussian(scale=1, sensitivity=1), dp.PureDP(50)).refuted


def test_wire_audit_passes_our_float_noise() -> None:
    for mechanism in (dp.Laplace(scale=10.0, sensitivity=1.0), dp.Gaussian(scale=10.0, sensitivity=1.0)):
        verdict = audit(mechanism, level=Level.WIRE, draws=3000)
        assert verdict.outcome is Outcome.KEPT, str(verdict)


def test_wire_audit_catches_naive_float_noise() -> None:
    verdict = audit(naive_laplace, dp.PureDP(0.1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=20_000)
    assert verdict.refuted
    assert verdict.low > 1.5
    assert "multiple" in verdict.witness.event


def test_reachability_tells_naive_noise_from_its_neighbor() -> None:
    outputs = np.array([naive_laplace(0.0) for _ in range(2000)])
    assert reachable(outputs, 0.0, 10.0).mean() > reachable(outputs, 1.0, 10.0).mean() + 0.3


@pytest.mark.parametrize(
    ("broken", "finding"),
    [
        (lambda _: float("nan"), "NaN"),
        (lambda _: float("inf"), "infinite"),
        (lambda _: -0.0, "minus zero"),
    ],
)
def test_wire_audit_names_forbidden_forms(broken: Any, finding: str) -> None:
    verdict = audit(broken, dp.PureDP(1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=20)
    assert verdict.refuted
    assert any(finding in text for text in verdict.findings)


@pytest.mark.parametrize(
    "telling",
    [
        lambda x: 1 if x > 0 else 1.0,
        lambda x: np.zeros(1 + int(x > 0)),
        lambda x: "a" * (1 + int(x > 0)),
        lambda x: {"a": 1} if x > 0 else {"b": 1},
        lambda x: (1,) if x > 0 else (1.0,),
        lambda x: 1 / (x - 1.0) and 1,
        lambda x: 1 if secrets.randbelow(10) < (9 if x > 0 else 1) else 1 / 0,
    ],
)
def test_wire_audit_sees_type_shape_length_key_and_error_channels(telling: Any) -> None:
    verdict = audit(telling, dp.PureDP(0.5), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=1000)
    assert verdict.refuted
    assert verdict.low > 0.5
    assert "form" in verdict.witness.event


@pytest.mark.parametrize("epsilon", [1, 10])
def test_wire_audit_does_not_convict_outputs_of_random_length(epsilon: float, rounds: Rounds) -> None:
    stream = dp.AboveThreshold(threshold=3, epsilon=epsilon, sensitivity=1)
    for _ in range(rounds(sample=1, full=3)):
        assert not audit(stream, level=Level.WIRE, draws=300).refuted


def test_a_mechanism_that_only_fails_is_not_cleared() -> None:
    verdict = audit(lambda _: 1 / 0, dp.PureDP(1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=20)
    assert verdict.outcome is Outcome.OPEN


def test_both_directions_of_a_pair_are_examined() -> None:
    class OneSided:
        def law(self, value: int) -> dp.laws.Finite:
            sure = Fraction(1) if value else Fraction(99, 100)
            return dp.laws.Finite([0, 1], [sure, 1 - sure])

        def neighbors(self) -> list[tuple[int, int]]:
            return [(1, 0)]

    assert audit(OneSided(), dp.PureDP(0.1)).refuted


@pytest.mark.parametrize("guarantee", [dp.ZCDP(0.0045), dp.RenyiDP(2, 0.003), dp.GaussianDP(0.05)])
def test_a_false_claim_about_a_whole_curve_is_never_certified(guarantee: dp.Guarantee) -> None:
    assert audit(dp.Gaussian(scale=10, sensitivity=1), guarantee).outcome is not Outcome.KEPT


def test_rare_disclosures_are_not_certified_away() -> None:
    class Rarely:
        def law(self, value: int) -> dp.laws.Finite:
            rare = Fraction(1, 10**10)
            return dp.laws.Finite(["nothing", f"it was {value}"], [1 - rare, rare])

        def neighbors(self) -> list[tuple[int, int]]:
            return [(0, 1)]

    for guarantee in (dp.ZCDP(0.001), dp.GaussianDP(0.01), dp.RenyiDP(2, 0.01)):
        assert audit(Rarely(), guarantee).outcome is not Outcome.KEPT
    assert audit(Rarely(), dp.ApproxDP(0, 1e-9)).outcome is Outcome.KEPT


def test_a_claim_for_another_relation_is_refused() -> None:
    with pytest.raises(dp.errors.RelationMismatch):
        audit(dp.RandomizedResponse(epsilon=1, categories=2), dp.PureDP(1, relation=dp.Relation.ADD_REMOVE))


def test_arrays_are_audited_as_arrays() -> None:
    stated = dp.Sensitivity(2, norm=dp.Norm.L1, relation=dp.Relation.CHANGE_ONE)
    assert audit(dp.Laplace(epsilon=0.5, sensitivity=stated)).outcome is Outcome.KEPT
    real = dp.Sensitivity(1.5, norm=dp.Norm.L1, relation=dp.Relation.CHANGE_ONE)
    verdict = audit(dp.Laplace(epsilon=0.5, sensitivity=real, length=3))
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low > 0.4999


def test_an_audit_says_what_it_needs() -> None:
    with pytest.raises(MissingParameter, match="guarantee"):
        audit(naive_laplace)
    with pytest.raises(ParameterError, match="law"):
        audit(naive_laplace, dp.PureDP(1))
    with pytest.raises(MissingParameter, match="neighbor"):
        audit(naive_laplace, dp.PureDP(1), level=Level.WIRE)
    with pytest.raises(ParameterError, match="at least one pair"):
        audit(dp.Laplace(scale=1, sensitivity=1), neighbors=[])


def test_a_verdict_reads_well_in_text_and_in_a_notebook() -> None:
    verdict = audit(dp.Laplace(epsilon=0.1, sensitivity=1))
    assert "kept on everything" in str(verdict)
    assert "<" in verdict._repr_html_()


def test_the_g_test_sees_a_wrong_scale_and_an_impossible_outcome() -> None:
    law = dp.laws.DiscreteLaplace(5)
    assert not goodness_of_fit(law, law.sample(50_000)).alarm(ALARM)
    assert goodness_of_fit(law, dp.laws.DiscreteLaplace(5.5).sample(50_000)).alarm(ALARM)
    on_grid = dp.laws.OnGrid(law, dp.Laplace(scale=1.0, sensitivity=1.0).grid)
    assert goodness_of_fit(on_grid, np.array([0.3])).p_value == 0.0


def test_the_g_test_works_far_from_zero_and_beyond_int64() -> None:
    for center in (10**17, 2**63 - 1, -(10**30)):
        law = dp.laws.DiscreteLaplace(3, center)
        assert not goodness_of_fit(law, law.sample(4000)).alarm(ALARM)
    mechanism = dp.Laplace(epsilon=1, sensitivity=1.0)
    assert not goodness_of_fit(mechanism.law(1e10), [mechanism(1e10) for _ in range(2000)]).alarm(ALARM)


def test_the_g_test_sees_a_constant_sampler_of_a_wide_law() -> None:
    law = dp.laws.Finite(list(range(1000)), [Fraction(1, 1000)] * 1000)
    assert goodness_of_fit(law, [7] * 4000).alarm(ALARM)
    assert goodness_of_fit(dp.laws.DiscreteLaplace(1000), np.full(1500, 3)).alarm(ALARM)


def test_the_g_test_refuses_impossible_draws_and_too_few() -> None:
    law = dp.laws.DiscreteLaplace(3)
    assert goodness_of_fit(law, law.sample(500) - 0.3).p_value == 0.0
    cut = dp.laws.Truncated(law, 0, 2, outside=dp.laws.Outside.CLAMPED)
    drawn = cut.sample(500)
    drawn[drawn == 0] = -7
    assert goodness_of_fit(cut, drawn).p_value == 0.0
    with pytest.raises(ParameterError, match="too few"):
        goodness_of_fit(law, law.sample(10))


def test_the_g_test_keeps_its_false_alarm_rate(rounds: Rounds) -> None:
    law = dp.laws.Finite(list(range(100)), [Fraction(1, 100)] * 100)
    count = rounds(sample=300, full=500)
    low = sum(goodness_of_fit(law, law.sample(2000)).p_value < 0.01 for _ in range(count))
    assert low <= most(count, 0.011)  # with counts of 20 the rate is 0.010, to a few parts in a hundred


def test_the_room_is_a_module_and_is_called_as_its_function_is() -> None:
    room = importlib.import_module("discreet.audit")
    assert dp.audit is room
    assert inspect.ismodule(dp.audit)
    assert inspect.signature(dp.audit) == inspect.signature(audit)
    assert dp.audit(dp.Laplace(epsilon=0.1, sensitivity=1), dp.PureDP(0.05)).refuted
    assert dp.audit.one_run(canaries=100, guesses=100, right=50).low == 0
    with pytest.raises(TypeError, match="mechanism"):
        dp.audit()  # type: ignore[call-arg]


def test_the_function_of_the_room_can_be_handed_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(dp.audit)) is dp.audit  # noqa: S301  our own bytes
    assert copy.deepcopy(dp.audit) is dp.audit


def test_a_progress_that_cannot_be_called_is_refused_before_any_run() -> None:
    with pytest.raises(ParameterError, match="progress must be a function"):
        dp.audit(dp.Laplace(epsilon=1, sensitivity=1), progress=5)
