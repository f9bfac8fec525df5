"""How spending is counted in each notion: the quantities that add up, and how a guarantee is read into them.

What a pure guarantee costs in rho, fast: in floats, and rounded up by more than their roundings can amount to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, cast

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP, convert, pure_to_zcdp
from discreet.privacy.numbers import (
    as_computed,
    as_written,
    downward,
    exactly,
    number,
    rational_root,
    root_upward,
    written,
    written_down,
    written_up,
)
from discreet.privacy.relation import Relation

Amounts = tuple[Fraction, ...]

_READABLE = 2**53
_REMEMBERED = 4096
_LEAST, _LARGEST = 2.0**-500, 4.0
_INNERMOST = 21  # 1, 5, 9, ...: these round tanh up
_MORE = 1 + 2.0**-49


class Books(ABC):
    """The quantities of one notion that add up over adaptively chosen releases, as exact rationals.

    A guarantee of the same notion is read as it is written: floats are the decimals that they print as. One of
    another notion is read through the strongest guarantee of this one that follows without a further choice (`convert`;
    rho from epsilon by `pure_price`, which is larger by a share of at most 4 10^-15 and fast); where a delta has to be
    chosen, the caller names it.
    """

    quantities: ClassVar[tuple[str, ...]]
    notion: ClassVar[type[Guarantee]]

    def read(self, guarantee: Guarantee, at_delta: Number | None = None) -> Amounts:
        """Return what a release with the guarantee adds to each quantity; `at_delta` is for notions with a delta."""
        return self.amounts(
            guarantee if at_delta is None else _converted(guarantee, self.notion, delta=written(at_delta))
        )

    @abstractmethod
    def amounts(self, guarantee: Guarantee) -> Amounts:
        """Return what a guarantee adds to each quantity, where that needs no further choice."""

    @abstractmethod
    def write(self, numbers: Sequence[Number], relation: Relation) -> Guarantee:
        """Return the guarantee with these parameters."""

    def up(self, amounts: Sequence[Fraction], caps: Sequence[Fraction]) -> list[Number]:
        """Return amounts for people to read: unchanged if short, else rounded up, never past the cap."""
        return [_readable(amount, cap) for amount, cap in zip(amounts, caps, strict=True)]

    def down(self, amounts: Sequence[Fraction]) -> list[Number]:
        """Return amounts as parameters that may be spent."""
        return [exactly(amount) for amount in amounts]


@dataclass(frozen=True)
class PureBooks(Books):
    """Epsilons add."""

    quantities = ("epsilon",)
    notion = PureDP

    def amounts(self, guarantee: Guarantee) -> Amounts:
        """Return epsilon."""
        pure = guarantee if isinstance(guarantee, PureDP) else _converted(guarantee, PureDP)
        return (written(pure.epsilon),)

    def write(self, numbers: Sequence[Number], relation: Relation) -> PureDP:
        """Return the guarantee."""
        return PureDP(numbers[0], relation=relation)


@dataclass(frozen=True)
class ApproxBooks(Books):
    """Epsilons add, deltas add."""

    quantities = ("epsilon", "delta")
    notion = ApproxDP

    def amounts(self, guarantee: Guarantee) -> Amounts:
        """Return epsilon and delta; a guarantee without an epsilon needs the delta at which to read it."""
        try:
            point = guarantee if isinstance(guarantee, ApproxDP) else _converted(guarantee, ApproxDP)
        except MissingParameter:
            raise MissingParameter(
                f"what {guarantee!r} costs in epsilon depends on the delta spent on it: name it, "
                "spend(..., at_delta=...). It is never defaulted.",
                parameter="at_delta",
            ) from None
        return written(point.epsilon), written(point.delta)

    def write(self, numbers: Sequence[Number], relation: Relation) -> ApproxDP:
        """Return the guarantee."""
        return ApproxDP(numbers[0], min(numbers[1], 1), relation=relation)


@dataclass(frozen=True)
class ConcentratedBooks(Books):
    """Rhos add, deltas add."""

    quantities = ("rho", "delta")
    notion = ZCDP

    def amounts(self, guarantee: Guarantee) -> Amounts:
        """Return rho and delta; for a Gaussian guarantee rho is mu^2/2 without rounding."""
        match guarantee:
            case GaussianDP():
                return written(guarantee.mu) ** 2 / 2, written(guarantee.delta)
            case PureDP():
                return pure_price(guarantee.epsilon), Fraction(0)
            case ApproxDP():
                return pure_price(guarantee.epsilon), written(guarantee.delta)
        if isinstance(guarantee, RenyiDP) and guarantee.epsilon:
            raise MissingParameter(
                f"{guarantee!r} bounds one order, and no rho follows from it without a delta. Name the delta "
                "to spend, spend(..., at_delta=...), or keep the account in RenyiDP of that order.",
                parameter="at_delta",
            )
        concentrated = guarantee if isinstance(guarantee, ZCDP) else _converted(guarantee, ZCDP)
        return written(concentrated.rho), written(concentrated.delta)

    def write(self, numbers: Sequence[Number], relation: Relation) -> ZCDP:
        """Return the guarantee."""
        return ZCDP(numbers[0], min(numbers[1], 1), relation=relation)


@dataclass(frozen=True)
class RenyiBooks(Books):
    """Divergences of one order, fixed ahead, add."""

    quantities = ("epsilon",)
    notion = RenyiDP
    alpha: Number

    def amounts(self, guarantee: Guarantee) -> Amounts:
        """Return the divergence of the fixed order; from rho and mu it follows without rounding."""
        order = written(self.alpha)
        match guarantee:
            case RenyiDP() if written(guarantee.alpha) == order:
                return (written(guarantee.epsilon),)
            case ZCDP(delta=0):
                return (order * written(guarantee.rho),)
            case GaussianDP(delta=0):
                return (order * written(guarantee.mu) ** 2 / 2,)
        return (written(_converted(guarantee, RenyiDP, alpha=self.alpha).epsilon),)

    def write(self, numbers: Sequence[Number], relation: Relation) -> RenyiDP:
        """Return the guarantee."""
        return RenyiDP(self.alpha, numbers[0], relation=relation)


@dataclass(frozen=True)
class GaussianBooks(Books):
    """Squares of mus add, deltas add."""

    quantities = ("mu squared", "delta")
    notion = GaussianDP

    def amounts(self, guarantee: Guarantee) -> Amounts:
        """Return mu^2 and delta."""
        own: Number = getattr(guarantee, "delta", 0)
        gaussian = (
            guarantee
            if isinstance(guarantee, GaussianDP)
            else _converted(guarantee, GaussianDP, delta=written(own) if own else None)
        )
        return written(gaussian.mu) ** 2, written(gaussian.delta)

    def write(self, numbers: Sequence[Number], relation: Relation) -> GaussianDP:
        """Return the guarantee."""
        return GaussianDP(numbers[0], min(numbers[1], 1), relation=relation)

    def up(self, amounts: Sequence[Fraction], caps: Sequence[Fraction]) -> list[Number]:
        """Return the root: exact if it is rational, else rounded up, never past the cap's root where that is exact."""
        (squared, delta), (largest_squared, largest_delta) = amounts, caps
        root, largest = rational_root(squared), rational_root(largest_squared)
        if root is not None:
            mu = _readable(root, root if largest is None else largest)
        else:
            rounded = written_up(Fraction(root_upward(squared)))
            mu = rounded if largest is None else min(rounded, exactly(largest), key=written)
        return [mu, _readable(delta, largest_delta)]

    def down(self, amounts: Sequence[Fraction]) -> list[Number]:
        """Return the root: exact if it is rational, else rounded down."""
        squared, delta = amounts
        return [root_down(squared), exactly(delta)]


