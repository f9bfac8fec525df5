"""Warnings for promises that are legal but protect nobody, or allow no useful answer."""

from __future__ import annotations

import warnings
from fractions import Fraction

from discreet.errors import SenselessParameter
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP, shown
from discreet.privacy.numbers import whole

_LARGEST_EPSILON = 20
_LARGEST_DELTA = Fraction(1, 100)


def warn_if_senseless(guarantee: Guarantee, people: int | None = None) -> None:
    """Warn, with the reason, when a promise makes no sense for a table of this many people.

    Without the number of people only what is senseless for every table is found.

    Privacy. delta >= 1/n allows a release that publishes one row; epsilon >= 20 allows odds to change by 485 million.
        Proof: let a release publish one of the n rows, chosen at random. If one row is changed, or one is removed and
        the choice is among the others, the laws of the output differ by 1/n in total variation: it is (0, 1/n)-DP.
    Accuracy. With epsilon < 1/n, or mu < 1/n, or rho < 1/(2 n^2), an answer says next to nothing about the table.
        Proof: `group_privacy` with all n people compares the table with any other of n rows (change one) or with the
        empty one (add/remove): the laws of the answer are within a factor e^(n epsilon) < e, or n mu < 1, or n^2 rho <
        1/2.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_senseless(ApproxDP(1, 0.002), people=500)
    >>> print(caught[0].message)
    delta = 0.002 is not below 1/500: publishing one of 500 rows at random would keep this promise. Choose ...
    """
    count = None if people is None else whole(people, name="people")
    for reason in (*_too_weak(guarantee, count), *_too_strong(guarantee, count)):
        warnings.warn(reason, SenselessParameter, stacklevel=2)


def _too_weak(guarantee: Guarantee, people: int | None) -> list[str]:
    """Return what makes the promise protect nobody."""
    reasons = []
    given = getattr(guarantee, "delta", 0)
    delta = Fraction(given)
    if people is not None and delta * people >= 1:
        reasons.append(
            f"delta = {shown(given)} is not below 1/{people}: publishing one of {people} rows at "
            f"random would keep this promise. Choose a delta far below 1/{people}."
        )
    elif delta >= _LARGEST_DELTA:
        reasons.append(
            f"delta = {shown(given)} allows a complete disclosure that often. Choose a delta far "
            "below one over the number of people."
        )
    name, typical = _typical_loss(guarantee)
    if typical >= _LARGEST_EPSILON:
        reasons.append(
            f"{name} this large promises nothing: an adversary's odds may change by a factor of e^{_LARGEST_EPSILON}, "
            "485 million, or more. Choose a smaller one, of the order of 1."
        )
    return reasons


def _too_strong(guarantee: Guarantee, people: int | None) -> list[str]:
    """Return what makes every answer useless."""
    if people is None:
        return []
    match guarantee:
        case PureDP() | ApproxDP():
            name, useless = "epsilon", Fraction(guarantee.epsilon) * people < 1
        case GaussianDP():
            name, useless = "mu", Fraction(guarantee.mu) * people < 1
        case ZCDP():
            name, useless = "rho", Fraction(guarantee.rho) * people**2 * 2 < 1
        case _:
            return []
    bound = f"1/(2 * {people}^2)" if name == "rho" else f"1/{people}"
    if not useless:
        return []
    return [
        f"{name} is below {bound}: even all {people} people together hardly change the answer, so it says nothing "
        f"about them. Choose {name} well above {bound}."
    ]


def _typical_loss(guarantee: Guarantee) -> tuple[str, Fraction]:
    """Return the parameter's name and the loss it lets through: the largest, or for moments the mean."""
    match guarantee:
        case PureDP() | ApproxDP() | RenyiDP():
            return "epsilon", Fraction(guarantee.epsilon)
        case ZCDP():
            return "rho", Fraction(guarantee.rho)
        case GaussianDP():
            return "mu", Fraction(guarantee.mu) ** 2 / 2
    return "", Fraction(0)
