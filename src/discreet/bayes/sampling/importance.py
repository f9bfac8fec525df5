"""Importance sampling about the mode: a t law where the posterior is highest, and weights whose tail is watched.

The mode is found by damped Newton steps with derivatives from differences, all points of a step evaluated at once. A
first sample is drawn from a multivariate t of 5 degrees of freedom with the curvature there, and the law refitted to it
once. Then each run draws a sample of its own; its weights are Pareto-smoothed and it is resampled to one chain, copies
side by side, so that autocorrelation, hence the number of effective draws, sees them.

Reference. Geweke 1989; smoothing: Vehtari, Simpson, Gelman, Yao, Gabry 2024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base.diagnostics import smoothed
from discreet.bayes.sampling.joint import Joint
from discreet.errors import NotConverged

Floats = NDArray[np.float64]
FREEDOM = 5.0
_STEPS, _STARTS, _CLIMBERS, _SIZES = 60, 400, 6, 24
_WORTH_A_LOOK, _APART = 20.0, 4.0  # ln of a height, squared distance for each coordinate
_WIDTH = 1e-3  # of the differences, in units of the posterior's own width once it is known


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Resampled draws (runs, draws, d), ln of the evidence run by run, and k-hat over all runs."""

    draws: Floats
    log_evidences: Floats
    k_hat: float


def about_mode(
    joint: Joint,
    *,
    generator: np.random.Generator,
    start: Any = None,
    runs: int = 4,
    draws: int = 1000,
    sample: int = 3000,
) -> Weighted:
    """Return draws by importance sampling about the mode, unchecked: see `sampled` for the gate.

    Cost. Some ten Newton steps of 2 d^2 points each, and (runs + 1) x sample points.

    >>> from discreet.bayes.sampling import Joint
    >>> line = Joint(
    ...     lambda count, generator: generator.normal(size=(count, 1)),
    ...     lambda points: -(points[:, 0] ** 2) / 2 - np.log(2 * np.pi) / 2,
    ...     lambda points: -((points[:, 0] - 1) ** 2) / 2,
    ... )
    >>> found = about_mode(line, generator=np.random.default_rng(1))
    >>> bool(abs(found.draws.mean() - 0.5) < 0.1), found.k_hat < 0.7
    (True, True)
    """
    center, root = mode(joint.sloped, generator=generator, start=start)
    first, logs = _proposed(joint, center, root, sample, generator)
    if np.isfinite(logs).any():
        center, root = _refitted(first, np.exp(smoothed(logs)[0]), center, root)
    points, logs = _proposed(joint, center, root, runs * sample, generator)
    by_run, points = logs.reshape(runs, sample), points.reshape(runs, sample, -1)
    top = by_run.max(axis=1)
    if not np.isfinite(top).all():
        raise NotConverged("no draw about the mode is possible under the model; write another prior")
    evidences = top + np.log(np.exp(by_run - top[:, np.newaxis]).mean(axis=1))
    levels = (np.arange(draws) + 0.5) / draws
    kept = [np.searchsorted(np.cumsum(np.exp(smoothed(one)[0])), levels) for one in by_run]
    places = np.minimum(np.stack(kept), sample - 1)
    chains = np.take_along_axis(points, places[:, :, np.newaxis], axis=1)
    return Weighted(chains, evidences, smoothed(logs)[1])