def books_for(guarantee: Guarantee) -> Books:
    """Return how spending is counted in the notion of a guarantee."""
    return books_of(type(guarantee), getattr(guarantee, "alpha", None), guarantee)


def books_of(notion: object, alpha: Number | None, given: object) -> Books:
    """Return how spending is counted in a notion, with the order of RenyiDP; an error names `given`."""
    if notion is RenyiDP:
        return RenyiBooks(cast(Number, alpha))
    known: dict[object, type[Books]] = {
        one.notion: one for one in (PureBooks, ApproxBooks, ConcentratedBooks, GaussianBooks)
    }
    if notion not in known:
        raise not_a_guarantee(given)
    return known[notion]()


def not_a_guarantee(given: object) -> ParameterError:
    """Say what a budget is made from."""
    kind = given.__name__ if isinstance(given, type) else type(given).__name__
    return ParameterError(
        f"a guarantee is needed: PureDP, ApproxDP, ZCDP, RenyiDP or GaussianDP with its numbers, not {kind}",
        parameter="budget",
    )


@lru_cache(maxsize=_REMEMBERED)
def _converted(guarantee: Guarantee, to: Any, delta: Number | None = None, alpha: Number | None = None) -> Any:
    """Remember conversions, each of a guarantee as it is written: a session asks for the same few again and again."""
    return as_computed(convert(as_written(guarantee), to, delta=delta, alpha=alpha))


