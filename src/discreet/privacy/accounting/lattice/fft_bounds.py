"""Products of powers of discrete Fourier transforms, with a bound on everything that rounding does to them.

Assumption (float-fft). For real vectors of N <= 2^23 doubles, the forward and the inverse transform of `numpy.fft` have
an error of at most 8 * 2^-53 * log2(N) relative to the exact result, in the Euclidean norm; and every entry of the
forward transform is within 8 * 2^-53 * log2(N) times the sum of the vector's magnitudes. Classical analyses of the
radix-2 algorithm with accurate twiddle factors prove bounds of that form with a smaller constant (an entry is a sum
over a tree of log2(N) levels); numpy's mixed-radix code is not covered by a published proof, so the bounds are an
assumption, used with a factor of 4 to spare. Elementary functions of doubles (exp, log, sin, cos, hypot, arctan2,
expm1, log1p) are assumed to be within 4 units in the last place, and are used with a factor of 4 to spare as well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

UNIT = 2.0**-53
ASSUMED_UNITS = 8.0
SLACK = 4.0
ELEMENTARY = 16 * 2.0**-52  # relative error of one elementary function, with the slack
_TINY = 1e-290


def transform_error(size: int) -> float:
    """Return the relative error, in the Euclidean norm, that a transform of this size is allowed."""
    return SLACK * ASSUMED_UNITS * UNIT * max(math.log2(size), 1.0)


class SpectrumProduct:
    """The spectrum of a convolution of many vectors: logarithms and phases add, and so do the bounds on their errors.

    Accuracy. `inverse` returns a vector and a bound on its Euclidean distance from the exact circular convolution.
        Proof: let F be the exact spectrum of one vector v and G the computed one. By the assumption every entry of G is
        within b = transform_error * min(sum of v, sqrt(N) * norm of v) of F. So the product of the F^k is
        within prod (|G| + b)^k - prod |G|^k of that of the G^k, and the latter is evaluated as exp(sum k log |G|) with
        phase sum k arg G: with m vectors the error of an exponent is at most ELEMENTARY + 2 m UNIT times the sum of the
        magnitudes of its terms.
        The inverse transform divides norms by sqrt(N) and adds its own relative error.
    Reference. Higham 2002, chapter 24, for the form of the bound on a transform.

    >>> product = SpectrumProduct(8)
    >>> product.multiply(np.array([0.5, 0.5, 0, 0, 0, 0, 0, 0]), 2)
    >>> values, error = product.inverse()
    >>> bool(np.allclose(values[:4], [0.25, 0.5, 0.25, 0.0])) and error < 1e-12
    True
    """

    def __init__(self, size: int) -> None:
        self.size = size
        bins = size // 2 + 1
        self._log_magnitude = np.zeros(bins)
        self._phase = np.zeros(bins)
        self._excess = np.zeros(bins)  # sum of k log(1 + b/|G|)
        self._terms = np.zeros(bins)  # sum of magnitudes that entered an exponent
        self._kinds = 0

    def multiply(self, vector: Floats, times: int) -> None:
        """Multiply by a power of a vector's spectrum."""
        spectrum = np.fft.rfft(vector, n=self.size)
        size = min(float(np.sum(np.abs(vector))) * (1 + 1e-8), math.sqrt(self.size) * _norm(vector[vector != 0]))
        bound = transform_error(self.size) * size * (1 + 1e-12) + 2 * _TINY
        magnitude = np.maximum(np.abs(spectrum), _TINY)
        logs, phases = np.log(magnitude), np.angle(spectrum)
        self._kinds += 1
        self._log_magnitude += times * logs
        self._phase += times * phases
        self._excess += times * np.log1p(bound / magnitude)
        self._terms += times * (np.abs(logs) + np.abs(phases) + ELEMENTARY)

    def inverse(self) -> tuple[Floats, float]:
        """Return the convolution and a bound on the Euclidean norm of its error, infinite where that is hopeless."""
        exponent_error = (ELEMENTARY + 2 * self._kinds * UNIT) * (self._terms + 4.0)
        highest = self._log_magnitude + self._excess * (1 + ELEMENTARY + 2 * self._kinds * UNIT) + exponent_error
        if not (np.all(highest < 300.0) and np.all(exponent_error < 1.0)):
            return np.zeros(self.size), math.inf
        size = np.exp(np.maximum(self._log_magnitude, -745.0))
        values: Complexes = size * np.exp(1j * self._phase)
        ceiling = np.exp(highest)
        wrong = (
            ceiling * -np.expm1(-self._excess * (1 + ELEMENTARY + 2 * self._kinds * UNIT))
            + ceiling * np.expm1(2 * exponent_error)
            + 1e-300
        )
        error = math.sqrt(2.0 / self.size) * (_norm(wrong) + transform_error(self.size) * (_norm(size) + _norm(wrong)))
        return np.fft.irfft(values, n=self.size), error * (1 + 1e-9)


def _norm(vector: Floats) -> float:
    """Return the Euclidean norm, rounded up; raising tiny entries keeps squares out of the slow subnormal numbers."""
    raised = np.maximum(np.abs(vector), 1e-140)
    return float(np.sqrt(np.sum(raised * raised))) * (1 + 1e-8)
