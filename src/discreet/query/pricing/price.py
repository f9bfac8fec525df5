"""How the price of a query is stated, what it means under a budget, and how it is divided over what is released."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError, PrivateKeys
from discreet.laws.number import Number
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP, Relation
from discreet.privacy.numbers import exactly, positive_price
from discreet.query.measures import Spend
from discreet.query.plan import Noise
from discreet.query.policy import concentrated

_PRECISION = 1e-6
_DOUBLINGS = 200
_FINENESS = 10**6
_LONGEST = 2048  # bits: more than any float needs
_LEAST = Fraction(1, 10**300)
_NO_DELTA = (
    "the budget has no delta, and keys that are not public cannot be shown without one. Give the values of the keys, "
    "or ask the curator for a budget with delta. Nothing was spent."
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A price as it was asked for, exactly: one of epsilon, rho, share and error; delta beside epsilon or rho."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    share: Fraction | None = None
    error: Fraction | None = None


def stated(
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    share: Number | None = None,
    error: Number | None = None,
) -> Stated:
    """Return the price that was asked for; refuse none, and mixtures.

    >>> stated(epsilon=0.5)
    Stated(epsilon=Fraction(1, 2), delta=None, rho=None, share=None, error=None)
    """
    given = {"epsilon": epsilon, "rho": rho, "share": share, "error": error}
    named = [name for name, value in given.items() if value is not None]
    if not named:
        raise MissingParameter(
            "say what the answer may cost: epsilon=, rho=, share= (of the budget) or error= (the cheapest price for "
            "that error). Nothing was spent.",
            parameter="epsilon",
        )
    if len(named) > 1:
        raise ConflictingParameters(
            f"{' and '.join(f'{name}=' for name in named)} each settle the price alone: keep one. Nothing was spent.",
            parameter=named[1],
        )
    if delta is not None and named[0] == "share":
        raise ConflictingParameters(
            "share= takes its part of the budget's delta too: leave delta= out. Nothing was spent.", parameter="delta"
        )
    exact = {name: None if value is None else _written(value, name) for name, value in given.items()}
    part = None if delta is None else _written(delta, "delta")
    if part is not None and part >= 1:
        raise ParameterError("delta is a small probability, far below 1. Nothing was spent.", parameter="delta")
    if exact["share"] is not None and exact["share"] > 1:
        raise ParameterError("share= is a part of the budget, at most 1. Nothing was spent.", parameter="share")
    return Stated(exact["epsilon"], part, exact["rho"], exact["share"], exact["error"])


def _written(value: Number, name: str) -> Fraction:
    """Return a price exactly; a float is taken as it is written, 0.1 as one tenth, so that ten of them make 1."""
    exact = positive_price(value, name=name)
    if max(exact.numerator, exact.denominator).bit_length() > _LONGEST:
        raise ParameterError(f"{name}= has too many digits. Nothing was spent.", parameter=name)
    if not _LEAST <= exact <= 1 / _LEAST:
        raise ParameterError(f"{name}= must lie between 1e-300 and 1e300. Nothing was spent.", parameter=name)
    return exact


@dataclass(frozen=True, slots=True)
class Payment:
    """What a query pays: an amount of epsilon (Laplace noise) or rho (Gaussian), and delta for private keys."""

    noise: Noise
    amount: Fraction
    delta: Fraction
    relation: Relation

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that the whole release keeps."""
        amount, delta = exactly(self.amount), exactly(self.delta)
        if self.noise is Noise.GAUSSIAN:
            return ZCDP(amount, delta, relation=self.relation)
        if delta:
            return ApproxDP(amount, delta, relation=self.relation)
        return PureDP(amount, relation=self.relation)

    def spend(self, part: Fraction) -> Spend:
        """Return a part of the amount."""
        return Spend(rho=part) if self.noise is Noise.GAUSSIAN else Spend(epsilon=part)

    def spends(self, weights: Sequence[float]) -> tuple[Spend, ...]:
        """Return the whole amount in parts; see `divided`."""
        return tuple(self.spend(part) for part in divided(self.amount, weights, self.noise))


def noise_of(budget: Guarantee, price: Stated) -> Noise:
    """Return the noise that a price buys under a budget: Gaussian for zCDP, unless a pure epsilon is asked for."""
    pure = price.epsilon is not None and price.delta is None
    return Noise.GAUSSIAN if isinstance(budget, ZCDP) and not pure else Noise.LAPLACE


def payment(budget: Guarantee, price: Stated, *, private_keys: bool, relation: Relation | None = None) -> Payment:
    """Return what a stated price pays under a budget, for its neighbors or those of a relation that is stated here.

    `error=` must have been settled before.

    Under a zCDP budget epsilon= with delta= buys the largest rho that implies them; epsilon= alone buys Laplace noise,
    and the ledger charges the zCDP that a pure guarantee implies.
    """
    match budget:
        case PureDP() | ApproxDP():
            paid = _in_epsilon(budget, price, private_keys=private_keys)
        case ZCDP():
            paid = _under_concentrated(budget, price, private_keys=private_keys)
        case _:
            raise AssertionError("a budget is pure, approximate or concentrated")
    return paid if relation is None else replace(paid, relation=relation)


