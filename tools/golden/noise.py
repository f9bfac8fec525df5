"""What the room of randomness, laws and mechanisms give on fixed random words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet import laws, mechanisms, randomness
from discreet.privacy import Norm, Relation, Sensitivity
from tools.golden.fixed import fixed_words
from tools.golden.written import Lines, written

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
BOTH = (ADD_REMOVE, CHANGE_ONE)
COUNTS = Sensitivity(1, norm=Norm.L1, relation=ADD_REMOVE)
HEIGHTS = Sensitivity(2.5, norm=Norm.L2, relation=CHANGE_ONE)
TABLE = {"a": 30, "b": 1, "c": 0, "d": 55}

Make = Callable[[], Any]


def randomness_lines() -> Lines:
    """Return draws of every public function of the room of randomness."""
    masses = [1, 5, 0, 10]
    table = randomness.AliasTable([1 << 60, 5 << 60, 0, 10 << 60])
    drawn: dict[str, Make] = {
        "AliasTable/lookup": lambda: table.lookup(randomness.words(12)),
        "Reservoir/take": lambda: _taken(randomness.Reservoir(lambda count: randomness.words(count).copy())),
        "bernoulli": lambda: [randomness.bernoulli(Fraction(2, 7)) for _ in range(20)],
        "bernoulli_array": lambda: randomness.bernoulli_array(Fraction(2, 7), 20),
        "bernoulli_exp": lambda: [randomness.bernoulli_exp(Fraction(2, 7)) for _ in range(20)],
        "bits": lambda: [randomness.bits(count) for count in (0, 1, 7, 64, 70, 200)],
        "choose_by_weights": lambda: [randomness.choose_by_weights(masses) for _ in range(20)],
        "uniform_below": lambda: [randomness.uniform_below(bound) for bound in (1, 2, 10, 1 << 70) for _ in range(4)],
        "uniform_below_array": lambda: randomness.uniform_below_array(1000, 12),
        "word": lambda: [randomness.word() for _ in range(3)],
        "words": lambda: [randomness.words(2).tolist(), randomness.words(100)[-2:].tolist()],
    }
    for key, make in drawn.items():
        yield key, _on_fixed_words(key, make)


def _taken(reservoir: randomness.Reservoir) -> list[int]:
    """Take past the first refill."""
    return [int(reservoir.take()) for _ in range(18)][-3:]


def law_lines() -> Lines:
    """Return twelve draws, and one alone, of every public law, then its chances."""
    for key, law in _laws():
        if hasattr(law, "sample"):
            yield f"{key}/sample", _on_fixed_words(key, partial(_sampled, law))
        else:
            yield f"{key}/draw", _on_fixed_words(key, partial(law.draw, 12))
    yield "signed_draws", _on_fixed_words("signed_draws", lambda: laws.signed_draws([0, -3, 2], Fraction(1), 12))
    yield "Race/winners", _on_fixed_words("race", _winners)


def _sampled(law: Any) -> list[Any]:
    """Draw once, then twelve times at once."""
    return [law.sample(), law.sample(12)]


def _winners() -> list[tuple[int, ...]]:
    """Return the first two of a race that is fed in two blocks, six times."""
    found = []
    for _ in range(6):
        race = laws.Race(Fraction(1), places=2)
        race.run(np.array([0, 1, 2]))
        race.run(np.array([2, 1]))
        found.append(race.winners)
    return found


def _laws() -> Iterator[tuple[str, Any]]:
    """Return a law or two of every public kind."""
    laplace, half = laws.DiscreteLaplace(2), laws.DiscreteLaplace(Fraction(1, 2))
    whole = np.array([0, 3, 5])
    yield "DiscreteLaplace/scale 2", laplace
    yield "DiscreteLaplace/wide", laws.DiscreteLaplace(Fraction(12345, 7), center=-4)
    yield "DiscreteLaplace/very wide", laws.DiscreteLaplace(10**25)
    yield "DiscreteGaussian/scale 10", laws.DiscreteGaussian(10)
    yield "DiscreteGaussian/narrow", laws.DiscreteGaussian(Fraction(1, 3))
    yield "DiscreteGaussian/wide", laws.DiscreteGaussian(Fraction(10**9, 7), center=3)
    yield "RoundedGaussian/scale 20", laws.RoundedGaussian(20)
    yield "RoundedGaussian/narrow", laws.RoundedGaussian(Fraction(1, 3))
    yield "RoundedGaussian/wide", laws.RoundedGaussian(Fraction(10**9, 7), center=3)
    yield "TruncatedLaplace", laws.TruncatedLaplace(3, reach=8)
    yield "Truncated/clamped", laws.Truncated(laplace, -1, 2, outside=laws.Outside.CLAMPED)
    yield "Truncated/other", laws.Truncated(laws.DiscreteGaussian(2), -1, 4, outside=list(laws.Outside)[-1])
    yield "Thresholded", laws.Thresholded(laplace, 3, threshold=4)
    yield "Finite", laws.Finite(["yes", "no", "rather"], [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    yield "OnGrid", laws.OnGrid(laplace, Fraction(1, 4))
    yield "Product", laws.Product([laplace, laws.DiscreteGaussian(4)])
    yield "Softmax", laws.Softmax([0, 1, 0.5], Fraction(1))
    yield "Peeling", laws.Peeling([0, 1, 2, 1], Fraction(1), 2)
    yield "PermuteAndFlipLaw", laws.PermuteAndFlipLaw([0, 1, 2], Fraction(1))
    yield "NoisyMaxLaw", laws.NoisyMaxLaw(whole, laplace)
    yield "NoisyMaxGapLaw", laws.NoisyMaxGapLaw(whole, laplace, grid=Fraction(1, 2))
    yield "AboveThresholdLaw", laws.AboveThresholdLaw(whole, 3, Fraction(2), Fraction(4), hits=2)
    yield "AboveThresholdGapLaw", laws.AboveThresholdGapLaw(whole, laplace, half, hits=2)
    entries: dict[Hashable, Any] = {key: laws.Thresholded(laplace, count, threshold=6) for key, count in TABLE.items()}
    yield "ThresholdedTable", laws.ThresholdedTable(entries)
    yield "SoftmaxDraws", laws.SoftmaxDraws([0, 3, 1, 2], Fraction(1))
    yield "SignedDraws", laws.SignedDraws([0, -3, 2], Fraction(1))


def mechanism_lines() -> Lines:
    """Return the outputs of every mechanism, with its guarantee."""
    for key, make, values in _mechanisms():
        yield f"{key}/guarantee", written(make().guarantee, 12)
        for place, value in enumerate(values):
            outputs = _on_fixed_words(key, partial(_four, make, value))
            yield f"{key}/release {place}", outputs
            wire = _on_fixed_words(key, partial(_wired, make, value))
            yield f"{key}/wire {place}", wire
    yield from _streams()


def _mechanisms() -> Iterator[tuple[str, Make, list[Any]]]:
    """Return mechanisms of every kind, priced in every way, with inputs."""
    counts, scores = np.array([1, 2, 3]), [[0, 1, 2], [0.5, -3.25, 1.0]]
    m = mechanisms
    yield "Laplace/integers", lambda: m.Laplace(epsilon=0.5, sensitivity=1), [0, 41, -7]
    yield "Laplace/grid", lambda: m.Laplace(epsilon=0.5, sensitivity=0.25), [0.0, 0.3, -1e6]
    yield "Laplace/coarse grid", lambda: m.Laplace(epsilon=1, sensitivity=1.5, grid=0.5), [0.25, 7.7]
    yield "Laplace/array", lambda: m.Laplace(epsilon=1, sensitivity=COUNTS), [counts]
    yield "Laplace/scale", lambda: m.Laplace(scale=10, sensitivity=1), [5]
    yield "Gaussian/integers", lambda: m.Gaussian(scale=3, sensitivity=2), [0, 41]
    yield "Gaussian/target", lambda: m.Gaussian(epsilon=1, delta=1e-5, sensitivity=1), [5]
    yield "Gaussian/grid", lambda: m.Gaussian(scale=2.5, sensitivity=1.0), [0.0, 0.3]
    yield "Gaussian/array", lambda: m.Gaussian(scale=3, sensitivity=HEIGHTS, grid=0.5, length=2), [np.array([1.0, 2.5])]
    yield "TruncatedGeometric/one", lambda: m.TruncatedGeometric(epsilon=1, delta=1e-3, sensitivity=1), [0, 41]
    yield "TruncatedGeometric/three", lambda: m.TruncatedGeometric(epsilon=1, delta=1e-3, sensitivity=3), [41]
    yield "RandomizedResponse/two", lambda: m.RandomizedResponse(epsilon=1, categories=2), [0, 1, np.arange(12) % 2]
    yield "RandomizedResponse/truth", lambda: m.RandomizedResponse(truth=0.75, categories=2), [1]
    yield "RandomizedResponse/five", lambda: m.RandomizedResponse(epsilon=1, categories=5), [4, np.arange(12) % 5]
    yield "Exponential/plain", lambda: m.Exponential(epsilon=1, sensitivity=1), scores
    yield "Exponential/monotone", lambda: m.Exponential(epsilon=1, sensitivity=2, monotone=True), scores
    yield "PermuteAndFlip/plain", lambda: m.PermuteAndFlip(epsilon=1, sensitivity=1), scores
    yield "PermuteAndFlip/monotone", lambda: m.PermuteAndFlip(epsilon=1, sensitivity=2, monotone=True), scores
    yield "Top/epsilon", lambda: m.Top(k=2, epsilon=1, sensitivity=1), [[0, 1, 2, 1]]
    yield "Top/rho", lambda: m.Top(k=2, rho=0.25, sensitivity=1, monotone=True), [[0, 1, 2, 1]]
    yield "NoisyMax/integers", lambda: m.NoisyMax(epsilon=1, sensitivity=1), [[0, 1, 2], [5, 5]]
    yield "NoisyMax/grid", lambda: m.NoisyMax(epsilon=1, sensitivity=0.5, grid=0.25), [[0.0, 0.3, 2.0]]
    yield "NoisyMax/gap", lambda: m.NoisyMax(epsilon=1, sensitivity=1, gap=True), [[0, 1, 2]]
    yield "AboveThreshold/one", lambda: m.AboveThreshold(threshold=3, epsilon=1, sensitivity=1), [[0, 4, 3]]
    yield (
        "AboveThreshold/two",
        lambda: m.AboveThreshold(threshold=3, epsilon=2, sensitivity=1, hits=2, monotone=True),
        [[0, 4, 3, 9]],
    )
    yield "AboveThreshold/gap", lambda: m.AboveThreshold(threshold=3, epsilon=1, sensitivity=1, gap=True), [[0, 9]]
    for noise in m.KeyNoise:
        for relation in BOTH:
            yield (
                f"ThresholdedHistogram/{noise.name.lower()}/{relation.name.lower()}",
                partial(m.ThresholdedHistogram, epsilon=1, delta=5e-3, keys=1, relation=relation, noise=noise),
                [TABLE],
            )


def _four(make: Make, value: Any) -> list[Any]:
    """Release four times, each time by a new mechanism."""
    return [make().release(value) for _ in range(4)]


def _wired(make: Make, value: Any) -> Any:
    """Return what leaves the process."""
    return make().wire(value)


def _streams() -> Lines:
    """Return what a stream says value by value."""
    values = [0, 9, 1, 12, 3, 30]
    for split in mechanisms.Split:
        key = f"AboveThreshold/watch/{split.name.lower()}"
        yield key, _on_fixed_words(key, partial(_watched, split, values))

    def gaps() -> list[Any]:
        stream = mechanisms.AboveThreshold(threshold=8, epsilon=2, sensitivity=1, hits=3, gap=True)
        return [stream.gap(value) for value in values[:4]]

    yield "AboveThreshold/gaps one by one", _on_fixed_words("gaps", gaps)


def _watched(split: mechanisms.Split, values: list[int]) -> list[bool]:
    """Watch values until the stream is spent."""
    stream = mechanisms.AboveThreshold(threshold=8, epsilon=2, sensitivity=1, hits=2, split=split)
    verdicts: list[bool] = []
    for value in values:
        if not stream.remaining:
            break
        verdicts.append(stream.watch(value))
    return verdicts


def _on_fixed_words(label: str, ask: Make) -> str:
    """Return the answer as text with all its digits, drawn from the words of this label."""
    with fixed_words(label):
        return written(ask(), digits=None)
