"""Exact sums of what was spent, in the notion of the budget: how a ledger stands and how much more fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from discreet.display import LastDigit, definition_list, format_number
from discreet.errors import MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.ledger.contract.entry import Shelf
from discreet.ledger.contract.terms import Terms, amounts_from_plain
from discreet.privacy import Guarantee
from discreet.privacy.adaptive import Amounts, Books, Tally, books_for
from discreet.privacy.guarantees import in_odds, in_words, with_notion

_DIGITS = 6


class _Facts(ABC):
    """What is printed as lines, and in a notebook as a list."""

    __slots__ = ()

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return names and words."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.facts())

    def _repr_html_(self) -> str:
        """Return the facts as a list for a notebook."""
        return definition_list(self.facts())


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance(_Facts):
    """What may be spent, was spent and is left: over all analysts, and of one analyst's own cap where one was named.

    `own_cap` and `own_remaining` are None where only the total binds. `charges` counts charges and shares.
    """

    unit: str
    budget: Guarantee
    spent: Guarantee
    remaining: Guarantee
    charges: int
    analyst: str | None = None
    own_cap: Guarantee | None = None
    own_spent: Guarantee | None = None
    own_remaining: Guarantee | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Return names and words: what was spent is rounded up, what is left down."""
        rows = [
            ("unit of protection", self.unit),
            ("neighbors", self.budget.relation.sentence),
            ("budget", with_notion(self.budget)),
            ("budget in odds", in_odds(self.budget)),
            ("spent", in_words(self.spent)),
            ("remaining", in_words(self.remaining, rounding=LastDigit.DOWN)),
            ("remaining in odds", in_odds(self.remaining, rounding=LastDigit.DOWN)),
        ]
        if self.analyst is not None:
            up, down = LastDigit.UP, LastDigit.DOWN
            own = (
                ("own cap", self.own_cap, up),
                ("own spent", self.own_spent, up),
                ("own remaining", self.own_remaining, down),
            )
            rows += [("analyst", self.analyst)]
            rows += [
                (name, in_words(guarantee, rounding=safe)) for name, guarantee, safe in own if guarantee is not None
            ]
        return [*rows, ("charges", f"{self.charges:,}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(_Facts):
    """What a check of the whole ledger found in order: the chain, the totals, the anchor, an exported head.

    `anchored` is None for a ledger in memory. `head_at` is the number of the entry whose hash was exported, None if
    none was given.
    """

    entries: int
    charges: int
    answers: int
    spent: Guarantee
    head: str
    anchored: bool | None = None
    head_at: int | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Return names and words."""
        exported = "none was given" if self.head_at is None else f"is entry {self.head_at}"
        anchor = "none, in memory" if self.anchored is None else "agrees"
        return [
            ("entries", f"{self.entries:,}, chained without a gap"),
            ("charges", f"{self.charges:,}, {self.answers:,} of them with a stored answer"),
            ("spent", f"{in_words(self.spent)}, computed again from the entries"),
            ("anchor", anchor),
            ("exported head", exported),
            ("head", self.head),
        ]


def balance_of(shelf: Shelf, analyst: str | None) -> Balance:
    """Return how a ledger stands, over all analysts and, if one is named, for that one's own cap."""
    terms, last = shelf.in_force()
    spent = amounts_from_plain(last.fields["spent"])
    cap = None if analyst is None else terms.cap_of(analyst)
    own = None if analyst is None else own_total(shelf, terms, analyst)
    return Balance(
        unit=terms.unit,
        budget=terms.budget,
        spent=spent_guarantee(spent, terms.budget),
        remaining=_remaining(spent, terms.budget),
        charges=shelf.charges(analyst),
        analyst=analyst,
        own_cap=cap,
        own_spent=None if own is None else spent_guarantee(own, cap or terms.budget),
        own_remaining=None if own is None or cap is None else _remaining(own, cap),
    )


def fitting(shelf: Shelf, analyst: str, cost: Guarantee) -> int:
    """Return how many more charges of one cost the total and the analyst's own cap leave room for."""
    terms, last = shelf.in_force()
    cap, amounts = terms.cap_of(analyst), amounts_of(cost, terms)
    own = own_total(shelf, terms, analyst)
    count = _room(amounts_from_plain(last.fields["spent"]), amounts, limits(terms.budget))
    return count if cap is None else min(count, _room(own, amounts, limits(cap)))


def own_total(shelf: Shelf, terms: Terms, analyst: str) -> Amounts:
    """Return what an analyst was charged so far."""
    latest = shelf.latest_spending(analyst)
    return nothing(terms) if latest is None else amounts_from_plain(latest.fields["own"])


def amounts_of(cost: Guarantee, terms: Terms) -> Amounts:
    """Return what a cost adds to each quantity of the budget's notion, rounded up where it is not exact."""
    if cost.relation is not terms.budget.relation:
        raise RelationMismatch(
            f"the cost is stated for {cost.relation.value!r} and the ledger keeps its budget for "
            f"{terms.budget.relation.value!r}: price the release under the ledger's relation. Nothing was spent."
        )
    try:
        return books_for(terms.budget).read(cost)
    except (NoSoundConversion, MissingParameter):
        raise NoSoundConversion(
            f"what {cost!r} costs in {type(terms.budget).__name__} does not follow from it alone: state the cost in "
            "the notion of the budget. Nothing was spent."
        ) from None


def limits(guarantee: Guarantee) -> Amounts:
    """Return the most that a budget or a cap allows of each quantity."""
    return books_for(guarantee).read(guarantee)


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


def _room(totals: Amounts, amounts: Amounts, caps: Amounts) -> int:
    """Return how many more releases of these amounts fit."""
    rows = zip(totals, amounts, caps, strict=True)
    counts = [Tally.towards(cap).plus(total).room(amount, cap) for total, amount, cap in rows]
    known = [count for count in counts if count is not None]
    if not known:
        raise ParameterError("a release that costs nothing always fits, any number of times", parameter="cost")
    return min(known)


def spent_guarantee(totals: Amounts, budget: Guarantee) -> Guarantee:
    """Return the guarantee that everything so far keeps; a number that is not a short fraction is rounded up."""
    books = books_for(budget)
    caps = [max(cap, total) for total, cap in zip(totals, limits(budget), strict=True)]
    return books.write(books.up(totals, caps), budget.relation)


def _remaining(totals: Amounts, budget: Guarantee) -> Guarantee:
    """Return what can still be spent, exactly; nothing where the budget was lowered below what was spent."""
    books = books_for(budget)
    left = [max(cap - total, Fraction(0)) for total, cap in zip(totals, limits(budget), strict=True)]
    return books.write(books.down(left), budget.relation)


def shortage(books: Books, totals: Amounts, amounts: Amounts, caps: Amounts, *, whose: str) -> str:
    """Say which quantity is short and by how much; costs are public."""
    rows = zip(books.quantities, totals, amounts, caps, plus(totals, amounts, caps), strict=True)
    short = [
        f"{name} {_digits(amount, LastDigit.UP)}, and {_digits(max(cap - total, Fraction(0)), LastDigit.DOWN)} is left"
        for name, total, amount, cap, after in rows
        if after > cap
    ]
    return (
        f"this release costs {'; '.join(short)} of {whose}. Nothing was spent. Ask for a release with more noise, or "
        "stop."
    )


def _digits(value: Fraction, rounding: LastDigit) -> str:
    return format_number(value, digits=_DIGITS, rounding=rounding)
