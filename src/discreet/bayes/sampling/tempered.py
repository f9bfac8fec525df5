"""Tempered sequential Monte Carlo: from the prior to the posterior in steps that the particles can follow.

Particles are drawn from the prior; the power t of the likelihood rises from 0 to 1 so that each step leaves .6 of them
effective; they are weighted, resampled, and moved until they have forgotten where they were. No gradient is needed, so
kinks and bounds are harmless, and the product of the average weights estimates the evidence without bias.

Several runs are made at once, independent of each other but for the time they take. What R-hat and effective draws mean
here: the particles of a run stand in the order of their ancestors, because systematic resampling keeps it and puts
copies side by side. What relatives still share shows as autocorrelation along that order, at the lags of the size of a
family, and lowers the effective draws; what a whole run has got wrong in common, such as the weight of a mode, shows as
spread between runs, which R-hat measures and which enters the effective draws at every lag. With independent particles
both are as for independent draws.

Reference. Del Moral, Doucet, Jasra 2006; systematic resampling: Carpenter, Clifford, Fearnhead 1999.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.sampling.joint import Joint
from discreet.bayes.sampling.moves import Moves, Particles
from discreet.display import Progress, silent
from discreet.errors import NotConverged

Floats = NDArray[np.float64]
EFFECTIVE = 0.6
CORRELATION = 0.1
_ON_THE_WAY = 0.2  # between temperatures; what is left there costs spread between runs, no bias
_OF_TAILS = 0.3  # of distances and the likelihood; what is left shows in the effective draws of the tails
_MOST_MOVES, _MOST_ON_THE_WAY, _MOST_TEMPERATURES = 1000, 40, 500


@dataclass(frozen=True, slots=True, eq=False)
class Tempered:
    """Draws (runs, particles, d), ln of the evidence run by run, and what the particles remember of where they were.

    `correlation` is the largest, over coordinates, between the draws and the particles before the last moves.
    """

    draws: Floats
    log_evidences: Floats
    correlation: float
    temperatures: int
    moves: int


def tempered(
    joint: Joint,
    *,
    generator: np.random.Generator,
    runs: int = 4,
    particles: int = 1000,
    progress: Progress = silent,
) -> Tempered:
    """Return draws from the posterior by tempered sequential Monte Carlo, unchecked: see `sampled` for the gate.

    Cost. Some 10 temperatures with 2 to 10 moves each; a move evaluates the joint density once at every particle.

    >>> from discreet.bayes.sampling import Joint
    >>> line = Joint(
    ...     lambda count, generator: generator.normal(size=(count, 1)),
    ...     lambda points: -(points[:, 0] ** 2) / 2 - np.log(2 * np.pi) / 2,
    ...     lambda points: -((points[:, 0] - 1) ** 2) / 2,
    ... )
    >>> found = tempered(line, generator=np.random.default_rng(1))
    >>> bool(abs(found.draws.mean() - 0.5) < 0.1)
    True
    """
    points = np.asarray(joint.draw_prior(runs * particles, generator), dtype=np.float64)
    cloud = Particles.at(joint, points.reshape(runs, particles, -1))
    if not np.isfinite(cloud.likelihood).any(axis=1).all():
        raise NotConverged(
            "what was released must be possible under the prior; no draw from it can have led to the release, write a "
            "prior that covers it"
        )
    moves = Moves(joint, generator, runs)
    temperature, evidence, done, steps, remembered = np.zeros(runs), np.zeros(runs), 0, 0, 1.0
    while temperature.min() < 1.0 and steps < _MOST_TEMPERATURES:
        rise = np.minimum(_rise(cloud.likelihood, 1.0 - temperature), 1.0 - temperature)
        temperature, logs = temperature + rise, _powers(cloud.likelihood, rise)
        temperature[temperature > 1.0 - 1e-12] = 1.0
        evidence += _log_means(logs)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        moves.fit(cloud.points, weights)
        cloud = cloud.taken(_resampled(weights, generator))
        last = temperature.min() == 1.0
        remembered, made = _moved(moves, cloud, temperature, last=bool(last), progress=progress, done=done)
        done, steps = done + made, steps + 1
    return Tempered(cloud.points, evidence, remembered if temperature.min() == 1.0 else 1.0, steps, done)


def _moved(
    moves: Moves, cloud: Particles, temperature: Floats, *, last: bool, progress: Progress, done: int
) -> tuple[float, int]:
    """Move particles in place until they forgot where they were; return the correlation left, and how many moves."""
    least = np.quantile(cloud.likelihood, 0.01, axis=1, keepdims=True)
    start, wanted = _looks(cloud, least), CORRELATION if last else _ON_THE_WAY
    correlation, most = 1.0, _MOST_MOVES if last else _MOST_ON_THE_WAY
    for move in range(1, most + 1):
        moves.sweep(cloud, temperature, rate=1.0 / math.sqrt(move))
        progress(done + move, None)
        left = _correlations(start, _looks(cloud, least))
        places = left[: cloud.points.shape[2]]
        correlation = float(places.max(initial=0.0))
        if correlation < wanted and left.max(initial=0.0) < _OF_TAILS:
            return correlation, move
        if last and move in {10, 40, 160}:  # the law that proposals come from was fitted to weighted particles
            moves.fit(cloud.points, np.full(cloud.prior.shape, 1.0 / cloud.prior.shape[1]))
    return correlation, most


def _looks(cloud: Particles, least: Floats) -> Floats:
    """Return what particles must forget: coordinates, their distances from the mean, and the likelihood's logarithm.

    Only together do they see a tail or a narrow neck in which particles stay while the rest moves on. `least` is where
    the logarithm is cut, so that a few impossible places do not decide.
    """
    points = cloud.points - cloud.points.mean(axis=1, keepdims=True)
    height = np.maximum(cloud.likelihood, least)[:, :, np.newaxis]
    found = np.concatenate([points, np.abs(points), height], axis=2)
    return np.asarray(found - (np.einsum("rnd->rd", found) / found.shape[1])[:, np.newaxis])


def _correlations(one: Floats, two: Floats) -> Floats:
    """Return the correlations, within runs, of two looks at the same particles; 0 where nothing varies."""
    both, first, second = (np.einsum("rnd,rnd->d", *pair) for pair in ((one, two), (one, one), (two, two)))
    scale = np.sqrt(first * second)
    return np.asarray(np.divide(both, scale, out=np.zeros_like(both), where=scale > 0.0))


def _powers(likelihood: Floats, rise: Floats) -> Floats:
    """Return ln of the weights of a step; a step of 0 weighs nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(rise[:, np.newaxis] == 0.0, 0.0, likelihood * rise[:, np.newaxis])


