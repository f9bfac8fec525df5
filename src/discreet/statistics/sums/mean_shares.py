"""The mean as a share of the range, with its interval, from a noisy sum A and a noisy size A + B."""

from __future__ import annotations

from collections.abc import Callable

_ITERATIONS = 60
_FEW = 4.0
Shares = tuple[float, float, float]


def mean_shares(first: float, size: float, quantile: Callable[[float], float]) -> Shares:
    """Return low, value and high of p = A / (A + B), where |A - p (A + B)| is within quantile(p) for the true p.

    Where the size is not well above its noise every share is possible.

    >>> mean_shares(30.0, 100.0, lambda share: 2.0)
    (0.27999..., 0.3, 0.32000...)
    """
    if size <= 0 or size <= _FEW * quantile(0.0):
        return 0.0, _share(first / size) if size > 0 else 0.5, 1.0
    return _end(first, size, -1.0, quantile), _share(first / size), _end(first, size, 1.0, quantile)


def too_small(size: float, reach: float) -> bool:
    """Say whether a size is too small for its noise to say anything."""
    return size <= _FEW * reach


def _end(first: float, size: float, sign: float, quantile: Callable[[float], float]) -> float:
    """Solve |A - p (A + B)| = quantile(p) on one side of the estimate; the map is a contraction for large sizes."""
    share = _share(first / size)
    for _ in range(_ITERATIONS):
        moved = _share((first + sign * quantile(share)) / size)
        close, share = abs(moved - share) < 1e-13, moved
        if close:
            break
    return _share(share + sign * 1e-12)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
