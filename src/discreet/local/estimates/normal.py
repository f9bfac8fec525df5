"""Quantiles of the normal law for intervals."""

from __future__ import annotations


def two_sided_normal(rest: float) -> float:
    """Return z with P(|Z| > z) = rest.

    >>> round(two_sided_normal(0.05), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(-ndtri(rest / 2))
