"""Moves that leave a tempered posterior as it is, for many particles at once, and learn how far to go.

Two kinds, both exact for a fixed scale (Metropolis), and each tried more often where it decorrelates more:

- about the center: with a t law of 5 degrees of freedom fitted to the particles, x' = m + sqrt(1 - b^2) (x - m) +
  b sqrt(w) L g, w drawn given x as the t law's own mixing variable and g normal. The move is reversible for the t law,
  so that only the ratio of the target to it decides. With b = 1 it forgets where it was: near a normal posterior most
  coordinates are fresh after one or two moves, however they are correlated, and kinks and bounds do no harm.
- along differences: half of the particles move by c times the difference of two particles of the other half, then the
  other way round; sometimes c = 1, which leads from mode to mode. It knows no center and follows bent posteriors.

Reference. Grumitt, Dai, Seljak 2022 for the first (t instead of the normal law of Neal 1998, and Cotter, Roberts,
Stuart, White 2013); ter Braak 2006 for the second, in halves as Foreman-Mackey, Hogg, Lang, Goodman 2013.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.sampling.joint import Joint

Floats = NDArray[np.float64]
FREEDOM = 5.0
_WANTED = 0.25  # the share of moves that is accepted where the scale is best, about
_LEAST_CHANCE = 0.15
_JUMPS = 0.1
_NEAR = 0.3  # the share of moves about the center that stay near, which lead out of tails of another shape
_SEEN = 4  # each fourth particle tells how much a move decorrelates


@dataclass
class Particles:
    """Points (runs, number, d) with ln of prior and likelihood at each, (runs, number)."""

    points: Floats
    prior: Floats
    likelihood: Floats

    @classmethod
    def at(cls, joint: Joint, points: Floats) -> Particles:
        """Evaluate a joint density at points (runs, number, d)."""
        runs, number, dimension = points.shape
        prior, likelihood = joint.both(points.reshape(runs * number, dimension))
        return cls(points, prior.reshape(runs, number), likelihood.reshape(runs, number))

    def tempered(self, temperature: Floats) -> Floats:
        """Return ln of prior times the likelihood to a power, one a run; a power 0 of an impossible release is 1."""
        with np.errstate(invalid="ignore"):
            power = temperature[:, np.newaxis] * self.likelihood
        return self.prior + np.where(temperature[:, np.newaxis] == 0.0, 0.0, power)

    def taken(self, places: NDArray[np.intp]) -> Particles:
        """Return the particles at places (runs, number) of their runs."""
        points = np.take_along_axis(self.points, places[:, :, np.newaxis], axis=1)
        one = (np.take_along_axis(part, places, axis=1) for part in (self.prior, self.likelihood))
        return Particles(points, *one)

    def put(self, part: slice, others: Particles, accepted: NDArray[np.bool_]) -> None:
        """Replace some of the particles of a part, in place."""
        self.points[:, part][accepted] = others.points[accepted]
        self.prior[:, part][accepted] = others.prior[accepted]
        self.likelihood[:, part][accepted] = others.likelihood[accepted]

    def part(self, part: slice) -> Particles:
        """Return a part of every run."""
        return Particles(self.points[:, part], self.prior[:, part], self.likelihood[:, part])


@dataclass
class Moves:
    """The two kinds of moves with their scales, one a run, and how much each has decorrelated of late."""

    joint: Joint
    generator: np.random.Generator
    runs: int
    reach: Floats = field(init=False)
    stretch: Floats = field(init=False)
    gain: list[float] = field(default_factory=lambda: [0.5, 0.5])
    center: Floats = field(init=False)
    root: Floats = field(init=False)
    inverse: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.reach = np.ones(self.runs)  # b
        self.stretch = np.ones(self.runs)  # c, in units of the best for a normal law

    def fit(self, points: Floats, weights: Floats) -> None:
        """Fit the t law of each run to the weighted particles of the others; the weights of a run add up to 1.

        Fitted to what it moves, the law would follow each particle a little and draw the particles together, by a share
        of about d over their number at every temperature.
        """
        means = np.einsum("rn,rnd->rd", weights, points)
        away = points - means.mean(axis=0)
        squares = np.einsum("rn,rni,rnj->rij", weights, away, away, optimize=True)
        self.center, second = _of_others(means), _of_others(squares)
        apart = self.center - means.mean(axis=0)
        spread = second - apart[:, :, np.newaxis] * apart[:, np.newaxis, :]
        diagonal = np.einsum("rii->ri", spread)
        diagonal += 1e-10 * diagonal + 1e-300
        self.root = _roots(spread)
        self.inverse = np.asarray(np.linalg.inv(self.root), dtype=np.float64)

    def sweep(self, particles: Particles, temperature: Floats, rate: float) -> None:
        """Move all particles once, in place; scales follow what was accepted, by a factor of e^rate at most."""
        chances = np.maximum(np.array(self.gain) / sum(self.gain), _LEAST_CHANCE)
        kind = int(self.generator.random() * chances.sum() > chances[0])
        before = particles.points[:, ::_SEEN].copy()
        move: Callable[[Particles, Floats], Floats] = (self._about_center, self._along_differences)[kind]
        accepted = move(particles, temperature)
        scale = (self.reach, self.stretch)[kind]
        scale *= np.exp(rate * np.clip((accepted - _WANTED) / _WANTED, -1.0, 1.0))
        np.clip(scale, 1e-3, (1.0, 4.0)[kind], out=scale)
        moved, away = particles.points[:, ::_SEEN] - before, before - before.mean(axis=1, keepdims=True)
        squared, variance = np.einsum("rnd,rnd->rd", moved, moved), np.einsum("rnd,rnd->rd", away, away)
        decorrelated = (squared / (2.0 * variance + 1e-300)).min(axis=1).mean()
        self.gain[kind] = 0.5 * self.gain[kind] + 0.5 * float(decorrelated) + 1e-6

    def _about_center(self, particles: Particles, temperature: Floats) -> Floats:
        """Propose about the fitted center; return the share accepted in each run."""
        runs, number, dimension = particles.points.shape
        away = particles.points - self.center[:, np.newaxis]
        distance = self._distances(away)
        mixing = (FREEDOM + distance) / (2.0 * self.generator.standard_gamma((FREEDOM + dimension) / 2, (runs, number)))
        near = self.generator.random((runs, number, 1)) < _NEAR
        reach = self.reach[:, np.newaxis, np.newaxis] * np.where(near, self.generator.random((runs, number, 1)), 1.0)
        fresh = self.generator.standard_normal(particles.points.shape) @ np.swapaxes(self.root, 1, 2)
        moved = np.sqrt(1.0 - reach**2) * away + reach * np.sqrt(mixing)[:, :, np.newaxis] * fresh
        proposed = Particles.at(self.joint, self.center[:, np.newaxis] + moved)
        power = (FREEDOM + dimension) / 2
        drift = power * (np.log1p(self._distances(moved) / FREEDOM) - np.log1p(distance / FREEDOM))
        return self._decide(particles, slice(None), proposed, temperature, drift)

    def _along_differences(self, particles: Particles, temperature: Floats) -> Floats:
        """Propose along differences of the other half; return the share accepted in each run."""
        runs, number, dimension = particles.points.shape
        shares = np.zeros(runs)
        halves = (slice(0, None, 2), slice(1, None, 2))
        for moving, still in (halves, halves[::-1]):
            points, others = particles.points[:, moving], particles.points[:, still]
            size = points.shape[1]
            first = self.generator.integers(others.shape[1], size=(runs, size))
            second = (first + 1 + self.generator.integers(others.shape[1] - 1, size=(runs, size))) % others.shape[1]
            step = np.take_along_axis(others, first[:, :, np.newaxis], axis=1)
            step = step - np.take_along_axis(others, second[:, :, np.newaxis], axis=1)
            scale = self.stretch[:, np.newaxis] * (2.38 / math.sqrt(2.0 * dimension))
            scale = scale * np.exp(0.3 * self.generator.standard_normal((runs, size)))
            scale = np.where(self.generator.random((runs, size)) < _JUMPS, 1.0, scale)
            proposed = Particles.at(self.joint, points + scale[:, :, np.newaxis] * step)
            shares += self._decide(particles, moving, proposed, temperature, 0.0) * size / number
        return shares

    def _decide(
        self, particles: Particles, part: slice, proposed: Particles, temperature: Floats, drift: Floats | float
    ) -> Floats:
        """Accept with the chance of Metropolis and Hastings, in place; return the share accepted in each run."""
        change = proposed.tempered(temperature) - particles.part(part).tempered(temperature) + drift
        accepted = -self.generator.standard_exponential(change.shape) < change
        particles.put(part, proposed, accepted)
        return np.asarray(accepted.mean(axis=1))

    def _distances(self, away: Floats) -> Floats:
        """Return the squared distances from the center, in units of the fitted spread."""
        standard = away @ np.swapaxes(self.inverse, 1, 2)
        return np.asarray(np.einsum("rni,rni->rn", standard, standard))


def _of_others(values: Floats) -> Floats:
    """Return, for each run, the mean over the other runs; with one run, its own."""
    runs = len(values)
    return (values.sum(axis=0) - values) / (runs - 1) if runs > 1 else values


def _roots(spread: Floats) -> Floats:
    """Return Cholesky factors, one a run; of the diagonal alone where floats leave no more."""
    try:
        return np.asarray(np.linalg.cholesky(spread), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.sqrt(np.einsum("rii->ri", spread))[:, :, np.newaxis] * np.eye(spread.shape[1]))
