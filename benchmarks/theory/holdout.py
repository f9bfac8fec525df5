"""The setting of Science 2015: no feature says anything about the label, and the analyst picks the best by the holdout.

Bits -1 and 1 take the place of normal variables, so that scores have bounds and the holdout has a price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.report import Row
from discreet import learning
from discreet.mechanisms import Laplace
from discreet.privacy import Norm, PureDP, Relation, Sensitivity

Signs = NDArray[np.int8]
COUNT, RUNS, PICKED = 10_000, 10, 500
THRESHOLD, HITS, EPSILON, DELTA = 0.1, 2, 1, 1e-6


@dataclass(frozen=True)
class Rows:
    """Training rows and a holdout, a line a feature, with their labels."""

    train: Signs
    sides: Signs
    held: Signs
    known: Signs

    @classmethod
    def drawn(cls, seed: int, count: int = COUNT) -> Rows:
        """Draw everything at random."""
        draw = np.random.default_rng(seed)
        return cls(_signs(draw, count, count), _signs(draw, 1, count)[0], _signs(draw, count, count),
                   _signs(draw, 1, count)[0])  # fmt: skip

    def correlations(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return those of all features with the label, on both parts."""
        return _means(self.train, self.sides), _means(self.held, self.known)


def _signs(draw: np.random.Generator, lines: int, count: int) -> Signs:
    packed = np.frombuffer(draw.bytes(lines * count // 8), dtype=np.uint8)
    return (2 * np.unpackbits(packed).astype(np.int8) - 1).reshape(lines, count)


def _means(features: Signs, labels: Signs) -> NDArray[np.float64]:
    parts = [block.astype(np.float32) @ labels.astype(np.float32) for block in np.array_split(features, 50)]
    return np.concatenate(parts).astype(np.float64) / len(labels)


def picked(on_train: NDArray[np.float64], on_held: NDArray[np.float64], wanted: int) -> NDArray[np.int64]:
    """Return the features with the largest training correlations among those that the holdout confirms."""
    least = 1 / math.sqrt(len(on_train))
    agreed = (np.sign(on_train) == np.sign(on_held)) & (np.minimum(np.abs(on_train), np.abs(on_held)) >= least)
    order = np.argsort(-np.abs(on_train) * agreed, kind="stable")
    return np.asarray(order[: min(wanted, int(agreed.sum()))])


def voted(features: Signs, weights: Signs) -> Signs:
    """Return the label that most of the chosen features vote for; even votes count as 1."""
    votes = weights.astype(np.float32) @ features.astype(np.float32)
    return np.where(votes >= 0, 1, -1).astype(np.int8)


def accuracy(correlation: float) -> float:
    """Return how often signs agree that have this correlation."""
    return (1 + correlation) / 2


def one_run(seed: int, sizes: tuple[int, ...], *, price: dict[str, Any], count: int = COUNT) -> dict[str, list[float]]:
    """Return accuracies for numbers of features: what the plain and our holdout say, and what fresh rows say."""
    rows = Rows.drawn(seed, count)
    on_train, on_held = rows.correlations()
    holdout = learning.ReusableHoldout(count, bounds=(-1, 1), **price)
    told = np.array(
        [
            holdout.ask(on_training=mean, on_holdout=line * rows.known)
            for mean, line in zip(on_train, rows.held, strict=True)
        ]
    )
    fresh_draw = np.random.default_rng(seed + 10**6)
    said: dict[str, list[float]] = {name: [] for name in ("plain", "plain fresh", "ours", "ours fresh", "training")}
    for size in sizes:
        for name, answers in (("plain", on_held), ("ours", told)):
            chosen = picked(on_train, answers, size)
            weights = np.sign(on_train[chosen]).astype(np.int8)
            trained, scored = (voted(part[chosen], weights) * label for part, label in
                               ((rows.train, rows.sides), (rows.held, rows.known)))  # fmt: skip
            if name == "ours":
                answer = holdout.ask(on_training=trained, on_holdout=scored)
                said["training"].append(accuracy(float(trained.mean())))
            else:
                answer = float(scored.mean())
            said[name].append(accuracy(answer))
            new, truth = _signs(fresh_draw, len(chosen), count), _signs(fresh_draw, 1, count)[0]
            said[f"{name} fresh"].append(accuracy(float((voted(new, weights) * truth).mean())))
    said["remaining"] = [float(holdout.remaining)]
    return said


def rows() -> Iterator[Row]:
    """Run ten times; then price the constants of the paper."""
    price: dict[str, Any] = {"threshold": THRESHOLD, "hits": HITS, "epsilon": EPSILON, "delta": DELTA}
    runs = [one_run(seed, (PICKED,), price=price) for seed in range(RUNS)]
    plain, ours = ([run[name][0] - run[f"{name} fresh"][0] for run in runs] for name in ("plain", "ours"))
    means = {name: float(np.mean([run[name][0] for run in runs])) for name in runs[0] if name != "remaining"}
    what = f"n = d = {COUNT:,}, best {PICKED} features, {RUNS} runs"
    yield Row(
        f"{what}: plain holdout", f"says {means['plain']:.3f}, fresh rows {means['plain fresh']:.3f}; off by at least "
        f"{min(plain):.3f}", bar=">= 0.12 off", holds=float(np.mean(plain)) >= 0.12,
    )  # fmt: skip
    plan = learning.ReusableHoldout(COUNT, bounds=(-1, 1), **price).explain()
    used = HITS - min(run["remaining"][0] for run in runs)
    yield Row(
        f"{what}: ours", f"says {means['ours']:.3f}, fresh rows {means['ours fresh']:.3f}; off by at most "
        f"{max(map(abs, ours)):.3f}", f"training rows say {means['training']:.3f}", bar="<= 0.04 off, every run",
        holds=max(map(abs, ours)) <= 0.04,
    )  # fmt: skip
    yield Row(
        "its price", f"epsilon {EPSILON}, delta {DELTA:g}, change-one; at most {used:.0f} of {HITS} hits used",
        f"threshold {THRESHOLD} of the correlation, noise of a comparison {plan.comparison:.4f}: "
        f"4 scales by ln(queries / hits) are {4 * plan.comparison * math.log(COUNT / HITS):.3f}",
    )  # fmt: skip
    hits = [_hits_of_the_paper(seed) for seed in range(2)]
    yield Row("the same with the paper's constants", _price_of_the_paper(max(hits)), f"{max(hits):,} hits (floats)")


def _hits_of_the_paper(seed: int, threshold: float = 0.04, scale: float = 0.01) -> int:
    """Count the hits of Thresholdout as published, with numpy's noise: a prototype, for its price alone."""
    on_train, on_held = Rows.drawn(seed).correlations()
    draw = np.random.default_rng(seed)
    hits, moved = 0, threshold + draw.laplace(0, 2 * scale)
    for apart in np.abs(on_train - on_held):
        if apart + draw.laplace(0, 4 * scale) > moved:
            hits, moved = hits + 1, threshold + draw.laplace(0, 2 * scale)
    return hits


def _price_of_the_paper(hits: int, scale: float = 0.01) -> str:
    """Return the price of so many hits: each a comparison and an answer of 2 / n over the scale."""
    each = Fraction(2, COUNT) / Fraction(str(scale))
    answer = Laplace(epsilon=each, sensitivity=Sensitivity(1, norm=Norm.L1, relation=Relation.CHANGE_ONE)).loss
    total = ((PureDP(each, relation=Relation.CHANGE_ONE).loss + answer) * hits).epsilon(DELTA).upper
    return f"epsilon {float(total):.2f}, delta {DELTA:g}: threshold 0.04, scale 0.01"
