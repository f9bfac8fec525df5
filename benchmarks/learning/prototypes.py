"""Rivals of our classifier in plain floats, with numpy's noise: for comparisons only, none of them is exact.

Three ways to fit the same multinomial logistic model, on the same rows on the unit sphere about a released center:
descent, which is our own rule without its exactness; Newton's method with double noise (Ganesh, Haghifam, Steinke,
Thakurta 2023); and objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011; Iyengar et al. 2019; Redberg, Koskela,
Wang 2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.data import Floats, Split, Table
from benchmarks.learning.side import DELTA, Model, Request

_CONSTANT = 0.2
_RADIUS = 0.7
_CURVATURE = 0.5  # of the softmax loss of one row at most 1 long


def gaussian_mu(epsilon: float, delta: float = DELTA) -> float:
    """Return the mu of Gaussian differential privacy that an epsilon and a delta buy."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(mu: float) -> float:
        tails = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return float(tails - delta)

    return float(brentq(excess, 1e-4, 20.0))


@dataclass(frozen=True)
class Problem:
    """Vectors of norm 1, one-hot classes, the public number of people, mu for the fit, and the center."""

    vectors: Floats
    classes: Floats
    people: int
    mu: float
    signal: float
    center: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the weights: coordinates by classes."""
        return self.vectors.shape[1], self.classes.shape[1]


def problem(table: Table, split: Split, epsilon: float) -> Problem:
    """Release a center and put the rows on the sphere about it."""
    rows, columns = table.unit(split.rows), table.rows.shape[1]
    mu = gaussian_mu(epsilon)
    signal = table.people * mu / math.sqrt((columns + 1) * len(table.classes))
    share = 0.3 if signal < 4 else 0.2 if signal < 30 else 0.1
    center = _center(rows, table.people, mu * math.sqrt(share))
    classes = np.eye(len(table.classes))[split.labels]
    return Problem(_on_sphere(rows, center), classes, table.people, mu * math.sqrt(1 - share), signal, center)


def _center(rows: Floats, people: int, mu: float) -> Floats:
    """Return a noisy mean, shrunk by as much as is noise."""
    radius = _RADIUS * math.sqrt(rows.shape[1])
    clipped = rows * np.minimum(1, radius / np.maximum(np.linalg.norm(rows, axis=1), 1e-12))[:, np.newaxis]
    scale = radius / mu / people
    mean = clipped.sum(axis=0) / people + _normal(rows.shape[1]) * scale
    kept: Floats = mean * max(0.0, 1 - len(mean) * scale**2 / max(float(mean @ mean), 1e-300))
    return kept


def _on_sphere(rows: Floats, center: Floats) -> Floats:
    """Return rows at distance 1 from the center, with a constant beside them, at norm 1."""
    away = rows - center
    away /= np.maximum(np.linalg.norm(away, axis=1), 1e-12)[:, np.newaxis]
    longer = np.column_stack([away, np.full(len(rows), _CONSTANT)])
    return np.asarray(longer / math.sqrt(1 + _CONSTANT**2))


def _normal(*shape: int) -> Floats:
    """Return standard normal numbers, new ones in every run."""
    return np.random.default_rng().normal(size=shape)


def _softmax(scores: Floats) -> Floats:
    """Return probabilities."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _clipped_gradient(given: Problem, weights: Floats, clip: float) -> Floats:
    """Return the sum over rows of gradients, each clipped."""
    errors = _softmax(given.vectors @ weights) - given.classes
    errors *= np.minimum(1, clip / np.maximum(np.linalg.norm(errors, axis=1), 1e-12))[:, np.newaxis]
    return np.asarray(given.vectors.T @ errors)


