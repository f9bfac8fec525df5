"""From two counts to a lower confidence bound on the privacy loss, and the most that any counts could give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ParameterError
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most

Floats = npt.NDArray[np.float64]


def loss_at_least(
    seen: npt.ArrayLike, draws: npt.ArrayLike, other: npt.ArrayLike, others: npt.ArrayLike, *, delta: float, rest: float
) -> Floats:
    """Bound the loss at delta from below by an event seen `seen` of `draws` and, on the neighbor, `other` of `others`.

    Accuracy. With probability at most `rest` the bound exceeds the least epsilon with P(S) <= e^epsilon Q(S) + delta.
        Proof: that epsilon is at least ln((P(S) - delta) / Q(S)). Each of the two bounds, P(S) from below and Q(S) from
        above, fails with probability at most rest / 2; where both hold the bound's ratio is at most the true one.

    >>> round(float(loss_at_least(300, 1000, 100, 1000, delta=0.0, rest=0.05)), 3)
    0.815
    """
    low = chance_at_least(seen, draws, rest / 2) - delta
    high = chance_at_most(other, others, rest / 2)
    return np.where(low > 0.0, np.maximum(np.log(np.maximum(low, 1e-300) / high), 0.0), 0.0)


def cap(draws: int, confidence: float = 0.95, *, delta: float = 0.0, suite: int = 1) -> float:
    """Return the largest epsilon that `draws` test draws on each input can refute, if every one of them tells.

    An event seen in all draws on one input and in none on its neighbor gives the largest bound there is; a guarantee
    above it can only pass, however wrong it is. `suite` audits that are to be right together have less each.

    >>> [round(cap(10**k), 2) for k in (2, 3, 4, 5)]
    [3.28, 5.6, 7.9, 10.21]
    """
    if draws < 1 or suite < 1:
        raise ParameterError("a cap is for at least one draw on each input and one audit", parameter="draws")
    return largest_bound(draws, delta=delta, rest=allowed_error(confidence, suite))


def largest_bound(draws: int, *, delta: float, rest: float) -> float:
    """Return the bound of an event seen in all draws on one input and in none on its neighbor."""
    return float(loss_at_least(draws, draws, 0, draws, delta=delta, rest=rest))


def allowed_error(confidence: float, suite: int = 1) -> float:
    """Return the probability of a false alarm that is left to one of `suite` audits."""
    if isinstance(confidence, bool) or not isinstance(confidence, float | int | np.floating):
        raise ParameterError("confidence must be a number strictly between 0 and 1", parameter="confidence")
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must lie strictly between 0 and 1, got {confidence}", parameter="confidence")
    if isinstance(suite, bool) or not isinstance(suite, int) or suite < 1:
        raise ParameterError("suite= is the number of audits that are to be right together", parameter="suite")
    return (1.0 - confidence) / suite


def expected_loss_at_least(
    chance: float, other: float, draws: int, *, delta: float, rest: float, others: int | None = None
) -> float:
    """Return the mean of `loss_at_least` over the two counts, for an event of these chances: sums, nothing sampled."""
    counts, weights = _binomial(chance, draws)
    other_counts, other_weights = _binomial(other, draws if others is None else others)
    low = chance_at_least(counts, draws, rest / 2) - delta
    high = chance_at_most(other_counts, draws if others is None else others, rest / 2)
    with np.errstate(divide="ignore"):
        bounds = np.log(np.maximum(low, 0.0))[:, None] - np.log(high)[None, :]
    return float(weights @ np.maximum(bounds, 0.0) @ other_weights)


def _binomial(chance: float, draws: int, *, most: int = 200) -> tuple[Any, Floats]:
    """Return counts and weights of a binomial law; wide ones on a grid of counts fine enough for a smooth mean."""
    from scipy.special import bdtr

    middle, spread = draws * chance, 8.0 * np.sqrt(draws * chance * (1.0 - chance)) + 12.0
    low, high = max(int(middle - spread), 0), min(int(middle + spread) + 1, draws)
    step = max((high - low) // most, 1)
    ends = np.append(np.arange(low, high, step, dtype=np.float64), float(high))
    # a cell of counts up to each end, represented by its middle
    below = np.concatenate([[0.0], np.where(ends >= draws, 1.0, bdtr(ends, draws, min(max(chance, 0.0), 1.0)))])
    weights = np.diff(below)
    starts = np.concatenate([[max(low, 0)], ends[:-1] + 1.0])
    return (starts + ends) / 2.0, weights / weights.sum()
