"""Queries in words: which values a literal accepts, joined by and, or, and exclusive or."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.domain.attribute import Attribute

_MOST_LISTED = 6


def literal(attribute: Attribute, accepts: NDArray[np.bool_]) -> str:
    """Return what a literal says.

    >>> literal(Attribute("rooms", (1, 2, 3, 4)), np.array([True, False, True, False]))
    'rooms in (1, 3)'
    """
    accepted = np.flatnonzero(accepts[: attribute.size])
    refused = np.flatnonzero(~accepts[: attribute.size])
    return f"{attribute.name} {_said(attribute, accepted, refused)}"


def _said(attribute: Attribute, accepted: NDArray[np.intp], refused: NDArray[np.intp]) -> str:
    """Return what is said about an attribute, in the shortest of the usual forms."""
    if len(accepted) == 0 or len(refused) == 0:
        return "is anything" if len(accepted) else "is nothing"
    if len(accepted) == 1:
        return f"= {attribute.label(int(accepted[0]))}"
    if len(refused) == 1:
        return f"!= {attribute.label(int(refused[0]))}"
    if len(accepted) > 2 and accepted[-1] - accepted[0] == len(accepted) - 1 and accepted[-1] < len(attribute.values):
        return f"from {attribute.label(int(accepted[0]))} to {attribute.label(int(accepted[-1]))}"
    if len(accepted) <= len(refused):
        return f"in ({_listed(attribute, accepted)})"
    return f"not in ({_listed(attribute, refused)})"


def _listed(attribute: Attribute, codes: NDArray[np.intp]) -> str:
    """Return the labels of codes, the first few of many."""
    shown = [attribute.label(int(code)) for code in codes[:_MOST_LISTED]]
    more = len(codes) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)


def query(statements: list[str], *, parity: bool, negated: bool) -> str:
    """Return what a query says; the statements of a negated conjunction are those that refuse.

    >>> query(["a = 1", "b = 1"], parity=True, negated=False)
    'an odd number of: a = 1, b = 1'
    """
    if parity:
        return f"an {'even' if negated else 'odd'} number of: {', '.join(statements)}"
    return (" or " if negated else " and ").join(statements)