def _readable(amount: Fraction, cap: Fraction) -> Number:
    """Return an amount for people to read: unchanged if it is short, else rounded up, never past the cap."""
    plain = exactly(amount)
    if not isinstance(plain, Fraction) or plain.denominator < _READABLE:
        return plain
    return min(written_up(amount), exactly(cap), key=written)


def root_down(value: Fraction) -> Number:
    """Return the square root of a rational: exact if it is rational, else rounded down.

    >>> root_down(Fraction(9, 100)), root_down(Fraction(1, 2))
    (Fraction(3, 10), 0.7071067811865475)
    """
    root = rational_root(value)
    if root is not None:
        return exactly(root)
    below = downward(lambda: number(value).sqrt())
    return below if written(below) ** 2 <= value else written_down(Fraction(below))


def pure_price(epsilon: Number) -> Fraction:
    """Return a rho for which every epsilon-DP release is rho-zCDP: epsilon tanh(epsilon/2), rounded up.

    Between 2^-500 and 4 it exceeds the least rho by a share of at most 4 10^-15; elsewhere it is the least float that
    `convert` knows to be enough.

    Privacy. epsilon-DP implies rho-zCDP.
        Proof: by `pure_to_zcdp`, with rho = epsilon tanh(epsilon/2), which grows with epsilon; so epsilon may be
        rounded up to a float x. With s = x^2/4, tanh(x/2) = (x/2)/(1 + s/(3 + s/(5 + ...))) (Lambert). All terms are
        positive, so to cut the fraction at 21, the eleventh of the numbers 1, 3, 5, ..., makes the denominator f that
        is left smaller and x^2/(2 f) larger than rho; by a share below 10^-15, as s <= 4.
        In floats, with u = 2^-53 and nothing near the ends of their range: s is off by a share u. If an inner
        denominator is off by e, the next one out is off by at most u + w (2u + e), where w is the share of the quotient
        in it: at most 4/19 where 3 or more is added, so that e stays below 1.9 u, and at most 4/7 where 1 is, so that f
        is off by less than 3.3 u. The square, the last quotient and the last product add u each. The factor 1 + 16 u
        exceeds all of it.
    Cost. About a microsecond; plain additions, products and quotients, and no library function.
    Reference. Lambert 1761 for the continued fraction; Kairouz, Oh, Viswanath 2015 and Bun, Steinke 2016 for rho.

    >>> float(pure_price(1)), PureDP(1).to_zcdp().rho
    (0.462117157260010..., 0.4621171572600098)
    """
    x = round_up(written(epsilon))
    if not _LEAST <= x <= _LARGEST:
        return Fraction(pure_to_zcdp(PureDP(written(epsilon))).rho)
    square = x * x
    quarter = square / 4
    denominator = float(_INNERMOST)
    for odd in range(_INNERMOST - 2, 0, -2):
        denominator = odd + quarter / denominator
    return Fraction(square / 2 / denominator * _MORE)
