"""The price of a query: how it is read, what it costs under a budget, and how it is divided over what is released."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Unpack

from discreet.errors import DiscreetError, ParameterError, PrivateKeys
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Price,
    PriceOptions,
    PureDP,
    Relation,
    gaussian_budget,
    largest_mu,
    largest_rho,
)
from discreet.privacy import cheapest as cheapest_price
from discreet.privacy.adaptive import root_down
from discreet.privacy.numbers import exactly, root_upward, written, written_up
from discreet.query.plan import Noise
from discreet.query.policy import concentrated

ACCEPTS = ("epsilon", "rho", "mu", "share", "error")
_DIGITS = 6  # of the price that error= buys
_FINENESS = 10**6
_NO_DELTA = (
    "the budget has no delta, and keys that are not public cannot be shown without one. Give the values of the keys, "
    "or ask the curator for a budget with delta. Nothing was spent."
)
_NO_RESERVE = (
    "the budget has no reserve of delta, and keys that are not public cannot be shown without one. Give the values of "
    "the keys, or ask the curator to add `reserve = 1e-7` under [budget] (in Python "
    "budget=privacy.gaussian_budget(epsilon=..., delta=..., reserve=1e-7)). "
    "Nothing was spent."
)


def read_price(*, accepts: Sequence[str] = ACCEPTS, **given: Unpack[PriceOptions]) -> Price:
    """Read the price of a query; an error says that nothing was spent.

    >>> read_price(epsilon=0.5)
    Price(epsilon=Fraction(1, 2))
    """
    try:
        return Price.read(accepts=accepts, delta_with=("epsilon", "rho", "mu", "error"), **given)
    except DiscreetError as problem:
        raise nothing_spent(problem) from None


def nothing_spent(problem: DiscreetError) -> DiscreetError:
    """Return the error with the words that nothing was spent."""
    words = str(problem)
    if "Nothing was spent" not in words:
        problem.args = (f"{words.rstrip('. ')}. Nothing was spent.",)
    return problem


def one_of(price: Price, parts: int) -> Price:
    """Return one of several equal parts of a price; what buys an error buys it for each of them.

    Parts of mu add up in squares, each rounded down.

    >>> one_of(Price(epsilon=Fraction(1, 2)), 2)
    Price(epsilon=Fraction(1, 4))
    """
    given = {name: getattr(price, name) for name in ("epsilon", "delta", "rho", "share")}
    shared = {name: None if amount is None else amount / parts for name, amount in given.items()}
    mu = None if price.mu is None else written(root_down(price.mu**2 / parts))
    return Price(mu=mu, error=price.error, **shared)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a query costs: an amount of epsilon (Laplace noise), rho or mu (Gaussian), and delta for private keys.

    `word` says which of them the amount is; mu is the one under a Gaussian budget.
    """

    word: str
    amount: Fraction
    delta: Fraction
    relation: Relation

    @property
    def noise(self) -> Noise:
        """The noise that the amount buys."""
        return Noise.LAPLACE if self.word == "epsilon" else Noise.GAUSSIAN

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that the whole release keeps."""
        amount, delta = exactly(self.amount), exactly(self.delta)
        if self.word == "mu":
            return GaussianDP(amount, delta, relation=self.relation)
        if self.word == "rho":
            return ZCDP(amount, delta, relation=self.relation)
        if delta:
            return ApproxDP(amount, delta, relation=self.relation)
        return PureDP(amount, relation=self.relation)

    def part(self, amount: Fraction) -> Price:
        """Return a part of the amount, as a price."""
        return Price(**{self.word: amount})

    def parts(self, weights: Sequence[float]) -> tuple[Price, ...]:
        """Return the whole amount in parts; see `divided`. Parts of mu add up in squares, each rounded down."""
        if self.word != "mu":
            return tuple(self.part(amount) for amount in divided(self.amount, weights, self.noise))
        squares = divided(self.amount**2, weights, self.noise)
        return tuple(self.part(written(root_down(square))) for square in squares)

    def together(self, amounts: Sequence[Fraction]) -> Fraction:
        """Return what several parts cost together: their sum, or the root of the sum of squares of mus, rounded up."""
        if self.word != "mu" or len(amounts) == 1:
            return sum(amounts, Fraction(0))
        return written(written_up(Fraction(root_upward(sum((one**2 for one in amounts), Fraction(0))))))


def word_of(budget: Guarantee, price: Price) -> str:
    """Return what a price is counted in under a budget: epsilon, or rho or mu unless a pure epsilon is asked for."""
    pure = price.epsilon is not None and price.delta is None
    return "epsilon" if pure else {ZCDP: "rho", GaussianDP: "mu"}.get(type(budget), "epsilon")


def noise_of(budget: Guarantee, price: Price) -> Noise:
    """Return the noise that a price buys under a budget: Laplace for an epsilon, else Gaussian."""
    return Noise.LAPLACE if word_of(budget, price) == "epsilon" else Noise.GAUSSIAN


def cost_under(budget: Guarantee, price: Price, *, private_keys: bool, relation: Relation | None = None) -> Cost:
    """Return what a price costs under a budget, for its neighbors or those of a relation that is given here.

    `error=` must have been computed before.

    Under a zCDP budget epsilon= with delta= buys the largest rho that implies them; epsilon= alone buys Laplace noise,
    and the ledger charges the zCDP that a pure guarantee implies. A Gaussian budget does the same with mu, and reads
    rho= as mu^2/2, the rho of normal noise.
    """
    if price.mu is not None and not isinstance(budget, GaussianDP):
        other = "rho" if isinstance(budget, ZCDP) else "epsilon"
        raise ParameterError(
            f"mu= must be left out under a budget in {other}; got mu=, write {other}=. Nothing was spent.",
            parameter="mu",
        )
    match budget:
        case PureDP() | ApproxDP():
            cost = _in_epsilon(budget, price, private_keys=private_keys)
        case ZCDP():
            cost = _under_concentrated(budget, price, private_keys=private_keys)
        case GaussianDP():
            cost = _under_gaussian(budget, price, private_keys=private_keys)
        case _:
            raise AssertionError("a budget is pure, approximate, concentrated or Gaussian")
    return cost if relation is None else replace(cost, relation=relation)


def _in_epsilon(budget: PureDP | ApproxDP, price: Price, *, private_keys: bool) -> Cost:
    if isinstance(budget, PureDP):
        if private_keys:
            raise PrivateKeys(_NO_DELTA)
        if price.delta is not None:
            raise ParameterError(
                "delta= must be left out under a pure budget; got delta=, write epsilon= alone. Nothing was spent.",
                parameter="delta",
            )
        return Cost("epsilon", _epsilon_of(budget, price), Fraction(0), budget.relation)
    amount = _epsilon_of(budget, price)
    delta = _key_delta(Fraction(budget.delta), price) if private_keys else Fraction(0)
    return Cost("epsilon", amount, delta, budget.relation)


def _under_concentrated(budget: ZCDP, price: Price, *, private_keys: bool) -> Cost:
    word, delta = word_of(budget, price), Fraction(0)
    if private_keys:
        delta = _key_delta(Fraction(budget.delta), price)
    if price.epsilon is not None and price.delta is not None:
        if not private_keys:
            return Cost(word, largest_rho(price.epsilon, price.delta), Fraction(0), budget.relation)
        both = concentrated(price.epsilon, price.delta)
        return Cost(word, Fraction(both.rho), Fraction(both.delta), budget.relation)
    if price.epsilon is not None:
        return Cost(word, price.epsilon, delta, budget.relation)
    if price.share is not None:
        return Cost(word, price.share * Fraction(budget.rho), delta, budget.relation)
    if price.rho is None:
        raise AssertionError("error= must be computed before")
    return Cost(word, price.rho, delta, budget.relation)


def _under_gaussian(budget: GaussianDP, price: Price, *, private_keys: bool) -> Cost:
    """Return the cost in mu, or in epsilon where that is asked for; a mu that is not rational is rounded down."""
    word, delta = word_of(budget, price), Fraction(0)
    if private_keys:
        delta = _key_delta(Fraction(budget.delta), price, none=_NO_RESERVE)
    if price.epsilon is not None and price.delta is not None:
        if not private_keys:
            return Cost(word, largest_mu(price.epsilon, price.delta), Fraction(0), budget.relation)
        both = gaussian_budget(epsilon=price.epsilon, delta=price.delta, reserve=price.delta / 2)
        return Cost(word, Fraction(both.mu), Fraction(both.delta), budget.relation)
    if price.epsilon is not None:
        return Cost(word, price.epsilon, delta, budget.relation)
    if price.mu is not None:
        return Cost(word, price.mu, delta, budget.relation)
    squared = price.share * written(budget.mu) ** 2 if price.share is not None else 2 * (price.rho or Fraction(0))
    if not squared:
        raise AssertionError("error= must be computed before")
    return Cost(word, written(root_down(squared)), delta, budget.relation)


def _epsilon_of(budget: PureDP | ApproxDP, price: Price) -> Fraction:
    """Return epsilon under a budget that is counted in epsilon."""
    if price.rho is not None:
        raise ParameterError(
            "rho= must be left out under a budget in epsilon; got rho=, write epsilon=. Nothing was spent.",
            parameter="rho",
        )
    if price.share is not None:
        return price.share * Fraction(budget.epsilon)
    if price.epsilon is None:
        raise AssertionError("error= must be computed before")
    return price.epsilon


def _key_delta(available: Fraction, price: Price, *, none: str = _NO_DELTA) -> Fraction:
    """Return the delta that selecting private keys may use; `none` says what to do where there is none."""
    if not available:
        raise PrivateKeys(none)
    if price.share is not None:
        return price.share * available
    if price.delta is None:
        raise PrivateKeys(
            "the keys are not public, so showing them takes a delta: add delta=, the chance of naming a key that only "
            "one unit has (for example 1e-8), or give the values of the keys with keys=. Nothing was spent."
        )
    return price.delta


def cheapest(width: Callable[[Fraction], float], error: Fraction) -> Fraction:
    """Return the least amount of six decimal digits whose predicted half-width is at most the error asked for.

    As a price of its own, as the answer shows it, it is the same price, and the same question.
    """
    try:
        return cheapest_price(width, error, digits=_DIGITS)
    except DiscreetError as problem:
        raise nothing_spent(problem) from None


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
