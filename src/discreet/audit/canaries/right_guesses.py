"""How many right guesses about canaries a guarantee allows.

An (epsilon, delta) guarantee bounds them by a binomial tail and what delta adds to it, a whole trade-off curve by a
recursion from the top count downwards.

The game. Each of m canaries is put into the data by its own fair coin. Somebody who sees the output, and nothing else
of the coins, says 'in' or 'out' about r of them and nothing about the others; V of the r guesses are right. One output
holds m experiments, so one run of a mechanism is enough to refute a guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.laws.number import round_up
from discreet.privacy import ApproxDP, GaussianDP, Guarantee, PrivacyLoss, PureDP

Points = Sequence[tuple[float, float]]
_DOWN = 1.0 - 2.0**-50
_LINES = 64
_LEAST_DELTA = 1e-12
_WIDEST = 60.0
_LEAST_CHANCE = 1e-18
_HALVINGS = 26
Floats = npt.NDArray[np.float64]
_SLACK = 1e-9  # relative; covers the rounding of beta functions for up to a million canaries
_ROUNDING = 3e-14  # relative, for each trial: logarithms of factorials grow like n ln n, and their errors with them
_LEVELS, _DEVIATIONS = 160, 14


def implied_points(guarantee: Guarantee | PrivacyLoss) -> Points:
    """Return points (epsilon, delta) that a guarantee implies: its own if it is one, else a grid along its curve."""
    if isinstance(guarantee, PureDP | ApproxDP):
        delta = round_up(Fraction(guarantee.delta)) if isinstance(guarantee, ApproxDP) else 0.0
        return ((round_up(Fraction(guarantee.epsilon)), min(delta, 1.0)),)
    loss = guarantee if isinstance(guarantee, PrivacyLoss) else guarantee.loss
    reach = min(_reach(guarantee, loss), _WIDEST)
    levels = [reach * step / _LINES for step in range(_LINES + 1)]
    return tuple((level, min(loss.delta(level).upper, 1.0)) for level in levels)


def _reach(guarantee: Guarantee | PrivacyLoss, loss: PrivacyLoss) -> float:
    """Return an epsilon beyond which the curve hardly falls."""
    if isinstance(guarantee, GaussianDP):
        return float(guarantee.mu) * (float(guarantee.mu) / 2 + 8)
    return min(loss.epsilon(_LEAST_DELTA).upper, loss.max_loss().upper)


@dataclass(frozen=True)
class CurveBelow:
    """Lines below a(x) = f(1 - x), where f is the trade-off curve that points (epsilon, delta) imply.

    Each point gives f(1 - x) >= e^-epsilon (x - delta) and f(1 - x) >= 1 - delta - e^epsilon (1 - x). A line is kept as
    its slope, rounded down, and its zero, rounded up; only those that are highest somewhere are kept, the flattest
    first.
    """

    slopes: tuple[float, ...]
    zeros: tuple[float, ...]

    @classmethod
    def through(cls, points: Iterable[tuple[float, float]]) -> CurveBelow:
        """Return the lines of some points."""
        lines: list[tuple[float, float]] = []
        for epsilon, delta in points:
            small = math.exp(-epsilon) * _DOWN
            lines.append((small, delta))
            if small > 0.0:
                lines.append((math.exp(epsilon) * _DOWN, 1.0 - (1.0 - delta) * small * _DOWN + 2.0**-52))
        highest = _highest(sorted(set(lines), key=lambda line: (line[0], -line[1])))
        return cls(tuple(slope for slope, _ in highest), tuple(zero for _, zero in highest))


def _highest(lines: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the upper envelope of lines of growing slope; leaving one out by a rounding error is safe."""
    kept: list[tuple[float, float]] = []
    for slope, zero in lines:
        if kept and slope == kept[-1][0]:
            kept.pop()
        while len(kept) > 1 and _meet(kept[-2], (slope, zero)) <= _meet(kept[-2], kept[-1]):
            kept.pop()
        kept.append((slope, zero))
    return kept


def _meet(flat: tuple[float, float], steep: tuple[float, float]) -> float:
    """Return where two lines meet."""
    return (steep[0] * steep[1] - flat[0] * flat[1]) / (steep[0] - flat[0])


