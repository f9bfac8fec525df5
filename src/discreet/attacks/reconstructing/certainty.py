"""What is certain about a column fitted to counts: the least singular value of the queries bounds its errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Floats

_UNIT = 2.0**-52
_FACTOR = 16  # a backward stable eigenvalue is off by a small multiple of the unit times the size times the norm


def least_eigenvalue(gram: ArrayLike) -> float:
    """Return a lower bound of the least eigenvalue of A'A, the square of the least singular value of A.

    It is computed in floating point, less a margin for what a backward stable method can be off by, and never below 0.

    >>> round(least_eigenvalue([[2, 1], [1, 2]]), 9)
    1.0
    """
    from scipy.linalg import eigvalsh

    symmetric = np.asarray(gram, dtype=np.float64)
    least = float(eigvalsh(symmetric, subset_by_index=[0, 0])[0])
    margin = _FACTOR * _UNIT * len(symmetric) * float(np.linalg.norm(symmetric))
    return max(0.0, least - margin)


def certain_fraction(people: int, *, distance: float, eigenvalue: float) -> float | None:
    """Return the frequency of bits that a fitted column has right for certain, or None where nothing is.

    Accuracy. Let A have the rows of the queries and lambda be at most the least eigenvalue of A'A. If the answers that
        an estimate x implies are within D of the true ones, |A x - A s| <= D (Euclidean), then rounding x at 1/2 gets
        at most 4 D^2 / lambda bits wrong.
        Proof: lambda |x - s|^2 <= |A (x - s)|^2 <= D^2, and a bit that is rounded wrongly contributes at least 1/4 to
        |x - s|^2.
    Reference. Kasiviswanathan, Rudelson, Smith, Ullman 2010.

    >>> certain_fraction(100, distance=2.0, eigenvalue=1.0)
    0.84
    """
    if eigenvalue <= 0:
        return None
    wrong = int(min(4 * distance**2 / eigenvalue * (1 + 1e-9), people))
    return None if wrong == people else (people - wrong) / people


def distance_of_projection(queries: int, error: float) -> float:
    """Return D of `certain_fraction` for the exact best fit in squares, over all columns or over those in [0, 1].

    The answers such a fit implies are the point of a closed convex set nearest to those given. The true answers lie in
    that set, and nearest points of two points are no farther apart than the points: D is at most the length of the
    errors, at most E for each answer.

    >>> distance_of_projection(400, 0.5)
    10.0
    """
    return error * float(np.sqrt(queries))


def distance_of_fit(residuals: Floats, error: float) -> float:
    """Return D of `certain_fraction` for any estimate, however it was found: its own residuals, plus the errors.

    >>> distance_of_fit(np.array([3.0, 4.0]), 0.0)
    5.0
    """
    return float(np.linalg.norm(residuals)) + distance_of_projection(len(residuals), error)