def _in_epsilon(budget: PureDP | ApproxDP, price: Stated, *, private_keys: bool) -> Payment:
    if isinstance(budget, PureDP):
        if private_keys:
            raise PrivateKeys(_NO_DELTA)
        if price.delta is not None:
            raise ParameterError("the budget is pure: it has no delta to spend. Nothing was spent.", parameter="delta")
        return Payment(Noise.LAPLACE, _epsilon_of(budget, price), Fraction(0), budget.relation)
    amount = _epsilon_of(budget, price)
    delta = _key_delta(Fraction(budget.delta), price) if private_keys else Fraction(0)
    return Payment(Noise.LAPLACE, amount, delta, budget.relation)


def _under_concentrated(budget: ZCDP, price: Stated, *, private_keys: bool) -> Payment:
    noise, delta = noise_of(budget, price), Fraction(0)
    if private_keys:
        delta = _key_delta(Fraction(budget.delta), price)
    if price.epsilon is not None and price.delta is not None:
        bought = concentrated(price.epsilon, price.delta if private_keys else 2 * price.delta)
        delta = Fraction(bought.delta) if private_keys else Fraction(0)
        return Payment(noise, Fraction(bought.rho), delta, budget.relation)
    if price.epsilon is not None:
        return Payment(noise, price.epsilon, delta, budget.relation)
    if price.share is not None:
        return Payment(noise, price.share * Fraction(budget.rho), delta, budget.relation)
    if price.rho is None:
        raise AssertionError("error= is settled before")
    return Payment(noise, price.rho, delta, budget.relation)


def _epsilon_of(budget: PureDP | ApproxDP, price: Stated) -> Fraction:
    """Return epsilon under a budget that is counted in epsilon."""
    if price.rho is not None:
        raise ParameterError(
            "this budget is counted in epsilon: say epsilon= instead of rho=. Nothing was spent.", parameter="rho"
        )
    if price.share is not None:
        return price.share * Fraction(budget.epsilon)
    if price.epsilon is None:
        raise AssertionError("error= is settled before")
    return price.epsilon


def _key_delta(available: Fraction, price: Stated) -> Fraction:
    """Return the delta that selecting private keys may use."""
    if not available:
        raise PrivateKeys(_NO_DELTA)
    if price.share is not None:
        return price.share * available
    if price.delta is None:
        raise PrivateKeys(
            "the keys are not public, so showing them takes a delta: add delta=, the chance of naming a key that only "
            "one unit has (1e-8, say), or give the values of the keys with keys=. Nothing was spent."
        )
    return price.delta


def cheapest(width: Callable[[Fraction], float], error: Fraction) -> Fraction:
    """Return the least amount of six decimal digits whose predicted half-width is at most the error asked for.

    Stated as a price of its own, as the answer shows it, it is the same price, and the same question.
    """
    high = Fraction(1)
    for _ in range(_DOUBLINGS):
        if width(high) <= error:
            break
        high *= 2
    else:
        raise ParameterError("no price buys so small an error. Nothing was spent.", parameter="error")
    low = high / 2
    for _ in range(_DOUBLINGS):
        if width(low) > error:
            break
        low, high = low / 2, low
    else:
        raise ParameterError(
            "the answer is known to within this error already, from the bounds alone: no price is needed. Nothing was "
            "spent.",
            parameter="error",
        )
    while high - low > high * Fraction(_PRECISION):
        middle = Fraction(float((low + high) / 2))
        low, high = (low, middle) if width(middle) <= error else (middle, high)
    step = _step(high)
    short = math.ceil(high / step) * step
    return short - step if width(short - step) <= error else short


def _step(amount: Fraction) -> Fraction:
    """Return the step between decimals of six digits near an amount.

    >>> _step(Fraction(1, 3))
    Fraction(1, 1000000)
    """
    place = math.floor(math.log10(amount)) - 5
    return Fraction(10**place) if place >= 0 else Fraction(1, 10**-place)


def divided(amount: Fraction, weights: Sequence[float], noise: Noise) -> list[Fraction]:
    """Divide an amount over parts so that the sum of their squared widths is least.

    The width of a part is its weight over epsilon (Laplace) or over the root of rho (Gaussian); the least sum of
    squares under a fixed total gives parts in proportion to weight^(2/3), or to the weight. The parts add up exactly.

    >>> [float(part) for part in divided(Fraction(1), [1.0, 1.0], Noise.LAPLACE)]
    [0.5, 0.5]
    """
    power = 2.0 / 3.0 if noise is Noise.LAPLACE else 1.0
    raised = [weight**power for weight in weights]
    whole = math.fsum(raised)
    shares = [Fraction(max(1, round(one / whole * _FINENESS)), _FINENESS) for one in raised]
    total = sum(shares)
    return [amount * share / total for share in shares]
