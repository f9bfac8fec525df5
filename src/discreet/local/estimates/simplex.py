"""The distribution nearest to noisy shares: Euclidean projection on the simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError


def onto_simplex(shares: ArrayLike) -> NDArray[np.float64]:
    """Return the non-negative numbers with sum 1 that are nearest to the given ones: subtract a constant, cut at 0.

    Accuracy. No distribution is nearer in the Euclidean distance, and the result is nearer to every distribution,
        the true one too, than the given shares are.
        Proof: let u be the shares in falling order, and c the k of them with k u_k > u_1 + ... + u_k - 1; such k form
        a run from 1, since u_k (k - 1) - (u_1 + ... + u_(k-1)) falls with k. For the last k put t = (u_1 + ... + u_k
        - 1) / k, so that u_(k+1) <= t < u_k and w = max(v - t, 0) has sum 1. For any distribution x the products
        (v_i - w_i)(x_i - w_i) equal t (x_i - w_i) where w_i > 0 and are at most t x_i = t (x_i - w_i) elsewhere,
        because there v_i <= t; their sum is at most t (1 - 1) = 0. So |v - x|^2 >= |v - w|^2 + |w - x|^2.
    Cost. One sort.
    Reference. Held, Wolfe, Crowder 1974; for noisy shares: Wang et al. 2020 (Norm-Sub).

    The result is biased: what is small is cut, and the constant is paid by the large.

    >>> onto_simplex([0.7, 0.5, -0.1]).round(6).tolist()
    [0.6, 0.4, 0.0]
    """
    values = np.asarray(shares, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ParameterError("shares are a column of finite numbers, at least one", parameter="shares")
    falling = np.sort(values)[::-1]
    # centred first: sums of numbers far from 1 / length would lose digits
    top = falling[0]
    excess = np.cumsum(falling - top) - 1.0
    counts = np.arange(1, values.size + 1)
    last = int(np.flatnonzero(counts * (falling - top) > excess)[-1])
    projected = np.maximum(values - top - excess[last] / (last + 1), 0.0)
    return np.asarray(projected / projected.sum())
