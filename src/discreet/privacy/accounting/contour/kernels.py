"""How the moments on a line turn into delta: one weight for losses anywhere, one for losses on a lattice."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.privacy.accounting.floats import UNIT, Complexes, Floats


class Kernel(ABC):
    """A weight W with delta = e^scale (h / 2 pi) times the sum over nodes t of Phi(t) W(t), up to aliases."""

    limit: float = math.inf
    """The largest t that counts: half a period when Phi is periodic."""

    @abstractmethod
    def scale(self, order: float, epsilon: float) -> tuple[float, float]:
        """Return the logarithm of the factor in front, K(order) left out, and a bound on its error."""

    @abstractmethod
    def weights(self, order: float, nodes: Floats, epsilon: float) -> tuple[Complexes, Floats]:
        """Return W at the nodes, and bounds on its errors."""

    @abstractmethod
    def largest(self, order: float, nodes: Floats, epsilon: float) -> Floats:
        """Return bounds on |W| that do not grow with t."""


@dataclass(frozen=True, slots=True)
class LineKernel(Kernel):
    """W(t) = e^(-i t epsilon)/(s (s + 1)), s = c + i t: the two-sided Laplace transform of (1 - e^-x) for x > 0.

    Proof of the identity: for c > 0 the integral over x > 0 of e^(-s x)(1 - e^-x) is 1/s - 1/(s+1) = 1/(s (s+1));
    invert it at x = L - epsilon and take the mean over L.
    """

    def scale(self, order: float, epsilon: float) -> tuple[float, float]:
        """Return -c epsilon."""
        return -order * epsilon, UNIT * abs(order * epsilon)

    def weights(self, order: float, nodes: Floats, epsilon: float) -> tuple[Complexes, Floats]:
        """Turn by -t epsilon and divide by s (s + 1)."""
        s = np.asarray(order + 1j * nodes, dtype=np.complex128)
        weights = np.exp(-1j * (nodes * epsilon)) / (s * (s + 1))
        return weights, UNIT * np.abs(weights) * (4 + np.abs(nodes * epsilon))

    def largest(self, order: float, nodes: Floats, epsilon: float) -> Floats:  # noqa: ARG002  the same at every level
        """|s| and |s + 1| grow with t."""
        return np.asarray((1 + UNIT) / np.hypot(order, nodes) / np.hypot(order + 1, nodes))


@dataclass(frozen=True, slots=True)
class LatticeKernel(Kernel):
    """The weight for losses on start + step * integers: delta is a sum over the lattice points above epsilon.

    With l the first of them, the sum over l + j step of e^(-s (l + j step)) (1 - e^(epsilon - l - j step)) is e^(-s l)
    (1/(1 - e^(-s step)) - e^(epsilon - l)/(1 - e^(-(s+1) step))): geometric series. Inverting over one period of t is
    exact, and a finite sum of equally spaced nodes is a sum over lattice points a window apart: aliases again.
    """

    start: float
    step: float

    @property
    def limit(self) -> float:  # type: ignore[override]
        """Half a period."""
        return math.pi / self.step

    def _first(self, epsilon: float) -> float:
        """Return the first lattice point at or above epsilon (a point within a rounding of it counts for nothing)."""
        return self.start + self.step * math.ceil((epsilon - self.start) / self.step)

    def scale(self, order: float, epsilon: float) -> tuple[float, float]:
        """Return -c l."""
        first = self._first(epsilon)
        return -order * first, UNIT * abs(order) * (abs(first) + abs(self.start))

    def weights(self, order: float, nodes: Floats, epsilon: float) -> tuple[Complexes, Floats]:
        """Turn by -t l, times the difference of the two geometric series."""
        first = self._first(epsilon)
        s = np.asarray(order + 1j * nodes, dtype=np.complex128)
        one = self.step * _series(s, self.step)
        two = self.step * math.exp(min(epsilon - first, 0.0)) * _series(s + 1, self.step)
        turn = np.exp(-1j * (nodes * first))
        sizes = np.abs(one) + np.abs(two)
        return turn * (one - two), UNIT * sizes * (6 + np.abs(nodes) * (abs(first) + abs(self.start)))

    def largest(self, order: float, nodes: Floats, epsilon: float) -> Floats:  # noqa: ARG002  the same at every level
        """Each denominator's size grows with t up to half a period."""
        s = np.asarray(order + 1j * nodes, dtype=np.complex128)
        sizes = self.step * np.abs(_series(s, self.step)) + self.step * np.abs(_series(s + 1, self.step))
        return np.asarray(sizes * (1 + 16 * UNIT))


def _series(s: Complexes, step: float) -> Complexes:
    """Return 1/(1 - e^(-s step)) without cancellation or overflow, for real parts of either sign (not both at once)."""
    right = bool(s.real[0] > 0)
    real, turn = -step * np.abs(s.real), -step * s.imag if right else step * s.imag
    half = np.sin(turn / 2)
    growth = np.exp(real)
    less = np.expm1(real) - 2 * growth * half * half + 1j * (growth * np.sin(turn))
    # to the left of 0 it is e^z/(e^z - 1) with z = s step
    return np.asarray(-1 / less if right else growth * (np.cos(turn) + 1j * np.sin(turn)) / less)
