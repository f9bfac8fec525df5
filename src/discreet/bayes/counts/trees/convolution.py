"""Laws of sums of independent counts: convolution, direct where it is cheap, by Fourier transforms elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DIRECT = 1 << 21  # products of entries; below, the direct sum costs at most about a millisecond
_UNIT = 2.0**-53
_NOISE = 1e-15  # of the largest entry: what a transform may have added to any entry
TRIMMED = 1e-22  # of the mass at either end


@dataclass(frozen=True)
class Message:
    """Masses of consecutive counts that add up to 1, and what they are: m(t) e^(tilt (t - start)), over e^log_scale.

    The tilt is known by whoever made the message. `error` bounds the sum of the absolute errors of the masses, those
    included that were cut off; `rounding` bounds the relative errors that come on top, of every mass.
    """

    start: int
    masses: Floats
    log_scale: float
    error: float = 0.0
    rounding: float = 0.0

    @property
    def stop(self) -> int:
        """One more than the last count."""
        return self.start + len(self.masses)


def normalized(rough: Message, *, tilt: float, trimmed: float = TRIMMED) -> Message:
    """Return a message of masses that need not add up to 1, without its negligible ends.

    `error` is that of the masses as they are. The tilt counts from the start, so that a start which moves moves the
    scale.
    """
    total = float(rough.masses.sum())
    masses = rough.masses / total
    low = int(np.searchsorted(np.cumsum(masses), trimmed, side="right"))
    high = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), trimmed, side="right"))
    scale = rough.log_scale + math.log(total) - tilt * low
    error = rough.error / total + 2 * trimmed
    return Message(rough.start + low, masses[low:high], scale, error, rough.rounding)


def convolution(
    first: Message, second: Message, *, tilt: float, trimmed: float = TRIMMED, direct: bool = False
) -> Message:
    """Return the law of the sum of two independent counts, both tilted by `tilt`; `direct` takes no transform.

    Accuracy. Two laws that are off by e and e' in sum give one that is off by at most e + e' + e e'. Directly, all
        products are positive, so that every entry has a relative error below (m + 2) 2^-53, m entries in the shorter
        one. By transforms an entry is off by at most about 2^-53 log2(N) |x| |y| (norms are Euclidean), which is
        absolute: entries below 1e-15 of the largest are set to 0, as they are nothing but error. A tilt brings those
        that matter to the top, see `sums`.
    Reference. Higham 2002, theorem 24.2, for the error of the transform.
    """
    masses, error, rounding = convolved(first.masses, second.masses, direct=direct)
    rough = Message(
        first.start + second.start,
        masses,
        first.log_scale + second.log_scale,
        first.error + second.error + first.error * second.error + error,
        first.rounding + second.rounding + rounding,
    )
    return normalized(rough, tilt=tilt, trimmed=trimmed)


def convolved(first: Floats, second: Floats, *, direct: bool = False) -> tuple[Floats, float, float]:
    """Return the convolution of two sequences that are not negative, the sum of its errors, and the relative one."""
    short = min(len(first), len(second))
    if direct or len(first) * len(second) <= _DIRECT or short <= 32:
        return np.convolve(first, second), 0.0, (short + 2) * _UNIT
    return _transformed(first, second)


def _transformed(first: Floats, second: Floats) -> tuple[Floats, float, float]:
    """Return the convolution by Fourier transforms."""
    from scipy.fft import irfft, next_fast_len, rfft

    size = len(first) + len(second) - 1
    points = next_fast_len(size, real=True)
    result = irfft(rfft(first, points) * rfft(second, points), points)[:size]
    norms = math.sqrt(float(first @ first) * float(second @ second))
    noise = max(_NOISE * float(result.max()), _UNIT * math.log2(points) * norms)
    result[result < noise] = 0.0
    return result, 2.0 * noise * size, 0.0
