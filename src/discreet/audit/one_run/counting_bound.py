"""How many right guesses about canaries an (epsilon, delta) promise allows: a binomial tail, and what delta adds to it.

The game. Each of m canaries is put into the data by its own fair coin. Somebody who sees the output, and nothing else
of the coins, says 'in' or 'out' about r of them and nothing about the others; V of the r guesses are right. One output
holds m experiments, so one run of a mechanism is enough to refute a promise.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_SLACK = 1e-9  # relative; covers the rounding of beta functions for up to a million canaries
_ROUNDING = 3e-14  # relative, for each trial: logarithms of factorials grow like n ln n, and their errors with them
_LEVELS, _DEVIATIONS = 160, 14


def counting_tail(right: int, *, canaries: int, guesses: int, epsilon: float, delta: float = 0.0) -> float:
    """Bound the chance of so many right guesses, or more, about the canaries of an (epsilon, delta)-DP mechanism.

    Accuracy. P(V >= v) <= P(B >= v) + (1 - p) J, with p = e^epsilon / (1 + e^epsilon), B binomial (r, p), and J = 0 for
        delta = 0. Else J is the integral over x in [0, 1] of the least of m delta and of m delta b(k) + r P(N_x < k)
        over k, where b(k) is the largest probability of a binomial (k, p) and N_x is binomial (r - 1, 1 - x).
        Proof: reveal the coins one after another in an order drawn at random, independently of everything. Let A be the
        canaries before i. Given the output t and the coins of A, the guess about i is right with a chance of at most p
        + e, and the promise says how large e can be: with P and Q the laws of the output given the coins of A and i in
        or out (the other coins stay random, which keeps the promise by convexity), the mean of e over outputs that
        guess 'in' is the sum of (P + Q)/2 times (P/(P + Q) - p)+, which is (1 - p)/2 times the sum of (P - e^epsilon
        Q)+, at most (1 - p) delta/2; 'out' gives the same. So the mean of e is at most (1 - p) delta for every i and A,
        and e <= 1 - p. Let h(n, j) be the chance of at least j successes in n trials of chance p. With n guesses still
        to come after i and j more right ones wanted, a right guess raises h by P(binomial (n, p) = j - 1) <= b(n), so
        revealing i raises the mean of h by at most e b(n). Add up from h(r, v) = P(B >= v) to the end: P(V >= v) <= P(B
        >= v) + sum over i of the mean of e b(n). For pure promises e = 0. For the sum, give each canary a time,
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
    """Return the largest probability of a binomial law of so many trials of chance p, rounded up."""
    from scipy.special import gammaln

    level = min(epsilon, 700.0)
    log_right, log_wrong = -math.log1p(math.exp(-level)), -math.log1p(math.exp(level))
    mode = np.minimum(np.floor((trials + 1.0) * math.exp(log_right)), trials)
    ways = gammaln(trials + 1.0) - gammaln(mode + 1.0) - gammaln(trials - mode + 1.0)
    logarithm = ways + mode * log_right + (trials - mode) * log_wrong
    return np.asarray(np.minimum(np.exp(logarithm + _ROUNDING * trials) * (1.0 + _SLACK), 1.0))
