"""Exact sums of what was spent, in the notion of the budget, and how much more fits."""

from __future__ import annotations

from fractions import Fraction

from discreet.display import Rounding, format_number
from discreet.errors import MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.ledger.contract.terms import Terms
from discreet.privacy import Guarantee
from discreet.privacy.adaptive import Amounts, Books, Tally, books_for

_DIGITS = 6


def amounts_of(price: Guarantee, terms: Terms) -> Amounts:
    """Return what a price adds to each quantity of the budget's notion, rounded up where it is not exact."""
    if price.relation is not terms.budget.relation:
        raise RelationMismatch(
            f"the price is stated for {price.relation.value!r} and the ledger keeps its budget for "
            f"{terms.budget.relation.value!r}: price the release under the ledger's relation. Nothing was spent."
        )
    try:
        return books_for(terms.budget).read(price)
    except (NoSoundConversion, MissingParameter):
        raise NoSoundConversion(
            f"what {price!r} costs in {type(terms.budget).__name__} does not follow from it alone: state the price in "
            "the notion of the budget. Nothing was spent."
        ) from None


def limits(promise: Guarantee) -> Amounts:
    """Return the most that a budget or a cap allows of each quantity."""
    return books_for(promise).read(promise)


def nothing(terms: Terms) -> Amounts:
    """Return the totals of a ledger in which nothing was spent."""
    return tuple(Fraction(0) for _ in books_for(terms.budget).quantities)


def plus(totals: Amounts, amounts: Amounts, caps: Amounts) -> Amounts:
    """Return the totals with one more release in them: exact, or above the exact sum by less than 2^-2148.

    A function of these three alone, so that a total that was written down can be computed again.
    """
    rows = zip(totals, amounts, caps, strict=True)
    return tuple(Tally.towards(cap).plus(total).plus(amount).total for total, amount, cap in rows)


def within(totals: Amounts, caps: Amounts) -> bool:
    """Say whether no total has passed its cap, exactly."""
    return all(total <= cap for total, cap in zip(totals, caps, strict=True))


def room(totals: Amounts, amounts: Amounts, caps: Amounts) -> int:
    """Return how many more releases of these amounts fit."""
    rows = zip(totals, amounts, caps, strict=True)
    counts = [Tally.towards(cap).plus(total).room(amount, cap) for total, amount, cap in rows]
    known = [count for count in counts if count is not None]
    if not known:
        raise ParameterError("a release that costs nothing always fits, any number of times", parameter="price")
    return min(known)


def spent_promise(totals: Amounts, budget: Guarantee) -> Guarantee:
    """Return the promise that everything so far keeps; a number that is no short fraction is rounded up."""
    books = books_for(budget)
    rows = zip(totals, limits(budget), strict=True)
    return books.write([books.up(total, max(cap, total)) for total, cap in rows], budget.relation)


def remaining_promise(totals: Amounts, budget: Guarantee) -> Guarantee:
    """Return what can still be spent, exactly; nothing where the budget was lowered below what was spent."""
    books = books_for(budget)
    left = (max(cap - total, Fraction(0)) for total, cap in zip(totals, limits(budget), strict=True))
    return books.write([books.down(amount) for amount in left], budget.relation)


def shortage(books: Books, totals: Amounts, amounts: Amounts, caps: Amounts, *, whose: str) -> str:
    """Say which quantity is short and by how much; prices are public."""
    rows = zip(books.quantities, totals, amounts, caps, plus(totals, amounts, caps), strict=True)
    short = [
        f"{name} {_digits(amount, Rounding.UP)}, and {_digits(max(cap - total, Fraction(0)), Rounding.DOWN)} is left"
        for name, total, amount, cap, after in rows
        if after > cap
    ]
    return (
        f"this release costs {'; '.join(short)} of {whose}. Nothing was spent. Ask for a release with more noise, or "
        "stop."
    )


def _digits(value: Fraction, rounding: Rounding) -> str:
    return format_number(value, digits=_DIGITS, rounding=rounding)
