"""Exact draws of discrete Gaussian noise without preparation: discrete Laplace proposals and one exact coin each.

With t = floor(sigma) + 1 and Y discrete Laplace of scale t, accepting Y with probability exp(-(|Y| - sigma^2 / t)^2 /
(2 sigma^2)) leaves P(Y = y) proportional to exp(-|y|/t - (|y| - sigma^2/t)^2 / (2 sigma^2)), which is exp(-y^2 / (2
sigma^2)) up to a constant. About 7 of 10 proposals are accepted.

Exactness. The coin is U < p with p = exp(-e). u is the first 63 bits of U as a float and p the float of exp(-e); the
true U and p are within 2^-36 of them: U - u is at most 2^-53; |Y| and sigma^2 / t are each off by a relative 2^-53, so
the float e is off by at most 2^-51 (| |Y| - sigma^2 / t | / t + e) + 2^-100, and either term times exp(-e) stays below
2^-50; exponents above 64 are cut there, where p < 2^-92; exp adds a relative 2^-40 (assumption float-log-exp, with its
slack). Where |u - p| > 2^-36 the coin is decided; elsewhere it is tossed in ball arithmetic on the exact rational e,
keeping the bits of U already drawn.
Reference. Canonne, Kamath, Steinke 2020 (the proposal and its acceptance probability).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws.samplers.laplace import LaplaceSampler
from discreet.randomness.bernoulli import bernoulli_exp, exp_scaled
from discreet.randomness.keystream import words
from discreet.randomness.rigour import uniform_is_below

_SHARE_ACCEPTED = 0.6
_FLOATS_SUFFICE = Fraction(1, 1 << 100)


class GaussianRejection:
    """Draws discrete Gaussian noise of a rational sigma by rejection."""

    def __init__(self, sigma: Fraction) -> None:
        """Prepare the proposal."""
        self._variance = sigma * sigma
        self._proposal_scale = int(sigma) + 1
        self._proposal = LaplaceSampler(Fraction(self._proposal_scale))
        self._peak = self._variance / self._proposal_scale
        self._exact = sigma < _FLOATS_SUFFICE
        self.bound = 2.0**-36

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws."""
        kept: list[NDArray[Any]] = []
        missing = count
        while missing > 0:
            proposals = self._proposal.draw(int(missing / _SHARE_ACCEPTED) + 8)
            exact = self._exact or proposals.dtype == object
            accepted = self._accepted_integers(proposals) if exact else self._accepted(proposals)
            kept.append(accepted[:missing])
            missing -= len(kept[-1])
        return np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)

    def _accepted(self, proposals: NDArray[Any]) -> NDArray[np.int64]:
        """Return the proposals whose coin is heads."""
        distance = np.abs(proposals).astype(np.float64) - float(self._peak)
        exponent = np.minimum(distance * distance * (0.5 / float(self._variance)), 64.0)
        draws = words(proposals.size)
        margin = np.exp(-exponent) - (draws >> np.uint64(1)).view(np.int64) * 2.0**-63
        heads = margin > 0.0
        for index in np.flatnonzero(np.abs(margin) <= self.bound):
            exact = self._exponent(int(proposals[index]))
            heads[index] = uniform_is_below(int(draws[index]), 64, partial(exp_scaled, exact))
        result: NDArray[np.int64] = proposals[heads]
        return result

    def _accepted_integers(self, proposals: NDArray[Any]) -> NDArray[np.object_]:
        """Return the accepted proposals among Python integers of any size."""
        heads = np.array([bernoulli_exp(self._exponent(int(value))) for value in proposals], dtype=np.bool_)
        result: NDArray[np.object_] = proposals[heads].astype(object)
        return result

    def _exponent(self, value: int) -> Fraction:
        """Return the exact exponent of the acceptance probability."""
        return (abs(value) - self._peak) ** 2 / (2 * self._variance)
