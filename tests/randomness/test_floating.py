"""The assumption on log and exp holds here, with and without vector instructions; where it fails nothing is drawn."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import AssumptionFailed
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, Softmax
from discreet.laws.noise.discrete_laplace import LaplaceSampler
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianTable
from discreet.randomness import rigor as floating

ROOT = Path(__file__).resolve().parents[2]

PROBE = """
import json
from fractions import Fraction
from hashlib import sha256
import numpy as np
from discreet.randomness import rigor as floating
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianRejection
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianTable
from discreet.laws.noise.gaussian.rounded_sampler import RoundedSampler
from discreet.laws.noise.discrete_laplace import LaplaceSampler
from tests.randomness.sources import Stream, swapped
floating.self_test(2000)
makers = {"laplace": LaplaceSampler, "rejection": GaussianRejection, "table": GaussianTable, "rounded": RoundedSampler}
digests = {}
for name, maker in makers.items():
    for scale in (Fraction(1, 3), Fraction(10), Fraction(5000), Fraction(2**30)):
        sampler = maker(scale)
        with swapped(Stream(name)):
            digests[f"{name} {scale}"] = sha256(sampler.draw(20_001).tobytes()).hexdigest()
features = np._core._multiarray_umath.__cpu_features__
print(json.dumps({"digests": digests, "features": [name for name, on in features.items() if on]}))
"""


def dispatched() -> list[str]:
    """Return the groups of vector instructions numpy chooses between on this machine, least first."""
    return list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))


def probe(disabled: tuple[str, ...]) -> dict:
    """Run the self-test and fixed draws in a process without some vector instructions."""
    paths = [str(ROOT), *(path for path in sys.path if path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NPY_DISABLE_CPU_FEATURES": " ".join(disabled)}
    command = [sys.executable, "-W", "error", "-c", PROBE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_log_and_exp_are_within_the_assumption_here(rounds):
    log_error, exp_error = floating.worst_ulps(rounds(sample=5_000, full=500_000))
    assert 0.5 <= log_error <= floating.ASSUMED_ULPS
    assert 0.5 <= exp_error <= floating.ASSUMED_ULPS


def test_the_slack_is_a_thousand_times_the_assumption():
    assert floating.SLACK >= 1000
    assert floating.LOG_RELATIVE == floating.EXP_RELATIVE == 2.0**-40


@pytest.mark.parametrize("count", range(1, 71))
def test_every_array_length_is_within_the_assumption(count):
    arguments = np.linspace(2.0**-64, 1.0, 500)[-count:]
    assert floating._worst(np.log, arguments) <= floating.ASSUMED_ULPS
    assert floating._worst(np.exp, -64.0 * arguments) <= floating.ASSUMED_ULPS


def test_unaligned_arrays_are_within_the_assumption():
    raw = np.zeros(8 * 301 + 1, dtype=np.uint8)
    unaligned = raw[1:].view(np.float64)
    unaligned[:] = np.linspace(2.0**-60, 1.0, 301)
    assert floating._worst(np.log, unaligned) <= floating.ASSUMED_ULPS
    assert floating._worst(np.exp, -64.0 * unaligned) <= floating.ASSUMED_ULPS


def test_arguments_next_to_one_are_within_the_assumption():
    near = 1.0 - np.arange(1, 200) * 2.0**-53
    powers = 2.0 ** -np.arange(0.0, 65.0)
    assert floating._worst(np.log, np.concatenate([near, powers])) <= floating.ASSUMED_ULPS


@pytest.fixture(scope="module")
def everything_on():
    return probe(())


@pytest.mark.parametrize("kept", range(len(dispatched())), ids=lambda kept: f"without {'+'.join(dispatched()[kept:])}")
def test_without_vector_instructions_the_assumption_holds_and_the_same_words_give_the_same_draws(kept, everything_on):
    disabled = tuple(itertools.islice(dispatched(), kept, None))
    found = probe(disabled)
    assert not set(disabled) & set(found["features"])
    assert set(disabled) <= set(everything_on["features"])
    assert found["digests"] == everything_on["digests"]


@pytest.fixture
def untested(monkeypatch):
    """A process that has not yet tested its floats."""
    monkeypatch.setattr(floating, "_tested", False)


def off_by(function, ulps):
    """Return a ufunc-like function whose results are too large by so many units in the last place."""

    def broken(values, *args, **kwargs):
        result = np.asarray(function(values, *args, **kwargs))
        return result + ulps * np.spacing(result)

    return broken


@pytest.mark.parametrize("name", ["log", "exp"])
def test_a_broken_log_or_exp_is_noticed_before_anything_is_drawn(name, monkeypatch, untested):  # noqa: ARG001
    monkeypatch.setattr(np, name, off_by(getattr(np, name), 8))
    for draw in (
        lambda: DiscreteLaplace(1).sample(10),
        lambda: DiscreteLaplace(2**30).sample(),
        lambda: DiscreteGaussian(1).sample(10),
        lambda: RoundedGaussian(1).sample(10),
        lambda: RoundedGaussian(2**30).sample(10),
        lambda: GaussianTable(DiscreteGaussian(1).scale),
        lambda: LaplaceSampler(DiscreteLaplace(7).scale),
        lambda: Softmax([1, 2, 3], DiscreteLaplace(1).scale).sample(),
    ):
        with pytest.raises(AssumptionFailed, match="float-log-exp"):
            draw()


@pytest.mark.parametrize("result", [np.nan, np.inf, 0.0])
def test_a_log_that_returns_nonsense_is_noticed(result, monkeypatch, untested):  # noqa: ARG001
    monkeypatch.setattr(np, "log", lambda values: np.full(np.shape(values), result))
    with pytest.raises(AssumptionFailed):
        floating.ensure_tested()


def test_a_log_that_is_wrong_only_in_the_tail_of_short_arrays_is_noticed(monkeypatch, untested):  # noqa: ARG001
    right = np.log

    def broken(values):
        result = right(values)
        if result.size % 8 == 3:
            result[-1] *= 1 + 2.0**-45
        return result

    monkeypatch.setattr(np, "log", broken)
    with pytest.raises(AssumptionFailed):
        floating.ensure_tested()


def test_a_log_within_the_assumption_is_accepted(monkeypatch, untested):  # noqa: ARG001
    monkeypatch.setattr(np, "log", off_by(np.log, 2))
    floating.ensure_tested()


def test_the_test_runs_once_a_process(monkeypatch, untested):  # noqa: ARG001
    runs = []
    monkeypatch.setattr(floating, "self_test", lambda: runs.append(1))
    DiscreteLaplace(1).sample(3)
    DiscreteGaussian(3).sample(3)
    RoundedGaussian(3).sample(3)
    assert runs == [1]


def test_a_failed_test_is_run_again_and_fails_again(monkeypatch, untested):  # noqa: ARG001
    monkeypatch.setattr(np, "log", off_by(np.log, 100))
    for _ in range(2):
        with pytest.raises(AssumptionFailed):
            DiscreteLaplace(1).sample()
