"""How often a private search runs: random numbers with laws that hide it, drawn exactly.

The number of runs is a secret of the search. Given that there were k runs, the promise is about that of k releases.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number
from discreet.privacy.numbers import bounds, decimals, number, plain, positive_price, probability, upward
from discreet.randomness import bits
from discreet.randomness.rigor import Ball, ball, ceil_of_upper, floor_of_lower, precision

_WORD, _GUARD = 64, 96
_MOST, _MOST_COUNT = 10**5, 10**6
_LEAST_GAMMA, _DIGITS, _LARGEST_ETA = 1e-9, 12, 100
_MOST_POISSON = 500  # e^-m is a float beyond it no more


class RunsLaw(ABC):
    """A law of the number K of runs: its first value, that value's chance, and ratios of chances, which are rational.

    Everything that the price of a search needs is w(p) = E K (1 - p)^(K - 1): how many runs are expected that all
    others lose against, where a run does better than they with chance p; see `discreet.learning.search.price`.
    """

    _first: int

    @abstractmethod
    def _start(self) -> Ball:
        """Enclose the chance of the first value."""

    @abstractmethod
    def _ratio(self, count: int) -> Fraction:
        """Return P(K = count + 1) / P(K = count)."""

    @abstractmethod
    def expected(self) -> Ball:
        """Enclose E K at the current precision."""

    @abstractmethod
    def winning(self, better: Ball) -> Ball:
        """Enclose w(p) / w(0) at the current precision; w(0) = E K."""

    @abstractmethod
    def descent(self, better: Ball) -> Ball:
        """Enclose -w'(p) / w(p) at the current precision."""

    @abstractmethod
    def _none_among(self, chance: Ball) -> Ball:
        """Enclose E (1 - q)^K."""

    @property
    def mean(self) -> float:
        """The expected number of runs, rounded up."""
        return upward(self.expected)

    def pmf(self, count: int) -> Enclosure:
        """Enclose the chance of exactly `count` runs.

        >>> print(TruncatedNegativeBinomial(eta=1, gamma=0.5).pmf(2))  # geometric
        0.25 [0.25, 0.25]
        """
        if not isinstance(plain(count, name="count"), int) or count > _MOST_COUNT:
            raise ParameterError(
                f"count must be a whole number up to {_MOST_COUNT:,}; got another, write pmf(3)", parameter="count"
            )

        def chance() -> Ball:
            found = self._start()
            for earlier in range(self._first, count):
                found *= ball(self._ratio(earlier))
            return found

        low, high = (0.0, 0.0) if count < self._first else bounds(chance)
        return Enclosure(low, low + (high - low) / 2, high, "ball arithmetic")

    def hit(self, frequency: Number) -> float:
        """Return the chance that at least one run is among this frequency of all runs, such as those of one setting.

        >>> round(TruncatedNegativeBinomial.of_mean(10).hit(0.25), 2)
        0.64
        """
        part = probability(frequency, name="frequency")
        return 1.0 - upward(lambda: self._none_among(number(part)))

    def sample(self) -> int:
        """Draw a number of runs. Secret.

        Exactness. It is the least k with U < P(K <= k), for a uniform U of which bits are drawn until balls around
        P(K <= k) decide; another 64 bits leave that open with a chance of about 2^-64.
        """
        prefix, length = bits(_WORD), _WORD
        while (found := self._inverse(prefix, length)) is None:
            prefix, length = (prefix << _WORD) | bits(_WORD), length + _WORD
        return found

    def _inverse(self, prefix: int, length: int) -> int | None:
        """Return the number of runs of every U with these first bits, None if they do not have the same."""
        with precision(length + _GUARD):
            chance = self._start()
            count, below = self._first, chance
            while prefix + 1 > floor_of_lower(scaled := below * (1 << length)):
                if prefix < ceil_of_upper(scaled):
                    return None
                chance *= ball(self._ratio(count))
                count, below = count + 1, below + chance
        return count


