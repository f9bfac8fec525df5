"""The likelihood of a share, given noisy counts of those who have something and those who do not.

Three cases, each a function of the logit of the share p alone. With f the likelihood of a Poisson mean:

- the number of people unknown: L(p) = integral of f1(l p) f0(l (1 - p)) dl, l the mean number of people. A flat prior
  of l is a flat prior of the number n itself, because the integral of Pois(n | l) dl is 1 for every n.
- the number n public: L(p) = sum over y of Binomial(y | n, p) w1(y) w0(n - y).
- the number noisy as well: the same, summed over n with the weight w(n) of what was released about it.

ln L is nearly a parabola in 2 asin(sqrt(p)) where n is large, of curvature n, and smooth in the logit near 0 and 1: a
cubic spline on even steps of x = logit(p) + sqrt(n) 2 asin(sqrt(p)) holds both, and goes on straight in the logit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.evidence import Observation
from discreet.bayes.regression.likelihoods.curves import Curve, Curves
from discreet.bayes.regression.likelihoods.latent_sums import DEPTH, CountEvidence, evidence, log_sums
from discreet.bayes.regression.likelihoods.rate_likelihood import RateLikelihood, mean_at, place_of
from discreet.errors import InputError, ParameterError

Floats = NDArray[np.float64]
_STEP = 0.125
_FINE = 0.4  # steps of the integral over the number of people: a normal law of deviation 1 is off by e^-123
_NODES, _MOST_TERMS = 400, 1 << 28


@dataclass(frozen=True, slots=True)
class ShareCell:
    """What was released about the people of one cell: with it, without it, and both together.

    `people` is the public number of them all, None if it is not known.
    """

    successes: tuple[Observation, ...]
    failures: tuple[Observation, ...]
    together: tuple[Observation, ...] = ()
    people: int | None = None


class ShareLikelihood:
    """ln of the likelihood of the logit of a share, one share a cell.

    Accuracy. Within 1e-6 of direct sums down to e^-depth of the largest value of a cell; straight in the logit beyond,
        which is too flat: `within` says whether numbers stay above.
    Cost. Some 400 nodes a cell: each an integral of 100 to 400 nodes, or a sum over a count; a sum over both where
        the number of people is noisy.

    >>> from discreet.laws import DiscreteLaplace
    >>> noise = DiscreteLaplace(2)
    >>> yes, no = Observation((0,), 12, noise), Observation((1,), 31, noise)
    >>> table = ShareLikelihood([ShareCell((yes,), (no,))])
    >>> values = table.at(np.array([[-2.0], [-1.0], [0.0]]))
    >>> (values - values.max()).round(3).ravel().tolist()
    [-2.188, 0.0, -3.142]
    """

    def __init__(self, cells: Sequence[ShareCell], depth: float = DEPTH) -> None:
        self.depth = depth
        found = [_tabulated(cell, depth) for cell in cells]
        self.curves = Curves([curve for curve, _, _ in found])
        self.stretch = np.array([stretch for _, stretch, _ in found])
        self.likely = np.array([likely for _, _, likely in found])  # about the likeliest logits

    def within(self, logit: Floats) -> bool:
        """Say whether nearly all rows of logits (rows, cells) are where the tables are exact."""
        return self.curves.within(self.at(logit), self.depth)

    def at(self, logit: Floats) -> Floats:
        """Return ln L at logits (..., cells)."""
        return self.curves.at(_place(logit, self.stretch), logit)

    def of_cell(self, cell: int, logit: Floats) -> Floats:
        """Return ln L of one cell at logits of any shape."""
        return self.curves.of(cell, _place(logit, float(self.stretch[cell])), logit)


def even_logits(ends: tuple[float, float], stretch: float, spacing: float) -> tuple[Floats, Floats]:
    """Return logits at even places between two ends, and the width that each stands for."""
    low, high = _place(np.array(ends), stretch)
    places = np.linspace(low, high, int((high - low) / spacing) + 2)
    logits = _logit(places, stretch)
    rate = 1.0 + stretch * np.exp(-np.logaddexp(logits / 2, -logits / 2))
    return logits, (places[1] - places[0]) / rate


def _tabulated(cell: ShareCell, depth: float) -> tuple[Curve, float, float]:
    """Return the curve of a cell, the stretch of its places, and about where it is largest."""
    logs, likely, number, largest = _prepared(cell, depth)
    stretch = math.sqrt(max(number, 1.0))
    lifts = [evidence(one).lift for one in (cell.successes, cell.failures) if one]
    far = 18.0 + math.log(max(largest, 1.0)) + max(lifts, default=0.0)  # ln L is straight from there on
    ends = _place(np.array([-far, far]), stretch)
    start = _place(np.array([likely]), stretch)[0]
    reach = 0.5 * 2.0 ** np.arange(24)
    trial = np.concatenate([(start - reach)[::-1], [start], start + reach])
    trial = np.concatenate([ends[:1], trial[(trial > ends[0]) & (trial < ends[1])], ends[1:]])
    values = logs(_logit(trial, stretch))
    inside = np.flatnonzero(values > values.max() - depth)
    first, last = trial[max(inside[0] - 1, 0)], trial[min(inside[-1] + 1, len(trial) - 1)]
    places = np.linspace(first, last, max(int((last - first) / _STEP) + 2, 8))
    logits = _logit(places, stretch)
    found = logs(logits)
    deep = np.flatnonzero(found > found.max() - depth)
    kept = slice(max(deep[0] - 3, 0), deep[-1] + 4)
    places, logits, found = places[kept], logits[kept], found[kept]
    rates = 1.0 + stretch * np.exp(-np.logaddexp(logits / 2, -logits / 2))[[0, -1]]
    return Curve.through(places, found, logits, rates), stretch, likely


_Prepared = tuple[Callable[[Floats], Floats], float, float, float]


def _prepared(cell: ShareCell, depth: float) -> _Prepared:
    """Return ln L as a function of logits, about the likeliest logit, about the number of people, and the largest."""
    if cell.people is None and not cell.together:
        return _any_number(cell, depth)
    successes, failures = evidence(cell.successes, depth), evidence(cell.failures, depth)
    if cell.people is not None:
        sizes, weights, number = np.array([cell.people]), np.zeros(1), float(cell.people)
    else:
        both = evidence(cell.together, depth)
        low, high = both.ends
        sizes = np.arange(low, high + 1)
        weights, number = both.log_weight(sizes), both.center
    kept = weights > weights.max() - depth
    sizes, weights = sizes[kept], weights[kept]
    if len(sizes) > 1 and len(sizes) * _NODES * math.sqrt(max(number, 1.0)) > _MOST_TERMS:
        raise ParameterError(
            "the noise of totals must leave fewer numbers of people possible; got one that leaves "
            f"{len(sizes):,}, leave the totals out, or write people=",
            parameter="people",
        )

    def logs(logit: Floats) -> Floats:
        return _sized(successes, failures, sizes, weights, logit)

    part = successes.center if cell.successes else number - failures.center
    likely = math.log(max(part, 0.5)) - math.log(max(number - part, 0.5))
    return logs, likely, number, float(sizes[-1])


def _any_number(cell: ShareCell, depth: float) -> _Prepared:
    """Prepare the integral over an unknown number of people."""
    with_it, without = (RateLikelihood([one], depth=depth) for one in (cell.successes, cell.failures))
    (low_1, high_1), (low_0, high_0) = with_it.ranges[0], without.ranges[0]
    ends = place_of(np.array([low_1 + low_0, high_1 + high_0]))
    places = np.linspace(ends[0] - 4.0, ends[1], int((ends[1] - ends[0] + 4.0) / _FINE) + 2)
    people = mean_at(places)
    # trapezoids in x: dl = dx l / (1 + sqrt(l))
    measure = np.log(places[1] - places[0]) + np.log(people) - np.log1p(np.sqrt(people))
    logarithm = np.log(people)

    def logs(logit: Floats) -> Floats:
        share, rest = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
        first = with_it.at((logarithm + share[:, np.newaxis])[..., np.newaxis])[..., 0]
        second = without.at((logarithm + rest[:, np.newaxis])[..., np.newaxis])[..., 0]
        terms = first + second + measure
        largest = terms.max(axis=1)
        return np.asarray(largest + np.log(np.exp(terms - largest[:, np.newaxis]).sum(axis=1)))

    one, two = max(with_it.evidence[0].center, 0.5), max(without.evidence[0].center, 0.5)
    return logs, math.log(one / two), one + two, high_1 + high_0


def _sized(
    successes: CountEvidence, failures: CountEvidence, sizes: NDArray[np.int64], weights: Floats, logit: Floats
) -> Floats:
    """Return ln of the sum over numbers of people and over the successes among them."""
    from scipy.special import gammaln

    share, rest = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
    number = np.repeat(sizes, len(logit))
    share, rest = np.tile(share, len(sizes)), np.tile(rest, len(sizes))
    low, high = np.zeros_like(number), number.copy()
    if successes.observations:
        low, high = np.maximum(low, successes.ends[0]), np.minimum(high, successes.ends[1])
    if failures.observations:
        low, high = np.maximum(low, number - failures.ends[1]), np.minimum(high, number - failures.ends[0])
    possible = low <= high
    total = np.full(len(number), -np.inf)
    if not possible.any():
        raise InputError(
            "people must be a number that the released counts can come from; got one that noise would reach with a "
            "chance below e^-80, write the number of people of this cell"
        )
    number, share, rest, low, high = (one[possible] for one in (number, share, rest, low, high))

    def term(count: NDArray[np.int64], rows: slice) -> Floats:
        left = number[rows, np.newaxis] - count
        kernel = count * share[rows, np.newaxis] + left * rest[rows, np.newaxis]
        kernel += gammaln(number[rows, np.newaxis] + 1.0) - gammaln(count + 1.0) - gammaln(left + 1.0)
        if successes.observations:
            kernel += successes.log_weight(count)
        if failures.observations:
            kernel += failures.log_weight(left)
        return np.asarray(kernel)

    def spread(count: NDArray[np.int64], rows: slice) -> Floats:
        return np.asarray(np.sqrt(np.minimum(count, number[rows] - count) + 1.0))

    total[possible] = log_sums(term, low, high, spread, scale=min(successes.scale, failures.scale))
    table = total.reshape(len(sizes), -1) + weights[:, np.newaxis]
    largest = table.max(axis=0)
    return np.asarray(largest + np.log(np.exp(table - largest).sum(axis=0)))


def _place(logit: Floats, stretch: Floats | float) -> Floats:
    """Return x = logit + stretch 2 asin(sqrt(share)), from the middle."""
    return np.asarray(logit + stretch * 2.0 * np.arctan(np.tanh(logit / 4.0)))


def _logit(place: Floats, stretch: float) -> Floats:
    """Return the logit at a place, by bisection: the place rises with it at least as fast."""
    low, high = -np.abs(place), np.abs(place)
    for _ in range(64):
        middle = (low + high) / 2
        below = _place(middle, stretch) < place
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
