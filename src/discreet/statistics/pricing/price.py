"""What every statistic is told: its price, who differs, for how many rows an error is to hold, and how sure to be."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import ApproxDP, Price, Relation, cheapest
from discreet.privacy.numbers import whole, written_down, written_up
from discreet.statistics.pricing.noisy_vector import NoisyVector

_LEAST_CHOICE = {"epsilon": Fraction(1, 10**9), "rho": Fraction(1, 10**19)}


def priced_noise(
    price: Price,
    *,
    sensitivity: int,
    relation: Relation,
    width: Callable[[NoisyVector], float],
    squared: int | None = None,
    scalar: bool = False,
) -> NoisyVector:
    """Return the noise for integers that neighbors move by `sensitivity` in L1 and the root of `squared` in L2.

    Without `squared` the two distances are the same. `width` predicts the half-width of the answer, in its own
    unit, from the noise; it is used for `error=`.
    """
    squared = sensitivity * sensitivity if squared is None else squared
    if price.rho is not None or price.mu is not None:
        return NoisyVector.gaussian(
            rho=price.rho, mu=price.mu, sensitivity=sensitivity, squared=squared, relation=relation, scalar=scalar
        )
    if price.epsilon is not None and price.delta is not None:
        target = ApproxDP(written_up(price.epsilon), written_down(price.delta), relation=relation)
        return NoisyVector.calibrated(target, sensitivity=sensitivity, squared=squared, scalar=scalar)

    def laplace(epsilon: Fraction) -> NoisyVector:
        return NoisyVector.laplace(epsilon=epsilon, sensitivity=sensitivity, relation=relation, scalar=scalar)

    return laplace(epsilon_of(price, lambda epsilon: width(laplace(epsilon))))


def epsilon_of(price: Price, width: Callable[[Fraction], float]) -> Fraction:
    """Return the epsilon that was given, or the least one whose predicted half-width is at most the error given."""
    if price.epsilon is not None:
        return price.epsilon
    if price.error is None:
        raise AssertionError("a price in rho has no epsilon")
    return cheapest(width, price.error)


def choosable(price: Price) -> Price:
    """Return a price for a choice by rank; raise an error if it cannot tell any table from an empty one."""
    for name, amount in (("epsilon", price.epsilon), ("rho", price.rho)):
        if amount is not None and amount < _LEAST_CHOICE[name]:
            raise ParameterError(
                f"{name} must be at least {float(_LEAST_CHOICE[name]):.0e}; got less, write a larger "
                f"{name}: with less the answer would be a random point between the bounds",
                parameter=name,
            )
    return price


def expected_rows(rows_expected: int | None, price: Price | None, *, of: str) -> int | None:
    """Return the number of rows for which `error=` is to hold; without it no error of a mean or a moment is known."""
    if price is not None and price.error is not None and rows_expected is None:
        raise MissingParameter(
            f"rows_expected= must be given with error=, as the error of a {of} depends on the number of rows; got "
            "none, write the number of rows for which the error is to hold",
            parameter="rows_expected",
        )
    return None if rows_expected is None else whole(rows_expected, name="rows_expected")


def stated_relation(relation: Relation | None) -> Relation:
    """Return the relation, which has no default."""
    if relation is None or relation is Relation.UNSTATED:
        raise MissingParameter(
            "relation= must be given, it says what is hidden; got none, write Relation.ADD_REMOVE (whether a person is "
            "in the table at all) or Relation.CHANGE_ONE (what the row of a person says; the number of rows is public)",
            parameter="relation",
        )
    if not isinstance(relation, Relation):
        raise ParameterError(
            "relation must be Relation.ADD_REMOVE or Relation.CHANGE_ONE; got another, write one of them",
            parameter="relation",
        )
    return relation


def stated_switch(switch: bool, *, name: str) -> bool:
    """Return a switch; raise an error for anything but True and False."""
    if not isinstance(switch, bool):
        raise ParameterError(f"{name} must be True or False; got another, write {name}=True", parameter=name)
    return switch


def stated_confidence(confidence: float) -> float:
    """Return a confidence strictly between 0 and 1."""
    number = isinstance(confidence, int | float | Fraction) and not isinstance(confidence, bool)
    if not (number and 0 < confidence < 1):
        raise ParameterError(
            "confidence must be a number strictly between 0 and 1; got another, write 0.95, for example",
            parameter="confidence",
        )
    return float(confidence)