def descent(given: Problem) -> Floats:
    """Our own rule: steps with momentum, and the mean of the second half of the weights."""
    steps = round(min(max(4 * given.signal**0.7, 5), 200))
    rate = min(max(0.8 * math.sqrt(given.signal), 1.0), 32.0)
    clip = 0.7 if given.signal < 10 else 0.5
    scale = clip * math.sqrt(steps) / given.mu
    weights, velocity, mean = np.zeros(given.shape), np.zeros(given.shape), np.zeros(given.shape)
    for step in range(steps):
        noisy = _clipped_gradient(given, weights, clip) + _normal(*given.shape) * scale
        velocity = 0.9 * velocity + noisy / given.people
        weights = weights - rate * velocity
        if step >= steps // 2:
            mean += weights
    return np.asarray(mean / (steps - steps // 2))


def newton(given: Problem) -> Floats:
    """Newton's method with double noise: on the gradient, and on the step for what the Hessian tells of a row.

    A row adds a matrix between 0 and c = 1/2 to the Hessian A, and A >= r by the ridge r, so that a step for a noisy
    gradient g moves by at most |g| c / (r (r + c)). The ridge is such that this noise is as long as half the step; a
    share of .7 of mu^2 is for the gradients.
    """
    coordinates = given.vectors.shape[1] * given.classes.shape[1]
    steps = 3 if given.signal < 10 else 6
    clip = 0.7 if given.signal < 10 else 0.5
    for_gradient, for_step = given.mu * math.sqrt(0.7 / steps), given.mu * math.sqrt(0.3 / steps)
    ridge = max(1.0, 2 * math.sqrt(coordinates) * _CURVATURE / for_step)
    weights = np.zeros(given.shape)
    for _ in range(steps):
        noisy = _clipped_gradient(given, weights, clip) + _normal(*given.shape) * clip / for_gradient
        hessian = _hessian(given, weights) + ridge * np.eye(coordinates)
        step = np.linalg.solve(hessian, noisy.ravel())
        moved = float(np.linalg.norm(noisy)) * _CURVATURE / (ridge * (ridge + _CURVATURE))
        weights = weights - (step + _normal(coordinates) * moved / for_step).reshape(given.shape)
    return weights


def _hessian(given: Problem, weights: Floats) -> Floats:
    """Return the sum over rows of second derivatives, coordinates by classes in one line."""
    chances = _softmax(given.vectors @ weights)
    size, classes = given.shape
    out = np.zeros((size, classes, size, classes))
    for one in range(classes):
        for other in range(one, classes):
            curved = chances[:, one] * ((one == other) - chances[:, other])
            block = (given.vectors * curved[:, np.newaxis]).T @ given.vectors
            out[:, one, :, other] = out[:, other, :, one] = block
    return out.reshape(size * classes, size * classes)


def objective(given: Problem) -> Floats:
    """Objective perturbation: minimize the loss with a random linear term and a ridge.

    The price counts the linear term alone, as if the ridge and the distance to the true minimum cost nothing: what the
    method could reach at best. The gradient of a row is at most sqrt 2 long, and is not clipped.
    """
    from scipy.optimize import minimize

    ridge = 2 * _CURVATURE / given.mu
    linear = _normal(*given.shape) * math.sqrt(2) / given.mu

    def value(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(given.shape)
        chances = _softmax(given.vectors @ weights)
        loss = -np.log(np.maximum((chances * given.classes).sum(axis=1), 1e-300)).sum()
        slope = given.vectors.T @ (chances - given.classes) + ridge * weights + linear
        return float(loss + ridge / 2 * (weights**2).sum() + (weights * linear).sum()), slope.ravel()

    found = minimize(value, np.zeros(given.shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return np.asarray(found.x.reshape(given.shape))


def model(fit: Any) -> Model:
    """Return a prototype as a model of a side."""

    def answer(request: Request, split: Split) -> NDArray[Any]:
        given = problem(request.data, split, request.epsilon)
        weights = fit(given)
        return np.asarray((_on_sphere(request.data.unit(split.held_rows), given.center) @ weights).argmax(axis=1))

    return answer


PROTOTYPES = {
    "descent in floats": model(descent),
    "Newton, double noise": model(newton),
    "objective perturbation": model(objective),
}
