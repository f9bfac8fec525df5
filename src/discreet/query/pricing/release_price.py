"""The price of a release that is no query: what it buys under a budget, in the notion of that budget."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ConflictingParameters, ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, Price, PureDP, largest_mu, largest_rho
from discreet.privacy.adaptive import root_down
from discreet.privacy.numbers import written


def price_under(budget: Guarantee, price: Price) -> Price:
    """Return what a price buys under a budget, as mechanisms take it; raise an error where it buys nothing.

    Under a budget of zCDP epsilon with delta buys the largest rho that implies them, and mu costs mu^2/2. Under a
    Gaussian budget epsilon with delta buys the largest mu, and rho is read as mu^2/2. Epsilon alone stays pure.

    >>> from discreet.query.pricing import read_price
    >>> price_under(ApproxDP(2, Fraction(1, 10**6)), read_price(share=0.5))
    Price(epsilon=Fraction(1, 1), delta=Fraction(1, 2000000))
    """
    if price.epsilon is None and price.delta is not None:
        word = "share" if price.share is not None else "rho" if price.mu is None else "mu"
        raise ConflictingParameters(
            f"delta= must be left out beside {word}=: no key is selected; got delta=, write {word}=. Nothing was "
            "spent.",
            parameter="delta",
        )
    if isinstance(budget, ZCDP):
        return _under_concentrated(budget, price)
    if isinstance(budget, GaussianDP):
        return _under_gaussian(budget, price)
    if not isinstance(budget, PureDP | ApproxDP):
        raise AssertionError("a budget is pure, approximate, concentrated or Gaussian")
    if price.rho is not None or price.mu is not None:
        word = "rho" if price.mu is None else "mu"
        raise ParameterError(
            f"{word}= must be left out under a budget in epsilon; got {word}=, write epsilon=. Nothing was spent.",
            parameter=word,
        )
    if price.delta is not None and isinstance(budget, PureDP):
        raise ParameterError(
            "delta= must be left out under a pure budget; got delta=, write epsilon= alone. Nothing was spent.",
            parameter="delta",
        )
    if price.share is None:
        return price
    delta = price.share * Fraction(budget.delta) if isinstance(budget, ApproxDP) else None
    return Price(epsilon=price.share * Fraction(budget.epsilon), delta=delta)


def _under_concentrated(budget: ZCDP, price: Price) -> Price:
    if price.share is not None:
        return Price(rho=price.share * Fraction(budget.rho))
    if price.epsilon is not None and price.delta is not None:
        return Price(rho=largest_rho(price.epsilon, price.delta))
    return price


def _under_gaussian(budget: GaussianDP, price: Price) -> Price:
    """Return the price in mu, rounded down where it is not rational; a pure one stays, and costs the mu it implies."""
    if price.epsilon is not None and price.delta is not None:
        return Price(mu=largest_mu(price.epsilon, price.delta))
    if price.epsilon is not None or price.mu is not None:
        return price
    squared = price.share * written(budget.mu) ** 2 if price.share is not None else 2 * (price.rho or Fraction(0))
    return Price(mu=written(root_down(squared)))