def mode(joint: Joint, *, generator: np.random.Generator, start: Any = None) -> tuple[Floats, Floats]:
    """Return where prior times likelihood is highest, and a root of the covariance that its curvature there stands for.

    `start` holds points to begin from, (count, d). Newton's steps are taken from the best of them and of some draws
    from the prior, and from a few others beside it; where they end at different hilltops, NotConverged is raised,
    because weights about one of them would not know what they miss.
    """
    points = np.asarray(joint.draw_prior(_STARTS, generator), dtype=np.float64)
    width = points.std(axis=0) + 1e-12
    if start is not None:
        points = np.concatenate([np.atleast_2d(np.asarray(start, dtype=np.float64)), points])
    heights = joint.density(points)
    if not np.isfinite(heights).any():
        raise NotConverged(
            "what was released must be possible under the prior; no draw from it can have led to the release, write a "
            "prior that covers it"
        )
    order = np.argsort(-heights, kind="stable")[: max(int(np.isfinite(heights).sum()) // 2, 1)]
    chosen = order[np.unique(np.linspace(0, len(order) - 1, _CLIMBERS).astype(int))]
    climbers = _Climbers(joint, points[chosen], heights[chosen], np.tile(width, (len(chosen), 1)))
    for _ in range(_STEPS):
        if not climbers.step():
            break
    return climbers.summit()


@dataclass
class _Climbers:
    """Several searches for the mode at once: places (count, d), heights, and widths of the differences."""

    joint: Joint
    places: Floats
    heights: Floats
    widths: Floats

    def step(self) -> bool:
        """Take one damped Newton step each, the best of several sizes; return whether anything was gained."""
        slopes, values, vectors = self._bent()
        steps = np.einsum("kij,kj->ki", vectors, np.einsum("kij,ki->kj", vectors, slopes) / values) * self.widths
        sizes = 2.0 * 0.5 ** np.arange(_SIZES)
        trials = self.places[:, np.newaxis] + sizes[:, np.newaxis] * steps[:, np.newaxis]
        found = self._density(trials)
        best = np.argmax(found, axis=1)
        highest = np.take_along_axis(found, best[:, np.newaxis], axis=1)[:, 0]
        gained = highest - self.heights
        better = gained > 0.0
        self.places[better] = np.take_along_axis(trials, best[:, np.newaxis, np.newaxis], axis=1)[better, 0]
        self.heights[better] = highest[better]
        own = np.sqrt(np.einsum("kij,kj,kij->ki", vectors, 1.0 / values, vectors))
        self.widths *= np.clip(own, 0.1, 10.0)
        return bool((gained > 1e-4).any())

    def summit(self) -> tuple[Floats, Floats]:
        """Return the highest place and the root of its covariance, if no other hilltop is worth a look."""
        top = int(np.argmax(self.heights))
        _, values, vectors = self._bent()
        place, width = self.places[top], self.widths[top]
        covariance = (vectors[top] / values[top]) @ vectors[top].T * np.outer(width, width)
        root = _root(covariance, width)
        apart = np.linalg.solve(root, (self.places - place).T)
        near_as_high = self.heights > self.heights[top] - _WORTH_A_LOOK
        if (near_as_high & ((apart**2).sum(axis=0) > _APART * place.size)).any():
            raise NotConverged("the posterior must have one hilltop here; the search ended at several")
        return place, root

    def _bent(self) -> tuple[Floats, Floats, Floats]:
        """Return slopes and curvatures in units of `widths`: eigenvalues of -Hessian, made positive, and vectors.

        Where the density falls to 0 within a difference, that difference counts for nothing.
        """
        dimension = self.places.shape[1]
        step = _WIDTH * np.eye(dimension)
        first, second = np.triu_indices(dimension, 1)
        both = step[first] + step[second]
        offsets = np.concatenate([np.zeros((1, dimension)), step, -step, both, -both])
        heights = self._density(self.places[:, np.newaxis] + offsets * self.widths[:, np.newaxis])
        center = heights[:, :1]
        heights = np.where(np.isfinite(heights), heights, center)
        up, down = heights[:, 1 : dimension + 1], heights[:, dimension + 1 : 2 * dimension + 1]
        forth, back = np.split(heights[:, 2 * dimension + 1 :], 2, axis=1)
        hessians = np.zeros((len(heights), dimension, dimension))
        hessians[:, np.arange(dimension), np.arange(dimension)] = (up + down - 2 * center) / _WIDTH**2
        mixed = forth - up[:, first] - up[:, second] + back - down[:, first] - down[:, second] + 2 * center
        hessians[:, first, second] = hessians[:, second, first] = mixed / (2 * _WIDTH**2)
        values, vectors = np.linalg.eigh(-hessians)
        return (up - down) / (2 * _WIDTH), np.maximum(np.abs(values), 1e-2), vectors

    def _density(self, points: Floats) -> Floats:
        """Return the density at points (climbers, count, d)."""
        return self.joint.density(points.reshape(-1, points.shape[2])).reshape(points.shape[:2])


def _refitted(points: Floats, weights: Floats, center: Floats, root: Floats) -> tuple[Floats, Floats]:
    """Return mean and root of the covariance of weighted points, or what was there where too few points count."""
    if 1.0 / (weights**2).sum() < 20.0 * center.size:
        return center, root
    mean = weights @ points
    away = points - mean
    return mean, _root((weights[:, np.newaxis] * away).T @ away, np.diagonal(root))


def _root(covariance: Floats, width: Floats) -> Floats:
    """Return a Cholesky factor, of the diagonal alone where floats leave no more."""
    try:
        return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.diag(np.abs(width))


def _proposed(
    joint: Joint, center: Floats, root: Floats, count: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw from the t law; return points and ln of the importance ratios, normalized as far as the prior is."""
    dimension = center.size
    normal = generator.standard_normal((count, dimension))
    mixing = FREEDOM / (2.0 * generator.standard_gamma(FREEDOM / 2, count))
    points = center + np.sqrt(mixing)[:, np.newaxis] * normal @ root.T
    distance = mixing * (normal**2).sum(axis=1)
    constant = math.lgamma((FREEDOM + dimension) / 2) - math.lgamma(FREEDOM / 2)
    constant -= dimension / 2 * math.log(FREEDOM * math.pi) + float(np.log(np.diagonal(root)).sum())
    return points, joint.density(points) - constant + (FREEDOM + dimension) / 2 * np.log1p(distance / FREEDOM)