def tradeoff_tail(right: int, *, canaries: int, guesses: int, curve: CurveBelow) -> float:
    """Bound the chance of at least `right` right guesses about the canaries of a mechanism with this trade-off curve.

    Accuracy. Let no test tell the data with a canary from the data without it, or the reverse, better than f: misses
        are at least f(false alarms). If V counts the right ones of exactly r guesses about m canaries, each in or out
        by a fair coin of its own, then P(V >= v) <= the largest c for which N_0 <= 1, where N_v = c, N_k = 0 for k > v
        and N_(j-1) = max(N_j, (m f(1 - (j N_j + S_j)/m) + N_j + S_j)/(r - j + 1)) for j = v, v - 1, ..., 1, S_j being
        the sum of N_k over k > j. It holds for at most r guesses too.
        Proof: fix i, the coins of the others and j. Let E be the outputs that guess 'in' about i and get at least j - 1
        of the others right. With i in, E is a right guess and V >= j; with i out, a wrong one and V >= j - 1. So P(E
        with i in) <= 1 - f(P(E with i out)), and the same for 'out'. 1 - f is concave, so averages over 'in' and 'out',
        the coins of the others and i may be taken inside: a <= 1 - f(c) with a = E[V; V >= j]/m and c = E[r - V; V >= j
        - 1]/m. f can be taken to be its own inverse (both directions are guaranteed), so c >= f(1 - a). Now let N_k be
        P(V >= k) itself. Summing by parts, m a = j N_j + S_j and m c = (r - j + 1) N_(j-1) - N_j - S_j. Hence N_(j-1)
        is at least the right-hand side above, which grows in all N_k with k >= j, as f(1 - a) grows in a. So the
        recursion, which starts with the least these can be, bounds them from below all the way, and N_0 = 1. Missing
        guesses can be made up by coins, which never makes fewer right.
    Cost. Some thirty passes of at most v steps.
    Reference. Mahloujifar, Melis, Chaudhuri 2025.

    >>> round(
    ...     tradeoff_tail(
    ...         100, canaries=100, guesses=100, curve=CurveBelow.through([(2.0, 0.0)])
    ...     ),
    ...     9,
    ... )
    3.073e-06
    """
    low, high = math.log(_LEAST_CHANCE), 0.0
    if right <= 0:
        return 1.0
    if not is_allowed(_LEAST_CHANCE, right, canaries=canaries, guesses=guesses, curve=curve):
        return _LEAST_CHANCE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if is_allowed(math.exp(middle), right, canaries=canaries, guesses=guesses, curve=curve):
            low = middle
        else:
            high = middle
    return min(math.exp(high) / _DOWN, 1.0)


def is_allowed(chance: float, right: int, *, canaries: int, guesses: int, curve: CurveBelow) -> bool:
    """Say whether P(V >= right) >= chance cannot be excluded: every step is rounded so that N_0 comes out too small."""
    slopes, zeros = curve.slopes, curve.zeros
    place, last = 0, len(slopes) - 1
    reached, above = chance, 0.0
    for count in range(right, 0, -1):
        tail = (count * reached + above) * _DOWN / canaries
        height = slopes[place] * (tail - zeros[place])
        while place < last:
            steeper = slopes[place + 1] * (tail - zeros[place + 1])
            if steeper < height:
                break
            place, height = place + 1, steeper
        above = (above + reached) * _DOWN
        wanted = (canaries * height + above) if height > 0.0 else above
        reached = max(reached, wanted * _DOWN / (guesses - count + 1))
        if reached > 1.0:
            return False
    return True


