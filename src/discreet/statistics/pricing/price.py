"""How a price is asked for: epsilon=, epsilon= with delta=, rho=, or error=, the cheapest price for that error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy import ApproxDP, Relation
from discreet.privacy.numbers import positive_price, whole, written_down, written_up
from discreet.statistics.pricing.noisy_vector import NoisyVector

_PRECISION = 1e-9
_SEARCH = 400
_LEAST = Fraction(1, 10**300)
_LEAST_CHOICE = {"epsilon": Fraction(1, 10**9), "rho": Fraction(1, 10**19)}


@dataclass(frozen=True, slots=True)
class Price:
    """What was asked for, exactly; one of epsilon, rho and error is there, delta only beside epsilon."""

    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None
    error: Fraction | None

    def noise(
        self,
        *,
        shift: int,
        relation: Relation,
        width: Callable[[NoisyVector], float],
        squared: int | None = None,
        scalar: bool = False,
    ) -> NoisyVector:
        """Return the noise for integers that neighbors move by `shift` in L1 and the root of `squared` in L2.

        Without `squared` the two distances are the same. `width` predicts the half-width of the answer, in its own
        unit, from the noise; it is used for `error=`.
        """
        squared = shift * shift if squared is None else squared
        if self.rho is not None:
            return NoisyVector.gaussian(rho=self.rho, shift=shift, squared=squared, relation=relation, scalar=scalar)
        if self.epsilon is not None and self.delta is not None:
            target = ApproxDP(written_up(self.epsilon), written_down(self.delta), relation=relation)
            return NoisyVector.calibrated(target, shift=shift, squared=squared, scalar=scalar)

        def laplace(epsilon: Fraction) -> NoisyVector:
            return NoisyVector.laplace(epsilon=epsilon, shift=shift, relation=relation, scalar=scalar)

        if self.epsilon is not None:
            return laplace(self.epsilon)
        return laplace(self.cheapest(lambda epsilon: width(laplace(epsilon))))

    def cheapest(self, width: Callable[[Fraction], float]) -> Fraction:
        """Return the least epsilon, to nine digits, whose predicted half-width is at most the error asked for."""
        if self.error is None:
            raise AssertionError("only error= is searched for")
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the search passes senseless prices; what it returns is judged again
            high = 1.0
            for _ in range(_SEARCH):
                if width(Fraction(high)) <= self.error:
                    break
                high *= 2.0
            else:
                raise ParameterError("no price buys so small an error: it is below the grid", parameter="error")
            low = high / 2.0
            while low > 2.0**-_SEARCH and width(Fraction(low)) <= self.error:
                low, high = low / 2.0, low
            while high - low > high * _PRECISION:
                middle = (low + high) / 2.0
                low, high = (low, middle) if width(Fraction(middle)) <= self.error else (middle, high)
        return Fraction(high)


def stated_price(
    *, epsilon: Number | None, delta: Number | None = None, rho: Number | None = None, error: Number | None = None
) -> Price:
    """Return the price that was asked for; refuse none, and mixtures."""
    given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("error", error)) if value is not None]
    if not given:
        raise MissingParameter(
            "give epsilon=, rho= or error=: the price of an answer is never defaulted", parameter="epsilon"
        )
    if len(given) > 1:
        raise ConflictingParameters(
            f"give one of epsilon=, rho= and error=, not {' and '.join(given)}: each settles the noise alone",
            parameter=given[1],
        )
    if delta is not None and epsilon is None:
        raise ConflictingParameters("delta= goes with epsilon= only", parameter="delta")
    exact = {
        name: None if value is None else positive_price(value, name=name)
        for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho), ("error", error))
    }
    for name, amount in exact.items():
        if amount is not None and not _LEAST <= amount <= 1 / _LEAST:
            raise ParameterError(f"{name} must lie between 1e-300 and 1e300", parameter=name)
    if exact["delta"] is not None and exact["delta"] >= 1:
        raise ParameterError("delta is a small probability, below one over the number of people", parameter="delta")
    return Price(exact["epsilon"], exact["delta"], exact["rho"], exact["error"])


def choosable(price: Price) -> Price:
    """Return a price for a choice by rank; one too small to tell any table from an empty one is refused."""
    for name, amount in (("epsilon", price.epsilon), ("rho", price.rho)):
        if amount is not None and amount < _LEAST_CHOICE[name]:
            raise ParameterError(
                f"with so small a {name} the answer would be a random point between the bounds", parameter=name
            )
    return price


def stated_people(people: int | None, error: Number | None, *, of: str) -> int | None:
    """Return the number of rows for which `error=` is to hold; without it no error of a mean or a moment is known."""
    if error is not None and people is None:
        raise MissingParameter(
            f"the error of a {of} depends on how many rows there are, which may be private: with error= state people=, "
            "the number of rows for which it is to hold",
            parameter="people",
        )
    return None if people is None else whole(people, name="people")


def stated_relation(relation: Relation | None) -> Relation:
    """Return the relation; what counts as a neighbor is never defaulted."""
    if relation is None or relation is Relation.UNSTATED:
        raise MissingParameter(
            "relation= says what is hidden: Relation.ADD_REMOVE, whether a person is in the table at all, or "
            "Relation.CHANGE_ONE, what the person's row says while the number of rows is public",
            parameter="relation",
        )
    if not isinstance(relation, Relation):
        raise ParameterError("relation is Relation.ADD_REMOVE or Relation.CHANGE_ONE", parameter="relation")
    return relation


def stated_confidence(confidence: float) -> float:
    """Return a confidence strictly between 0 and 1."""
    number = isinstance(confidence, int | float | Fraction) and not isinstance(confidence, bool)
    if not (number and math.isfinite(confidence) and 0 < confidence < 1):
        raise ParameterError("confidence is a number strictly between 0 and 1, such as 0.95", parameter="confidence")
    return float(confidence)
