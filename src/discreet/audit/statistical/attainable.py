"""The best that an auditor can expect of some runs: the bound of the best event, known beforehand, from the law."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.audit.statistical.loss_bound import allowed_error, expected_loss_at_least, loss_at_least
from discreet.errors import ParameterError
from discreet.laws import FinitePair, Pair

Floats = npt.NDArray[np.float64]
_SIZES = 300
_CLOSEST, _SPREAD = 24, 400


def best_expected_bound(pair: Pair, draws: int, confidence: float = 0.95, *, delta: float = 0.0) -> float:
    """Return the largest mean, over all events, of the lower confidence bound from draws / 2 runs on each input.

    The mean is over the two binomial counts, and computed by summation. By the lemma of Neyman and Pearson no event is
    shown more often by P, among those shown by Q as seldom, than one of large likelihood ratios; only those are tried:
    all of them where the pair has finitely many atoms, and a few hundred sizes of the best test otherwise.

    Accuracy. An auditor who learns the event from some of the runs has fewer left and cannot expect more, but for the
        choice between the two directions, for which `pair.reversed()` is to be tried too.

    >>> from discreet.laws import Finite
    >>> from fractions import Fraction
    >>> coin = Finite([0, 1], [Fraction(3, 4), Fraction(1, 4)])
    >>> other = Finite([0, 1], [Fraction(1, 4), Fraction(3, 4)])
    >>> round(best_expected_bound(coin.pair(other), draws=20_000), 3)  # of ln 3 = 1.099
    1.053
    """
    if draws < 2:
        raise ParameterError("a bound needs at least one draw on each input", parameter="draws")
    rest, runs = allowed_error(confidence), draws // 2
    powers, sizes = _events(pair)
    rough = loss_at_least(powers * runs, runs, sizes * runs, runs, delta=delta, rest=rest)
    # the bound at the mean counts is close to the mean bound: only the most promising events are summed over, or events
    # of all sizes where draws are too few for any mean counts to have a bound
    promising = np.argsort(-rough, kind="stable")[:_CLOSEST]
    if not np.any(rough):
        promising = np.unique(np.linspace(0, len(sizes) - 1, _SPREAD).astype(np.int64))
    return max(
        expected_loss_at_least(float(powers[place]), float(sizes[place]), runs, delta=delta, rest=rest)
        for place in promising
    )


def _events(pair: Pair) -> tuple[Floats, Floats]:
    """Return the chances on both inputs of events of the largest likelihood ratios."""
    if isinstance(pair, FinitePair):
        p, q = (pair.p_low + pair.p_high) / 2, (pair.q_low + pair.q_high) / 2
        with np.errstate(divide="ignore"):
            order = np.argsort(-(np.log(p) - np.log(q)), kind="stable")
        return np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)
    sizes = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, _SIZES), 1.0 - np.geomspace(0.5, 1e-6, _SIZES // 4)])
    powers = np.array([1.0 - pair.tradeoff(float(size)).estimate for size in sizes])
    return np.clip(powers, 0.0, 1.0), sizes
