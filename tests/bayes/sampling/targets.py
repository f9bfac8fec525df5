"""Posteriors whose moments and evidence are known."""

from __future__ import annotations

import math

import numpy as np

from discreet.bayes.sampling import Joint


def normal_prior(dimension, width):
    def draw(count, generator):
        return width * generator.normal(size=(count, dimension))

    def density(points):
        return -0.5 * (points**2).sum(axis=1) / width**2 - dimension * math.log(width * math.sqrt(2 * math.pi))

    return draw, density


def gaussian(dimension=5, *, prior=3.0, seed=0):
    """A correlated normal posterior: joint, mean, covariance, ln evidence."""
    root = np.random.default_rng(seed).normal(size=(dimension, dimension))
    noise = root @ root.T + 0.01 * np.eye(dimension)
    precision = np.linalg.inv(noise)
    covariance = np.linalg.inv(precision + np.eye(dimension) / prior**2)
    mean = covariance @ precision @ np.ones(dimension)

    def likelihood(points):
        return -0.5 * np.einsum("ni,ij,nj->n", points - 1, precision, points - 1)

    total = noise + prior**2 * np.eye(dimension)
    evidence = -0.5 * np.ones(dimension) @ np.linalg.solve(total, np.ones(dimension))
    evidence += 0.5 * (np.linalg.slogdet(noise)[1] - np.linalg.slogdet(total)[1])
    return Joint(*normal_prior(dimension, prior), likelihood), mean, covariance, evidence


def two_hills(*, share=0.25, apart=5.0, width=0.5, prior=10.0):
    """Two narrow hills in the plane; the nearer weight is `share`."""

    def likelihood(points):
        one = math.log(share) - 0.5 * ((points - apart) ** 2).sum(axis=1) / width**2
        other = math.log(1 - share) - 0.5 * ((points + apart) ** 2).sum(axis=1) / width**2
        return np.logaddexp(one, other)

    return Joint(*normal_prior(2, prior), likelihood)


def banana():
    """Return x ~ N(0, 2.01^2) nearly, y about x^2 - 3: moments by quadrature over x."""

    def likelihood(points):
        return -0.5 * ((points[:, 0] / 2) ** 2 + (points[:, 1] - points[:, 0] ** 2 + 3) ** 2)

    x = np.linspace(-12, 12, 200_001)
    # y integrates out: N(y; x^2 - 3, 1) against the prior N(0, 100)
    logs = -0.5 * (x / 2) ** 2 - 0.5 * x**2 / 100 - 0.5 * (x**2 - 3) ** 2 / 101
    weights = np.exp(logs - logs.max())
    deviation = math.sqrt((weights * x**2).sum() / weights.sum())
    evidence = (
        logs.max() + math.log(weights.sum() * (x[1] - x[0])) - 0.5 * math.log(101) - 0.5 * math.log(2 * math.pi * 100)
    )
    return Joint(*normal_prior(2, 10.0), likelihood), deviation, evidence


def kinks(dimension=4, rate=20.0):
    """Laplace about 1 in every coordinate, which a wide normal prior hardly changes."""

    def likelihood(points):
        return -rate * np.abs(points - 1).sum(axis=1)

    return Joint(*normal_prior(dimension, 10.0), likelihood)


def hopeless():
    """A hill every quarter in five dimensions, too narrow for any move from one to the next."""
    return Joint(*normal_prior(5, 1.0), lambda points: 300.0 * np.cos(25 * points).sum(axis=1))