def _rise(likelihood: Floats, most: Floats) -> Floats:
    """Return, for each run, the largest step that leaves enough particles effective, by bisection of its logarithm."""
    possible = np.isfinite(likelihood).mean(axis=1)

    def enough(rise: Floats) -> NDArray[np.bool_]:
        logs = _powers(likelihood, rise)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        share = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1) / likelihood.shape[1]
        return np.asarray(share >= EFFECTIVE * possible)

    high, low = most.copy(), most * 1e-12
    fine = enough(high)
    low = np.where(fine, high, low)
    for _ in range(30):
        middle = np.sqrt(low * high)
        fine = enough(middle)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
        if (high <= low * 1.02).all():
            break
    return np.asarray(low)


def _log_means(logs: Floats) -> Floats:
    """Return ln of the mean of exponentials, run by run."""
    top = logs.max(axis=1)
    return np.asarray(top + np.log(np.exp(logs - top[:, np.newaxis]).mean(axis=1)))


def _resampled(weights: Floats, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return places by systematic resampling, in order: copies stand side by side."""
    runs, number = weights.shape
    places = np.empty((runs, number), dtype=np.intp)
    for run in range(runs):
        levels = (np.arange(number) + generator.random()) / number
        places[run] = np.minimum(np.searchsorted(np.cumsum(weights[run]), levels), number - 1)
    return places
