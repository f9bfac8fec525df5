"""Sums of successive steps mixed by public integers: how far one person moves them, and what noise is left at last.

The release of step t is u_t = k_0 x_t + k_1 x_(t-1) + ... plus normal noise, with integers k_0 >= k_1 >= ... >= 0: in
matrix form u = K x + z, K lower triangular and constant along diagonals. What people use is K^-1 u = x + K^-1 z, whose
noise is correlated so that it cancels in sums over steps.

Theorem (worst pattern). Let a person take part in steps at least b apart, at most m times, moving x_t there by vectors
of length at most 1, each chosen in view of what was released before. Then u moves by at most |K (e_0 + e_b + e_2b +
...)| in total, the first m terms with an index below the number of steps; and the release is dominated by one Gaussian
release with this sensitivity.
    Proof: (pattern) let the person take part in steps t_1 < t_2 < ... with vectors v_i. The square of the total move is
    the sum over i, j of <K e_(t_i), K e_(t_j)> <v_i, v_j>, at most the sum of <K e_(t_i), K e_(t_j)> because no entry
    of K is negative. For s <= t, <K e_s, K e_t> is the sum of k_(r+t-s) k_r over r < steps - t: since the k fall, it
    grows when t - s falls, and when t falls with t - s fixed. Counted from i = 0, t_i >= i b and t_j - t_i >= (j - i)
    b. So every term is at most that of the pattern 0, b, 2b, ..., and further participations add terms that are not
    negative.
    (adaptive) given the past, step t's release moves by some m_t, and the squares of all m_t add up to at most the
    square S^2 just bounded, on every path. A dummy release at the end that moves by what is left of S^2 only helps the
    adversary. Then the log-likelihood ratio is a sum of normal steps whose variances add up to S^2 exactly, whatever
    the path: with Gaussian noise, its law is that of one release of sensitivity S (the Gaussian filter,
    `discreet.privacy.adaptive`).

Reference. Denisov, McMahan, Rush, Smith, Thakurta 2022; Choquette-Choo et al. 2023; Kalinin, Lampert 2024.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def squared_sensitivity(coefficients: Sequence[int], steps: int, *, separation: int, most: int) -> int:
    """Return the square of how far a person moves all releases together, exactly.

    >>> squared_sensitivity((2, 1), 4, separation=2, most=2)  # columns 2, 1 and 2, 1
    10
    >>> squared_sensitivity((2, 1), 3, separation=1, most=3)  # 2, 3, 3
    22
    """
    rows = -(-steps // separation)
    column = np.zeros(rows * separation, dtype=np.int64)
    column[: min(len(coefficients), steps)] = coefficients[:steps]
    moved = np.cumsum(column.reshape(rows, separation), axis=0)
    if most < rows:
        moved[most:] = moved[most:] - moved[:-most]
    return sum(one * one for one in moved.reshape(-1)[:steps].tolist())


def sensitivity_ratio(coefficients: Sequence[int], steps: int, *, separation: int, most: int) -> Fraction:
    """Return the square of that move over the square of what one participation moves, |k|^2.

    >>> sensitivity_ratio((2, 1), 4, separation=2, most=2)
    Fraction(2, 1)
    """
    total = squared_sensitivity(coefficients, steps, separation=separation, most=most)
    return Fraction(total, sum(one * one for one in coefficients))


def prefix_error(coefficients: Sequence[int], steps: int) -> float:
    """Return the root mean square, over steps, of the noise in the sum of all sums released so far, at scale 1.

    It is in units of what one participation moves; at another scale it is as many times larger. A public formula by
    which kinds of noise are compared: steps of descent add up what is released.

    Accuracy. K^-1 z summed up to step t has the coefficients of 1/((1 - x) k(x)) up to x^t, times the scale |k|; the
        inverse power series is computed by Newton's steps in floats.

    >>> prefix_error((1,), 3)  # sqrt of the mean of 1, 2, 3
    1.4142135623730...
    """
    summed = np.cumsum(_noise_of_steps(coefficients, steps))
    return math.sqrt(float(np.mean(np.cumsum(summed**2))))


def step_error(coefficients: Sequence[int], steps: int) -> float:
    """Return the root mean square, over steps, of the noise in the sum of one step, at scale 1.

    >>> step_error((1,), 3)
    1.0
    """
    return math.sqrt(float(np.mean(np.cumsum(_noise_of_steps(coefficients, steps) ** 2))))


def _noise_of_steps(coefficients: Sequence[int], steps: int) -> Floats:
    """Return what noise of this and of earlier steps adds to the sum of one step, at scale 1."""
    norm = math.sqrt(sum(one * one for one in coefficients))
    return inverse_series(np.array(coefficients[:steps], dtype=np.float64) / norm, steps)


def inverse_series(series: Floats, length: int) -> Floats:
    """Return the first coefficients of 1/series, by Newton's steps y <- y (2 - series y) of doubling length.

    >>> inverse_series(np.array([1.0, -1.0]), 3)
    array([1., 1., 1.])
    """
    found, known = np.array([1 / series[0]]), 1
    while known < length:
        known = min(2 * known, length)
        error = -_product(series[:known], found, known)
        error[0] += 2.0
        found = _product(found, error, known)
    return found


def _product(left: Floats, right: Floats, length: int) -> Floats:
    """Return the first coefficients of a product."""
    if min(len(left), len(right)) <= 64:
        product = np.convolve(left, right)[:length]
    else:
        size = 1 << (len(left) + len(right) - 1).bit_length()
        product = np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)[:length]
    return np.concatenate([product, np.zeros(length - len(product))])
