"""The exact losses of the twenty benchmark mechanisms on their published inputs, and the false published bounds."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest

from discreet.audit import Level, Outcome, audit
from discreet.errors import ParameterError
from discreet.laws.pair import Pair
from discreet.testing.museum import MUSEUM, Exhibit, benchmark
from discreet.testing.museum.tour import PUBLISHED

# name: largest loss, ln(P(S) / 0.01) of the best event of chance 0.01 under Q; None where no reference is known
EXACT = {
    "Laplace": (0.1000, 0.1000),
    "TruncatedGeometric": (0.1178, 0.1178),
    "NoisyHist1": (0.1000, 0.1000),
    "NoisyHist2": (10.0000, 4.6040),
    "ReportNoisyMax1": (0.0946, 0.0946),
    "ReportNoisyMax2": (0.1000, 0.1000),
    "ReportNoisyMax3": (0.2500, 0.2500),
    "ReportNoisyMax4": (math.inf, 0.3557),
    "SVT1": (0.0885, 0.0885),
    "SVT2": (0.0882, 0.0882),
    "SVT3": (0.5000, 0.1974),
    "SVT4": (0.1725, 0.1725),
    "SVT5": (math.inf, 1.7627),
    "SVT6": (0.4200, 0.2828),
    "RAPPOR": (0.3001, 0.3001),
    "OneTimeRAPPOR": (0.6005, 0.6005),
    "LaplaceParallel": (0.1000, 0.0572),
    "SVT34Parallel": (0.4874, None),  # 10 / 40 of the third and 0.2374 of the fourth, each tested on its own below
    "PrefixSum": (1.0000, 0.7557),
    "NumericalSVT": (0.0805, 0.0678),
}
BENCHMARK = {exhibit.label.name: exhibit for exhibit in benchmark()}


def both_ways(exhibit: Exhibit) -> list[Pair]:
    pairs = [exhibit.pair(first, second) for first, second in exhibit.neighbors()]
    assert all(pair is not None for pair in pairs)
    return [direction for pair in pairs if pair is not None for direction in (pair, pair.reversed())]


def test_the_benchmark_has_twenty_mechanisms_in_order() -> None:
    assert list(BENCHMARK) == list(EXACT)
    assert list(PUBLISHED) == list(EXACT)


@pytest.mark.parametrize("name", EXACT)
def test_largest_loss_power_and_verdict(name: str) -> None:
    exhibit, (largest, power) = BENCHMARK[name], EXACT[name]
    verdict = audit(exhibit, search=0)
    assert verdict.level is Level.EXACT
    assert verdict.outcome is exhibit.label.expected
    assert verdict.low == pytest.approx(largest, abs=6e-5)
    assert verdict.high == pytest.approx(largest, abs=6e-5)
    if power is not None:
        errors = [pair.tradeoff(0.01) for pair in both_ways(exhibit)]
        best = min(error.estimate for error in errors)
        assert math.log((1 - best) / 0.01) == pytest.approx(power, abs=6e-5)


@pytest.mark.parametrize("name", EXACT)
def test_curves_are_enclosed_tightly_at_every_size_of_test(name: str) -> None:
    first, second = BENCHMARK[name].neighbors()[-1]
    pair = BENCHMARK[name].pair(first, second)
    assert pair is not None
    widths = [pair.tradeoff(alpha).width for alpha in (1e-7, 1e-5, 1e-3, 1e-2, 0.1, 0.5, 0.9)]
    assert max(widths) < 3e-6
    assert max(pair.delta(epsilon).width for epsilon in (0.0, 0.01, 0.03, 0.08, 0.3)) < 3e-6
    errors = [pair.tradeoff(alpha) for alpha in (1e-7, 1e-5, 1e-3, 0.1, 0.9)]
    assert all(later.lower <= earlier.upper for earlier, later in pairwise(errors))


def test_delta_and_tradeoff_are_two_views_of_one_curve() -> None:
    for exhibit in BENCHMARK.values():
        for pair in both_ways(exhibit)[:4]:
            for epsilon in (0.0, 0.05, 0.2):
                for alpha in (1e-3, 0.2):
                    line = 1 - pair.delta(epsilon).upper - math.exp(epsilon) * alpha
                    assert pair.tradeoff(alpha).upper >= line - 1e-12


def test_the_parallel_run_loses_what_its_parts_lose_together() -> None:
    parallel = BENCHMARK["SVT34Parallel"]
    third, fourth = parallel.third, parallel.fourth  # type: ignore[attr-defined]
    assert third.hits == fourth.hits == 2
    for first, second in parallel.neighbors():
        pairs = [exhibit.pair(first, second) for exhibit in (parallel, third, fourth)]
        losses = [pair.max_loss().estimate for pair in pairs if pair is not None]
        assert losses[0] == pytest.approx(losses[1] + losses[2], abs=1e-9)


def test_the_largest_loss_of_released_values_is_attained_far_below_all_answers() -> None:
    # below every answer all densities are pure exponentials: each of the misses and the hit itself moves by 1 / scale
    exhibit = BENCHMARK["SVT3"]
    low, high = np.zeros(10), np.ones(10)
    pair = exhibit.pair(low, high)
    assert pair is not None
    assert pair.max_loss().estimate == pytest.approx(10 / 20, abs=1e-9)


@pytest.mark.parametrize("name", ["SVT1", "SVT3", "SVT5", "ReportNoisyMax1", "ReportNoisyMax3", "NumericalSVT"])
def test_inputs_too_far_apart_for_floats_are_refused_rather_than_called_impossible(name: str) -> None:
    exhibit = BENCHMARK[name]
    base = np.zeros_like(exhibit.neighbors()[0][0])
    base[::2] = 20_000.0
    with pytest.raises(ParameterError, match="closer together"):
        exhibit.pair(base, base + 1)


def test_two_published_lower_bounds_exceed_the_truth() -> None:
    false: dict[tuple[str, str], float] = {}
    for name, exhibit in BENCHMARK.items():
        truth = max(pair.max_loss().upper for pair in both_ways(exhibit))
        false |= {(name, who): bound for who, bound in PUBLISHED[name].false_bounds(truth).items()}
    assert false == {("NoisyHist2", "StatDP, second run"): 10.0022, ("RAPPOR", "DP-Sniper, perceptron"): 0.3008}


def test_published_times_add_up() -> None:
    assert sum(one.sniper_seconds[0] for one in PUBLISHED.values()) == pytest.approx(2047, abs=10)
    assert sum(one.sniper_seconds[1] for one in PUBLISHED.values()) == pytest.approx(11310, abs=10)
    timed = [one.statdp_seconds for one in PUBLISHED.values() if one.statdp_seconds is not None]
    assert sum(sum(seconds) / 2 for seconds in timed) == pytest.approx(58842, abs=20)


def test_labels_say_what_they_must() -> None:
    assert len({exhibit.label.name for exhibit in MUSEUM}) == len(MUSEUM)
    for exhibit in MUSEUM:
        label = exhibit.label
        assert label.story.endswith(".")
        assert label.reference
        assert exhibit.guarantee is label.guarantee
        assert re.search(r"\bright\b", label.story) if label.expected is Outcome.KEPT else True
