"""Randomized response: each person tells the truth with a known probability, and the crowd can still be counted.

Intervals for a fraction invert the exact law of the number of reports. A table with m of n people in the category gives
S = Bin(m, q) + Bin(n - m, r) reports of it, which grows stochastically with m when q > r. All m for which neither P(S
<= s) nor P(S >= s) falls to (1 - confidence) / 2 form an interval that holds with at least the stated confidence for
every table. For a population fraction p every report is Bernoulli(r + p (q - r)): Clopper-Pearson.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, ParameterError
from discreet.laws import FinitePair, Law
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.laws.number import Number, exact_rational
from discreet.mechanisms.mechanism import Mechanism, one_of, positive_epsilon
from discreet.privacy import Estimate, PrivacyLoss, PureDP, Relation, Target, warn_if_senseless
from discreet.privacy.numbers import written_up
from discreet.randomness import bernoulli_array, uniform_below_array, words
from discreet.randomness.rigor import (
    Ball,
    ball,
    ceil_of_upper,
    floor_of_lower,
    lower_float,
    precision,
    uniform_is_below,
    upper_float,
)

_LARGEST_CATEGORIES = 1 << 40
_LARGEST_TABLE = 1 << 22
_PRECISION = 192
_USELESS = 1e-15


class RandomizedResponse(Mechanism):
    """Report one's own category with probability q, any other with probability (1 - q) / (k - 1) each.

    Privacy. With q = e^epsilon / (e^epsilon + k - 1) it is epsilon-DP for changing one person's category, also locally:
        the person need not trust the collector. Warner's coin, k = 2 and q = 3/4, is ln 3-DP.
        Proof: for any report the two probabilities are q or r = (1 - q) / (k - 1), and q / r = e^epsilon. Both occur,
        so it is tight.
    Accuracy. (frequency among reports - r) / (q - r) is unbiased for the frequency of a category. For k = 2 its
        variance is q (1 - q) / (n (2 q - 1)^2) for the table, that is 3 / (4 n) at q = 3/4, plus p (1 - p) / n when the
        people are themselves a sample.
        Proof: reports are independent with success probability q or r; a fixed table contributes q (1 - q) a person (k
        = 2), and a sampled one is Bernoulli(r + p (q - r)) a person, whose variance splits into the two terms.
        `estimate` returns intervals that hold for every table and every n: they invert the exact law of the count of
        reports.
    Cost. Two 64-bit words a report; vectorized.
    Figure. randomized_response.svg
    Reference. Warner 1965; Kasiviswanathan et al. 2008; k-ary form: Kairouz, Oh, Viswanath 2014.

    >>> m = RandomizedResponse(truth=0.75, categories=2)
    >>> round(m.guarantee.epsilon, 6), round(m.variance(100), 6)
    (1.098612, 0.0075)
    """

    def __init__(self, *, categories: int, epsilon: Number | None = None, truth: Number | None = None) -> None:
        if isinstance(categories, bool) or not isinstance(categories, int | np.integer) or categories < 2:
            raise ParameterError(
                "categories must be the public number of possible answers, an int of at least 2", parameter="categories"
            )
        if categories > _LARGEST_CATEGORIES:
            raise ParameterError(
                "more than 2^40 categories need a frequency oracle, not plain reports", parameter="categories"
            )
        self.categories = int(categories)
        self.relation = Relation.CHANGE_ONE
        self._epsilon: Fraction | None = None
        self._truth: Fraction | None = None
        if one_of(epsilon=epsilon, truth=truth) == "epsilon":
            self._epsilon = positive_epsilon(epsilon)
            warn_if_senseless(self.guarantee, people=None)
        else:
            self._truth = exact_rational(truth, name="truth")
            if not Fraction(1, self.categories) < self._truth < 1:
                raise ParameterError(
                    f"truth must lie strictly between 1/{self.categories} (pure chance) and 1 (no privacy)",
                    parameter="truth",
                )

    def _truth_ball(self) -> Ball:
        """Enclose q at the current precision."""
        if self._truth is not None:
            return ball(self._truth)
        if self._epsilon is None:
            raise AssertionError("one of the two is always set")
        return 1 / (1 + (self.categories - 1) * (-ball(self._epsilon)).exp())

    def _lie_ball(self) -> Ball:
        """Enclose (1 - q) / (k - 1) at the current precision, without cancellation."""
        if self._epsilon is None:
            return (1 - self._truth_ball()) / (self.categories - 1)
        return 1 / (ball(self._epsilon).exp() + (self.categories - 1))

    @property
    def truth(self) -> float:
        """The probability of reporting one's own category."""
        with precision(_PRECISION):
            return float(self._truth_ball())

    @property
    def lie(self) -> float:
        """The probability of reporting one particular other category."""
        with precision(_PRECISION):
            return float(self._lie_ball())

    @property
    def _gap(self) -> float:
        """Q minus the probability of a particular lie, accurate also for a tiny epsilon."""
        with precision(_PRECISION):
            return float(self._truth_ball() - self._lie_ball())

    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return floats below and above the probability of the truth, and of a particular lie."""
        with precision(_PRECISION):
            truth, lie = self._truth_ball(), self._lie_ball()
            return (lower_float(truth), min(upper_float(truth), 1.0)), (max(lower_float(lie), 0.0), upper_float(lie))

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy with epsilon = ln(q (k - 1) / (1 - q)), rounded up."""
        if self._epsilon is not None:
            return PureDP(written_up(self._epsilon), relation=self.relation)
        if self._truth is None:
            raise AssertionError("one of the two is always set")
        odds = self._truth * (self.categories - 1) / (1 - self._truth)
        with precision(128):
            upper = ball(odds).log().upper()
            return PureDP(written_up(Fraction(math.nextafter(float(upper), math.inf))), relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of two categories; the others, equally likely in both, are merged."""
        (truth_low, truth_high), (lie_low, lie_high) = self.bounds()
        others = self.categories - 2
        lows = np.array([truth_low, lie_low, others * lie_low * (1 - 2.0**-50)])
        highs = np.array([truth_high, lie_high, others * lie_high * (1 + 2.0**-50)])
        swap = [1, 0, 2]
        pair = FinitePair(["first", "second", "another"], lows, highs, lows[swap], highs[swap])
        return PrivacyLoss.from_pairs([pair, pair.reversed()], relation=self.relation, guarantee=self.guarantee)

    def __call__(self, value: Any) -> Any:
        """Report a category, or an array of categories, one person each."""
        categories = self._categories(value)
        honest = self._coins(categories.size).reshape(categories.shape)
        other = uniform_below_array(self.categories - 1, categories.size).reshape(categories.shape)
        other = other + (other >= categories)
        reports = np.where(honest, categories, other)
        return reports if np.ndim(value) else int(reports[()])

    def _coins(self, count: int) -> NDArray[np.bool_]:
        """Toss exact coins of probability q."""
        if self._truth is not None:
            return bernoulli_array(self._truth, count)
        low, high = self._scaled(64)
        draws = words(count)
        heads = draws < np.uint64(low)
        for index in np.flatnonzero((draws >= np.uint64(low)) & (draws <= np.uint64(min(high, (1 << 64) - 1)))):
            heads[index] = uniform_is_below(int(draws[index]), 64, self._scaled)
        return heads

    def _scaled(self, bit_count: int) -> tuple[int, int]:
        """Return integers around q 2^bits."""
        with precision(bit_count + 64):
            scaled = self._truth_ball() * (1 << bit_count)
            return floor_of_lower(scaled), min(ceil_of_upper(scaled), 1 << bit_count)

    def _categories(self, value: Any) -> NDArray[np.int64]:
        """Return categories as int64, refusing everything else without showing it."""
        array = np.asarray(value)
        if array.dtype == np.bool_ and self.categories == 2:
            return array.astype(np.int64)
        if array.dtype.kind not in "iu" or (array.size and not (array.min() >= 0 and array.max() < self.categories)):
            raise InputError(
                f"a category must be an int from 0 to {self.categories - 1} (or True and False for two), or "
                "an array of them"
            )
        return array.astype(np.int64)

    def law(self, value: Any) -> Law[Any]:
        """Return the law of one person's report."""
        category = self._categories(value)
        if category.ndim:
            raise InputError("the law is that of one person's report; reports are independent")
        return ResponseLaw(self, int(category[()]))

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield all ordered pairs of a few categories."""
        few = range(min(self.categories, 3))
        yield from ((a, b) for a in few for b in few if a != b)

    def variance(self, people: int, *, target: Target = Target.TABLE, frequency: float | None = None) -> float:
        """Return the variance of the estimated frequency of a category among `people`.

        The table's variance does not depend on the frequency for two categories; otherwise, and for the population,
        state it.
        """
        q, r, gap = self.truth, self.lie, self._gap
        if frequency is None and (target is Target.POPULATION or self.categories > 2):
            raise ParameterError("this variance depends on the true frequency: state frequency=", parameter="frequency")
        p = 0.0 if frequency is None else float(frequency)
        noise = (p * q * (1 - q) + (1 - p) * r * (1 - r)) / (people * gap**2)
        return noise if target is Target.TABLE else noise + p * (1 - p) / people

    def estimate(
        self,
        reports: ArrayLike,
        *,
        category: int | None = None,
        confidence: float = 0.95,
        target: Target = Target.TABLE,
    ) -> Estimate:
        """Estimate the fraction of people in a category (the ones, for two categories) from their reports."""
        if category is None and self.categories > 2:
            raise ParameterError("say which category's frequency is asked for: category=", parameter="category")
        wanted = 1 if category is None else int(self._categories(category)[()])
        array = self._categories(reports).ravel()
        if array.size == 0:
            raise InputError("there are no reports to estimate from")
        people, seen = int(array.size), int(np.count_nonzero(array == wanted))
        q, r, gap = self.truth, self.lie, self._gap
        if gap < _USELESS:
            raise InputError("this epsilon is so small that reports say nothing: no estimate can be made from them")
        interval = interval_for_table if target is Target.TABLE else interval_for_population
        low, high = interval(seen, people, q, r, confidence)
        value = (seen / people - r) / gap
        return Estimate(
            value=value,
            low=min(low, value),
            high=max(high, value),
            confidence=confidence,
            target=target,
            guarantee=self.guarantee,
            method="inverted exact law of the number of reports",
        )

    def __repr__(self) -> str:
        return f"RandomizedResponse(epsilon={self.guarantee.epsilon:.6g}, categories={self.categories})"


class ResponseLaw(Tabulated):
    """The law of one report: q at the true category, r elsewhere."""

    def __init__(self, mechanism: RandomizedResponse, category: int) -> None:
        self._mechanism, self._category = mechanism, category

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds of one unit in the last place."""
        count = self._mechanism.categories
        if count > _LARGEST_TABLE:
            raise ParameterError(
                "the law of a report is listed for at most 2^22 categories; `loss` works for any number"
            )
        truth, lie = self._mechanism.bounds()
        low, high = np.full(count, lie[0]), np.full(count, lie[1])
        low[self._category], high[self._category] = truth
        return list(range(count)), low, high

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw reports of one person."""
        if shape is None:
            return self._mechanism(self._category)
        sizes, count = as_size(shape)
        return self._mechanism(np.full(count, self._category)).reshape(sizes)


_SPREAD = 40.0


def interval_for_table(seen: int, people: int, truth: float, lie: float, confidence: float) -> tuple[float, float]:
    """Return bounds on the fraction in the table, clipped to [0, 1]."""
    rest = _rest(confidence) / 2

    def too_many(members: int) -> bool:
        return _at_most(seen, members, people, truth, lie) <= rest

    def too_few(members: int) -> bool:
        return 1.0 - _at_most(seen - 1, members, people, truth, lie) <= rest

    low, high = 0, people + 1
    while low < high:  # the least number of members that is not too few
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle <= people and too_few(middle) else (low, middle)
    least = min(low, people)
    low, high = -1, people
    while low < high:  # the greatest number of members that is not too many
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if middle >= 0 and too_many(middle) else (middle, high)
    return least / people, max(low, 0) / people


def _at_most(seen: int, members: int, people: int, truth: float, lie: float) -> float:
    """Return P(Bin(members, truth) + Bin(people - members, lie) <= seen)."""
    from scipy.special import bdtr
    from scipy.stats import binom

    if seen < 0:
        return 0.0
    if seen >= people:
        return 1.0
    spread = _SPREAD * np.sqrt(members * truth * (1 - truth) + 1.0)
    low, high = max(int(members * truth - spread), 0), min(int(members * truth + spread) + 1, members)
    counts = np.arange(low, high + 1)
    others = people - members
    left = seen - counts
    cdf = np.where(
        left < 0, 0.0, np.where(left >= others, 1.0, bdtr(np.clip(left, 0, max(others, 1)), max(others, 1), lie))
    )
    if others == 0:
        cdf = (left >= 0).astype(np.float64)
    return float(np.sum(binom.pmf(counts, members, truth) * cdf))


def interval_for_population(seen: int, people: int, truth: float, lie: float, confidence: float) -> tuple[float, float]:
    """Return bounds on the fraction in the population the people are a sample of, clipped to [0, 1]."""
    rest = _rest(confidence) / 2
    ends = float(chance_at_least(seen, people, rest)), float(chance_at_most(seen, people, rest))
    return tuple(min(max((end - lie) / (truth - lie), 0.0), 1.0) for end in ends)  # type: ignore[return-value]


def _rest(confidence: float) -> float:
    """Return the allowed error."""
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must lie strictly between 0 and 1, got {confidence}", parameter="confidence")
    return (1.0 - confidence) * (1.0 - 1e-9)  # covers the rounding of the distribution functions
