"""How far off a release can be, known without the data: from the noise of its answers, or from DualQuery's theorem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy import PureDP
from discreet.privacy.numbers import probability
from discreet.synthesis.methods.dual_query import Weights, bound_for

if TYPE_CHECKING:
    from discreet.synthesis.base import SyntheticRelease


@dataclass(frozen=True, slots=True)
class Prediction:
    """Errors that a release is expected to have, and where that is known from; None where nothing is.

    `maximum` holds for all answers at once with the stated confidence.
    """

    average: float | None
    root_mean_square: float | None
    maximum: float | None
    confidence: float
    source: str


def largest_noise(deviations: NDArray[np.float64], *, pure: bool, confidence: float = 0.95) -> float:
    """Return what no noise of the given standard deviations exceeds, all together, with the confidence asked for.

    Accuracy. Let every noise be a weighted sum of independent Gaussian noises (of Laplace noises, if `pure`), however
        they depend on each other. With d the largest deviation, k their number and u = ln(2k/(1 - confidence)), none
        exceeds d sqrt(2u); for Laplace noise none exceeds d/sqrt(2) times the t with sqrt(1 + t^2) - 1 -
        ln((1 + sqrt(1 + t^2))/2) = u.
        Proof: Chernoff's bound. A sum of Gaussians is one. ln E exp(l Y) of a sum of Laplace noises with scales b_i is
        -sum of ln(1 - l^2 b_i^2) <= -ln(1 - l^2 b^2), b^2 the sum of b_i^2, half of the variance, as the product of
        1 - y_i is at least 1 minus their sum; l = (sqrt(1 + t^2) - 1)/(t b) gives P(Y > t b) <= exp(-l t b)/(1 - l^2
        b^2), which is the equation. Twice that for both signs, k times for all. Discrete noise of scale b is below the
        real one in E exp(l Y), for all l < 1/b (of deviation b, for all l, where Gaussian): the bound holds for it with
        the deviations of the real noises. Its own are smaller, by a share of at most 1/(24 b^2) for Laplace noise: with
        those the bound is low by that share, which matters where b is below 1 and a noise is mostly 0. Rounded Gaussian
        noise R of scale b >= 1 has E exp(l R) <= (1 + 6e-9) exp(l^2 (b^2 + 1/12)/2), b^2 + 1/12 its variance up to
        1e-8, so that the chance of a sum of j of them is at most (1 + 6e-9)^j times as large: weighing by exp(l X)
        makes exp(l^2 b^2/2) times the mean of the periodic exp(l (round(X) - X)), whose Fourier coefficients are at
        most the zeroth, sinh(l/2)/(l/2) <= exp(l^2/24), and count exp(-2 pi^2 m^2 b^2) each, m their numbers.

    >>> round(largest_noise(np.full(1000, 0.01), pure=False), 4)
    0.046
    """
    if len(deviations) == 0:
        raise ParameterError("there are no deviations", parameter="deviations")
    missed = 1 - float(probability(confidence, name="confidence"))
    if missed <= 0:
        raise ParameterError("confidence must be less than 1", parameter="confidence")
    level = math.log(2 * len(deviations) / missed)
    widest = float(np.max(deviations))
    return widest * (_laplace_tail(level) / math.sqrt(2) if pure else math.sqrt(2 * level))


def predict(release: SyntheticRelease, *, confidence: float = 0.95) -> Prediction | None:
    """Return what is known about the errors of a release from what is public, or None.

    The theorem of DualQuery is about records that count alike: for other weights nothing is known. It is unconditional
    where the gap of every round is; of gaps in some of the rounds nothing follows for the others.
    """
    if release.deviations is not None:
        spread = release.deviations
        pure = isinstance(release.guarantee, PureDP)
        root = float(np.sqrt(np.mean(np.square(spread))))
        most = largest_noise(spread, pure=pure, confidence=confidence)
        return Prediction(float(np.mean(spread)), root, most, confidence, "the noise of every answer, in closed form")
    plan = release.plan
    if not {"eta", "rounds", "draws", "weights"} <= set(plan) or plan["weights"] != Weights.EQUAL.value:
        return None
    gaps = [share for _, share in release.evidence.get("gaps", ())]
    certified = len(gaps) == plan["rounds"]
    gap = sum(gaps) / len(gaps) if certified else 0
    bound = bound_for(release.workload, plan["eta"], plan["rounds"], plan["draws"], gap, confidence)
    words = "the accuracy theorem of DualQuery, for a table of the stated number of people"
    words += "" if certified else ", if every record was the best one"
    return Prediction(None, None, min(bound, 1.0), confidence, words)


def _laplace_tail(level: float) -> float:
    """Return the t at which the Laplace bound of `largest_noise` reaches the level."""

    def reached(t: float) -> float:
        root = math.sqrt(1 + t * t)
        return root - 1 - math.log((1 + root) / 2)

    low, high = 0.0, 1.0
    while reached(high) < level:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < level else (low, middle)
    return high