def counting_tail(right: int, *, canaries: int, guesses: int, epsilon: float, delta: float = 0.0) -> float:
    """Bound the chance of at least `right` right guesses about the canaries of an (epsilon, delta)-DP mechanism.

    Accuracy. P(V >= v) <= P(B >= v) + (1 - p) J, with p = e^epsilon / (1 + e^epsilon), B binomial (r, p), and J = 0 for
        delta = 0. Else J is the integral over x in [0, 1] of the least of m delta and of m delta b(k) + r P(N_x < k)
        over k, where b(k) is the largest probability of a binomial (k, p) and N_x is binomial (r - 1, 1 - x).
        Proof: reveal the coins one after another in an order drawn at random, independently of everything. Let A be the
        canaries before i. Given the output t and the coins of A, the guess about i is right with a chance of at most p
        + e, and the guarantee says how large e can be: with P and Q the laws of the output given the coins of A and i
        in or out (the other coins stay random, which keeps the guarantee by convexity), the mean of e over outputs that
        guess 'in' is the sum of (P + Q)/2 times (P/(P + Q) - p)+, which is (1 - p)/2 times the sum of (P - e^epsilon
        Q)+, at most (1 - p) delta/2; 'out' gives the same. So the mean of e is at most (1 - p) delta for every i and A,
        and e <= 1 - p. Let h(n, j) be the chance of at least j successes in n trials of chance p. With n guesses still
        to come after i and j more right ones wanted, a right guess raises h by P(binomial (n, p) = j - 1) <= b(n), so
        revealing i raises the mean of h by at most e b(n). Add up from h(r, v) = P(B >= v) to the end: P(V >= v) <= P(B
        >= v) + sum over i of the mean of e b(n). For pure guarantees e = 0. For the sum, give each canary a time,
        uniform on [0, 1]; A are those before. At the time x the sum over i of the mean of e is at most m (1 - p) delta,
        and n = k for a guessed canary with the chance P(N_x = k): so the sum over i of the mean of e b(n) is at most
        (1 - p) times what is gained where n < k, at most r P(N_x < k) as b <= 1, plus m delta b(k) elsewhere, b being
        decreasing; and b <= 1 gives m delta. Integrate over x. The integrand does not fall in x, so that right ends of
        a grid of cells bound the integral.
    Reference. The game and the pure bound: Steinke, Nasr, Jagielski 2023. What delta adds is derived here; the term in
        use elsewhere, 2 m delta max over i of P(v - i <= B < v) / i, is exceeded by some mechanisms when v is small,
        for two canaries and epsilon > ln 2 by one that can be written down.

    >>> round(counting_tail(95, canaries=100, guesses=100, epsilon=2.0), 6)
    0.016102
    >>> round(counting_tail(95, canaries=100, guesses=100, epsilon=2.0, delta=1e-5), 6)
    0.01615
    """
    from scipy.special import betainc

    if right <= 0:
        return 1.0
    chance = 1.0 / (1.0 + math.exp(-epsilon)) if epsilon < 700.0 else 1.0
    binomial = float(betainc(right, guesses - right + 1, chance)) * (1.0 + _SLACK)
    return min(binomial + _added(canaries, guesses, epsilon, delta), 1.0)


def _added(canaries: int, guesses: int, epsilon: float, delta: float) -> float:
    """Return (1 - p) times the integral, rounded up."""
    from scipy.special import bdtr

    if delta == 0.0:
        return 0.0
    most = canaries * delta
    # finer towards x = 1, where few guesses are left and each may decide
    left = np.concatenate([[0.0], np.geomspace(0.01 / guesses, 1.0, _LEVELS)])
    mean = (guesses - 1) * left[:-1]
    spread = np.sqrt(mean * (1.0 - left[:-1]))
    fewest = np.floor(mean[:, None] - spread[:, None] * np.arange(_DEVIATIONS))
    fewest = np.maximum(fewest, 0.0)
    fewer = np.where(fewest > 0.0, bdtr(np.maximum(fewest - 1.0, 0.0), max(guesses - 1, 1), left[:-1, None]), 0.0)
    values = most * _largest(fewest, epsilon) + guesses * fewer * (1.0 + _SLACK)
    heights = np.minimum(values.min(axis=1), most)
    return float(np.sum(heights * np.diff(left))) * (1.0 + _SLACK) / (1.0 + math.exp(min(epsilon, 700.0)))


def _largest(trials: Floats, epsilon: float) -> Floats:
    """Return the largest probability of a binomial law of `trials` trials of chance p, rounded up."""
    from scipy.special import gammaln

    level = min(epsilon, 700.0)
    log_right, log_wrong = -math.log1p(math.exp(-level)), -math.log1p(math.exp(level))
    mode = np.minimum(np.floor((trials + 1.0) * math.exp(log_right)), trials)
    ways = gammaln(trials + 1.0) - gammaln(mode + 1.0) - gammaln(trials - mode + 1.0)
    logarithm = ways + mode * log_right + (trials - mode) * log_wrong
    return np.asarray(np.minimum(np.exp(logarithm + _ROUNDING * trials) * (1.0 + _SLACK), 1.0))
