"""The price of a release as a user states it, the cheapest price for an error, and the largest rho for a guarantee."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypedDict

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy.guarantees import ZCDP, ApproxDP, implies
from discreet.privacy.numbers import positive_price
from discreet.privacy.pairs import NormalPair, boundary

_WHOLE = ("epsilon", "rho", "mu", "share", "error")  # each of them is a price by itself; delta goes beside one
_MEANING = {"share": " (a part of the budget)", "error": " (the cheapest price for that error)"}
_LEAST = Fraction(1, 10**300)
_LONGEST = 2048  # bits: more than any float needs
_PRECISION = 1e-9
_DOUBLINGS = 200


class PriceOptions(TypedDict, total=False):
    """The keyword arguments that state the price of a query; exactly one, and delta beside it."""

    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    mu: Number | None
    share: Number | None
    error: Number | None


class PriceAmounts(TypedDict, total=False):
    """A price that needs no budget and no search, as keyword arguments."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    mu: Fraction


@dataclass(frozen=True, slots=True)
class Price:
    """What a user states before a release, exactly: one of epsilon, rho, mu, share and error; delta beside one.

    `Price.read` reads keyword arguments: a float is read by its decimals, 0.1 as one tenth, so that ten of them make 1.

    >>> Price.read(epsilon=0.5, accepts=("epsilon", "rho"))
    Price(epsilon=Fraction(1, 2))
    >>> Price.read(epsilon=0.5, rho=0.1, accepts=("epsilon", "rho"))
    Traceback (most recent call last):
    ...
    discreet.errors.ConflictingParameters: the price must be given once; got epsilon=
        and rho=, write one of them
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu: Fraction | None = None
    share: Fraction | None = None
    error: Fraction | None = None

    @classmethod
    def read(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        accepts: Sequence[str],
        delta_with: Sequence[str] = ("epsilon",),
    ) -> Price:
        """Read a price; raise an error unless exactly one word of `accepts` is given.

        Args:
            epsilon: the privacy loss; pure, or approximate with `delta`.
            delta: the chance of a larger loss; only beside a word of `delta_with`.
            rho: the price in zero-concentrated differential privacy.
            mu: the price in Gaussian differential privacy.
            share: a part of a budget, at most 1.
            error: the half-width wanted, from which the cheapest price is computed.
            accepts: the words that state this price.
            delta_with: the words beside which `delta` may be given; none where `delta` is not accepted.
        """
        given = {"epsilon": epsilon, "rho": rho, "mu": mu, "share": share, "error": error}
        named = [name for name, value in given.items() if value is not None]
        words = [f"{name}={_MEANING.get(name, '')}" for name in _WHOLE if name in accepts]
        if not named:
            raise MissingParameter(
                f"the price must be given and has no default; got none, write {_listed(words, 'or')}",
                parameter=accepts[0],
            )
        if len(named) > 1:
            raise ConflictingParameters(
                f"the price must be given once; got {_listed([f'{name}=' for name in named], 'and')}, write one of "
                "them",
                parameter=named[1],
            )
        (word,) = named
        if word not in accepts:
            raise ParameterError(
                f"the price must be {_listed(words, 'or')}; got {word}=, write one of these instead", parameter=word
            )
        if delta is not None and word not in delta_with:
            beside = [f"{name}=" for name in delta_with if name in accepts]
            remedy = f"only beside {_listed(beside, 'or')}" if beside else "left out"
            raise ConflictingParameters(
                f"delta= must be {remedy}; got {word}= and delta=, write {word}= alone", parameter="delta"
            )
        if delta is not None and _amount(delta, name="delta") >= 1:
            raise ParameterError(
                "delta must be a small probability, below one over the number of people; got 1 or more, write 1e-6, "
                "for example",
                parameter="delta",
            )
        if share is not None and _amount(share, name="share") > 1:
            raise ParameterError(
                "share must be a part of the budget, at most 1; got more, write 0.1, for example", parameter="share"
            )
        exact = {name: _amount(given[name], name=name) for name in named}
        return cls(delta=None if delta is None else _amount(delta, name="delta"), **exact)

    @property
    def is_gaussian(self) -> bool:
        """Whether it buys Gaussian noise: it is in rho or mu, or has a delta beside epsilon."""
        return self.rho is not None or self.mu is not None or (self.epsilon is not None and self.delta is not None)

    def amounts(self) -> PriceAmounts:
        """Return epsilon, delta, rho and mu, as far as they are given, as keyword arguments."""
        found = PriceAmounts()
        if self.epsilon is not None:
            found["epsilon"] = self.epsilon
        if self.delta is not None:
            found["delta"] = self.delta
        if self.rho is not None:
            found["rho"] = self.rho
        if self.mu is not None:
            found["mu"] = self.mu
        return found

    def __repr__(self) -> str:
        given = ((name, getattr(self, name)) for name in ("epsilon", "delta", "rho", "mu", "share", "error"))
        return f"Price({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"


def _amount(value: object, *, name: str) -> Fraction:
    """Return one number of a price exactly."""
    exact = positive_price(value, name=name)
    if max(exact.numerator, exact.denominator).bit_length() > _LONGEST:
        raise ParameterError(
            f"{name} must have at most {_LONGEST} bits; got more, write a decimal number", parameter=name
        )
    if not _LEAST <= exact <= 1 / _LEAST:
        end = "a smaller" if exact < _LEAST else "a larger"
        raise ParameterError(
            f"{name} must be between 1e-300 and 1e300; got {end} number, write one in between", parameter=name
        )
    return exact


def _listed(words: Sequence[str], last: str) -> str:
    """Return words in a row, such as 'a, b or c'."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def cheapest(width: Callable[[Fraction], float], error: Fraction, *, digits: int | None = None) -> Fraction:
    """Return the least amount whose predicted half-width is at most the error: to nine digits, by bisection.

    With `digits` it is the least decimal number of that many digits instead: written as a price, it is the same price.

    >>> cheapest(
    ...     lambda epsilon: 3.0 if epsilon < Fraction(7, 3) else 1.0,
    ...     Fraction(2),
    ...     digits=6,
    ... )
    Fraction(116667, 50000)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the search tries prices that deserve a warning; the result is judged again
        high = Fraction(1)
        for _ in range(_DOUBLINGS):
            if width(high) <= error:
                break
            high *= 2
        else:
            raise ParameterError(
                "error must be an error that a price can buy; got one below the grid, write a larger error",
                parameter="error",
            )
        low = high / 2
        for _ in range(_DOUBLINGS):
            if width(low) > error:
                break
            low, high = low / 2, low
        else:
            raise ParameterError(
                "error must be below what the bounds alone guarantee; got one for which no price is needed, write a "
                "smaller error",
                parameter="error",
            )
        while high - low > high * Fraction(_PRECISION):
            middle = Fraction(float((low + high) / 2))
            low, high = (low, middle) if width(middle) <= error else (middle, high)
        if digits is None:
            return high
        step = _step(high, digits)
        short = math.ceil(high / step) * step
        return short - step if width(short - step) <= error else short


def _step(amount: Fraction, digits: int) -> Fraction:
    """Return the step between decimals of this many digits near an amount.

    >>> _step(Fraction(1, 3), 6)
    Fraction(1, 1000000)
    """
    place = math.floor(math.log10(amount)) - digits + 1
    return Fraction(10**place) if place >= 0 else Fraction(1, 10**-place)


@lru_cache(maxsize=256)
def largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest float mu for which mu-Gaussian-DP is proven to imply (epsilon, delta)-DP.

    Privacy. Every mu-Gaussian-DP release is (epsilon, delta)-DP.
        Proof: the returned mu is one at which the certified delta of `NormalPair`, the worst such release, was at most
        delta. That delta grows with mu, so bisection finds the largest.

    >>> float(largest_mu(Fraction(1), Fraction(1, 10**5)))
    0.268051123211...
    """

    def holds(mu: float) -> bool:
        return NormalPair(mu).delta(epsilon).upper <= delta

    high = 2.0
    while holds(high):
        high *= 2
    low = high / 2
    while low > float(_LEAST) and not holds(low):
        low, high = low / 2, low
    if not holds(low):
        raise ParameterError(
            "epsilon and delta must be large enough for a positive mu; got smaller ones, write larger ones",
            parameter="epsilon",
        )
    return Fraction(boundary(high, low, holds)[1])


@lru_cache(maxsize=64)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho for which rho-zCDP is proven to imply (epsilon, delta)-DP, to the last digits of a float.

    Privacy. Every rho-zCDP release is (epsilon, delta)-DP.
        Proof: the returned rho is one for which `implies` was asked and said so. Bisection only makes it large.

    >>> float(largest_rho(Fraction(1), Fraction(1, 10**6)))
    0.0243...
    """
    target = ApproxDP(epsilon, delta)

    def holds(rho: float) -> bool:
        return implies(ZCDP(rho), target)

    low = float(epsilon) + 1
    if holds(low):
        high = 2 * low
        while math.isfinite(high) and holds(high):
            low, high = high, 2 * high
        if math.isinf(high):
            return Fraction(low)
    else:
        high = low
        while low > float(_LEAST) and not holds(low):
            low, high = low / 2, low
        if not holds(low):
            raise ParameterError(
                "epsilon and delta must be large enough for a positive rho; got smaller ones, write larger ones",
                parameter="epsilon",
            )
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if holds(middle) else (low, middle)
    return Fraction(low)