@dataclass(frozen=True)
class TruncatedNegativeBinomial(RunsLaw):
    """One run or more: chances in the ratio (1 - gamma) (k + eta) / (k + 1); eta 0 is logarithmic, 1 geometric.

    A small gamma makes many runs, a small eta a law with a long tail, which costs less privacy for the same mean and
    makes a single run more likely.

    With c = 1 - gamma the generating function is E x^K = ((1 - c x)^-eta - 1) / (gamma^-eta - 1), for eta = 0
    ln(1 - c x) / ln(gamma). Its derivative is E K (gamma / (1 - c x))^(1 + eta), so that w(p) = E K (gamma / s)^(1 +
    eta) with s = gamma + c p, and E K = eta c / (gamma (1 - gamma^eta)), for eta = 0 c / (gamma ln(1/gamma)).

    Reference. Liu, Talwar 2019 (geometric); Papernot, Steinke 2022.
    """

    eta: Number
    gamma: Number

    _first = 1

    def __post_init__(self) -> None:
        eta, gamma = decimals(plain(self.eta, name="eta")), positive_price(self.gamma, name="gamma")
        if not 0 <= eta <= _LARGEST_ETA:
            raise ParameterError("eta must be from 0 to 100; got another, write eta=0", parameter="eta")
        if not Fraction(1, 10**9) <= gamma < 1:
            raise ParameterError(
                "gamma must be between 1e-9 and 1; got another, write gamma=0.1, for example", parameter="gamma"
            )
        object.__setattr__(self, "eta", eta)
        object.__setattr__(self, "gamma", gamma)

    @classmethod
    def of_mean(cls, mean: Number, *, eta: Number = 0) -> TruncatedNegativeBinomial:
        """Return the law with this expected number of runs; gamma has twelve digits and is rounded up.

        >>> TruncatedNegativeBinomial.of_mean(10).mean
        9.9999999...
        """
        wanted = float(_mean(mean))
        if wanted <= 1:
            raise ParameterError(
                "runs must be above 1 on average; got less, write runs=10, for example", parameter="runs"
            )

        def too_many(gamma: float) -> bool:
            return cls(eta=eta, gamma=gamma).mean > wanted

        low, high = _LEAST_GAMMA, 1 - _LEAST_GAMMA
        if not too_many(low) or too_many(high):
            raise ParameterError("no gamma gives this mean; write another eta or mean", parameter="runs")
        found = _least(low, high, lambda gamma: not too_many(gamma))
        return cls(eta=eta, gamma=Fraction(math.ceil(found * 10**_DIGITS), 10**_DIGITS))

    @property
    def _numbers(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.eta), Fraction(self.gamma)

    def _start(self) -> Ball:
        eta, gamma = self._numbers
        logarithm = number(gamma).log()
        if eta == 0:
            return -number(1 - gamma) / logarithm
        return number(eta * (1 - gamma)) / (-number(eta) * logarithm).expm1()

    def _ratio(self, count: int) -> Fraction:
        eta, gamma = self._numbers
        return (1 - gamma) * (count + eta) / (count + 1)

    def expected(self) -> Ball:
        """Enclose E K."""
        eta, gamma = self._numbers
        logarithm = number(gamma).log()
        if eta == 0:
            return -number((1 - gamma) / gamma) / logarithm
        return -number(eta * (1 - gamma) / gamma) / (number(eta) * logarithm).expm1()

    def winning(self, better: Ball) -> Ball:
        """Enclose w(p) / E K."""
        eta, gamma = self._numbers
        ratio = number(gamma) / self._spread(better)
        return ratio if eta == 0 else (ratio.log() * number(1 + eta)).exp()

    def descent(self, better: Ball) -> Ball:
        """Enclose -w'(p) / w(p)."""
        eta, gamma = self._numbers
        return number((1 + eta) * (1 - gamma)) / self._spread(better)

    def _spread(self, better: Ball) -> Ball:
        gamma = self._numbers[1]
        return number(gamma) + number(1 - gamma) * better

    def _none_among(self, chance: Ball) -> Ball:
        eta, gamma = self._numbers
        top, bottom = self._spread(chance).log(), number(gamma).log()
        if eta == 0:
            return top / bottom
        return (-number(eta) * top).expm1() / (-number(eta) * bottom).expm1()


@dataclass(frozen=True)
class Poisson(RunsLaw):
    """A Poisson number of runs; there may be none, and then the search returns a constant.

    E x^K = e^(-m (1 - x)), so that w(p) = m e^(-m p). The number is well concentrated, which costs more privacy than
    `TruncatedNegativeBinomial` once m mu is above 1.

    Reference. Papernot, Steinke 2022.
    """

    expectation: Number

    _first = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "expectation", _mean(self.expectation, most=_MOST_POISSON))

    def _start(self) -> Ball:
        return (-self.expected()).exp()

    def _ratio(self, count: int) -> Fraction:
        return Fraction(self.expectation) / (count + 1)

    def expected(self) -> Ball:
        """Enclose E K."""
        return number(Fraction(self.expectation))

    def winning(self, better: Ball) -> Ball:
        """Enclose w(p) / E K."""
        return (-self.expected() * better).exp()

    def descent(self, better: Ball) -> Ball:  # noqa: ARG002  the same at every chance
        """Enclose -w'(p) / w(p)."""
        return self.expected()

    def _none_among(self, chance: Ball) -> Ball:
        return (-self.expected() * chance).exp()


def _mean(value: object, *, most: int = _MOST) -> Fraction:
    mean = positive_price(value, name="runs")
    if mean > most:
        raise ParameterError(f"runs must be at most {most:,} on average; got more, write fewer", parameter="runs")
    return mean


def _least(low: float, high: float, enough: Callable[[float], bool]) -> float:
    """Return a number near the least that is enough, by bisection on its logarithm."""
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
