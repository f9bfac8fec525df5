"""What the contour engine knows of a group of releases: moments of their losses on the real line and beside it.

For a loss L with law P write M(s) = E[e^(s L); L finite], K = ln M. Tilting P by e^(c L) gives a law with
characteristic function phi(t) = M(c + i t)/M(c). Independent losses add, so K and ln phi add: a `Factor` is a group of
releases of one family, each with its multiplicity, that returns those sums together with bounds on their errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.accounting.floats import Complexes, Floats

Indices = NDArray[np.intp]
_WITNESSES = 64
_CLEAR = -50.0


class Unsuitable(Exception):
    """The contour would need too much work here: another engine must answer."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """ln Phi at nodes t (summed over releases), a bound on its absolute error, and a bound on ln |Phi| from above."""

    log: Complexes
    error: Floats
    ceiling: Floats

    def __add__(self, other: Spectrum) -> Spectrum:
        """Multiply two characteristic functions."""
        return Spectrum(self.log + other.log, self.error + other.error, self.ceiling + other.ceiling)


class Factor(ABC):
    """A group of releases of one family; `counts` holds how often each occurs."""

    counts: Floats
    log_finite: tuple[float, float] = (0.0, 0.0)
    """Bounds on the sum of counts * ln P(L finite): 0 where no loss is infinite."""

    @abstractmethod
    def log_moment(self, order: float) -> tuple[float, float]:
        """Return the sum of counts * K(order) for a real order > 0, and a bound on its error."""

    @abstractmethod
    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Return phi at the nodes for each release (rows), and bounds on the absolute errors; tilted by `order`."""

    @abstractmethod
    def variances(self, order: float) -> Floats:
        """Return upper bounds on the variances of the tilted losses, one for each release."""

    def far(self, order: float, start: float) -> float:  # noqa: ARG002  for families whose phi decays
        """Return an upper bound on ln |Phi(t)| for all t >= start."""
        return 0.0

    @property
    def lattice(self) -> tuple[float, float, float] | None:
        """Offset and step if all losses of one release lie on offset + step * integers, and how far off at most."""
        return None

    def spectrum(self, order: float, nodes: Floats) -> Spectrum:
        """Return the sum over releases of counts * ln phi at the nodes."""
        values, errors = self.values(order, nodes)
        return combined(values, errors, self.counts)

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:
        """Return upper bounds on ln |Phi| over each of several intervals of t.

        |phi|^2 = E cos(t D), with D the difference of two independent tilted losses; its derivative in t is at most
        min(E|D|, t E D^2) <= min(sqrt(2 v), 2 v t), v the variance. So |phi|^2 on an interval is at most its value at
        the middle plus half the length times that. Releases left out are bounded by |phi| <= 1.
        """
        spreads = self.variances(order)
        ranked = np.argsort(-self.counts * spreads)
        bounds = self._interval_bounds(order, starts, ends, ranked[:_WITNESSES])
        unclear = bounds > _CLEAR
        if len(ranked) > _WITNESSES and np.any(unclear):
            bounds[unclear] += self._interval_bounds(order, starts[unclear], ends[unclear], ranked[_WITNESSES:])
        return bounds

    def _interval_bounds(self, order: float, starts: Floats, ends: Floats, chosen: Indices) -> Floats:
        """Bound ln |Phi| over intervals for some of the releases."""
        part = self.restricted(chosen)
        spreads = part.variances(order)[:, None]
        values, errors = part.values(order, (starts + ends) / 2)
        slope = np.minimum(np.sqrt(2 * spreads), 2 * spreads * ends)
        squares = (np.abs(values) + errors) ** 2 + slope * ((ends - starts) / 2)
        logs = np.log(np.clip(squares * (1 + 1e-14), 1e-300, 1.0)) / 2
        return np.asarray(part.counts @ logs)

    def restricted(self, chosen: Indices) -> Factor:  # noqa: ARG002  for families of several releases
        """Return the factor of some of the releases; a single one is always all of it."""
        return self


def combined(values: Complexes, errors: Floats, counts: Floats) -> Spectrum:
    """Sum counts * ln phi over releases; where phi is not known to be away from 0 the error is infinite."""
    sizes = np.abs(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(errors < sizes / 2, errors / sizes, np.inf)
        logs = np.log(np.where(sizes > 0, values, 1e-300))
        # |ln(1 + z)| <= 2|z| for |z| <= 1/2; the last term is for the logarithm, the product and the sum over releases
        error = counts @ (2 * relative + 2.0**-52 * (4 + len(counts)) * (1 + np.abs(logs)))
        ceiling = counts @ np.log(np.minimum(sizes + errors, 1.0) * (1 - 1e-16) + 1e-300)
    return Spectrum(np.asarray(counts @ logs), np.asarray(error), np.asarray(ceiling) + 1e-12)
