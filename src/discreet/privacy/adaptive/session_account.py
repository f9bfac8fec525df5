"""What a session has spent so far: exact, behind one lock, in one process, never copied."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from discreet.display import LastDigit, definition_list, format_number
from discreet.errors import BudgetExceeded, NotCopyable, ParameterError, RelationMismatch
from discreet.laws.number import Number
from discreet.privacy.adaptive.notions import Amounts, Books
from discreet.privacy.adaptive.pricing import Spendable, priced
from discreet.privacy.adaptive.tally import Tally
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.numbers import probability, written
from discreet.privacy.relation import Relation, combine
from discreet.randomness.process import Process

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Standing:
    """The account at one moment; replaced as a whole, so that no reader and no interruption sees half a spend."""

    tallies: tuple[Tally, ...]
    relation: Relation
    begun: bool = False

    def joined(self, relation: Relation) -> Relation:
        """Return the relation that the session has with one more guarantee.

        Only the first guarantee may state it for a session that did not: it is chosen before any answer exists. Later,
        one answer could lead to an add/remove guarantee and another to a change-one guarantee, each alone on its path,
        and the session would keep its budget for neither relation.
        """
        if self.begun and self.relation is Relation.UNSTATED and relation is not Relation.UNSTATED:
            raise RelationMismatch(
                f"this session began without a neighbor relation and cannot take on {relation.value!r} now: which "
                "relation applies would depend on the answers so far. State it when the session is opened: "
                f"relation=Relation.{relation.name}."
            )
        return combine(self.relation, relation)

    def after(self, amounts: Amounts, relation: Relation) -> Standing:
        """Return the account with one more release in it."""
        joined = self.joined(relation)
        return Standing(tuple(t.plus(a) for t, a in zip(self.tallies, amounts, strict=True)), joined, begun=True)


class Account:
    """The account of one live session: what was spent, and the most that may be.

    Check and spend happen under one lock, on exact numbers, and a spend that fails for any reason leaves the books as
    they were. The account belongs to the process that opened it and cannot be copied or pickled: a copy would spend the
    same budget twice.
    """

    __slots__ = ("_books", "_caps", "_lock", "_owner", "_standing")

    def __init__(self, books: Books, caps: Sequence[Fraction], relation: Relation) -> None:
        self._books = books
        self._caps = tuple(caps)
        self._lock = threading.Lock()
        self._owner = Process.here()
        self._standing = Standing(tuple(Tally.towards(cap) for cap in self._caps), relation)

    @property
    def relation(self) -> Relation:
        """The neighbor relation for which the session keeps its guarantee."""
        return self._now().relation

    @property
    def spent(self) -> Guarantee:
        """What all releases so far keep together; a number that is not a short fraction is rounded up."""
        return self._spent_at(self._now())

    def spend(self, guarantee: Spendable, *, at_delta: Number | None = None) -> None:
        """Charge one release before it happens, or raise and charge nothing.

        `guarantee` is a `Guarantee`, the loss of a release, or a `Batch`. `at_delta` names the delta to spend where the
        price in the session's notion depends on one; it is never defaulted.
        """
        self._charge(*self._price(guarantee, at_delta))

    def _charge(self, amounts: Amounts, relation: Relation) -> None:
        """Check and spend as one step; the account is replaced last, so an error before that leaves it unchanged."""
        with self._own_lock():
            after = self._standing.after(amounts, relation)
            if not self._within(after):
                raise BudgetExceeded(self._refusal(amounts, after))
            self._standing = after

    def _price(self, guarantee: Spendable, at_delta: Number | None) -> tuple[Amounts, Relation]:
        """Return the amounts a release costs; nothing here depends on what was spent before."""
        delta = None if at_delta is None else written(probability(at_delta, name="at_delta"))
        if delta is not None and "delta" not in self._books.quantities:
            raise ParameterError(
                f"at_delta is the delta to spend; {self._books.notion.__name__} has no delta: leave it out",
                parameter="at_delta",
            )
        stated, delta_to_read = priced(guarantee, self._books, delta)
        return self._books.read(stated, delta_to_read), stated.relation

    def _spent_at(self, standing: Standing) -> Guarantee:
        totals = [tally.total for tally in standing.tallies]
        return self._books.write(self._books.up(totals, self._caps), standing.relation)

    def _within(self, standing: Standing) -> bool:
        return all(tally.at_most(cap) for tally, cap in zip(standing.tallies, self._caps, strict=True))

    def _now(self) -> Standing:
        with self._own_lock():
            return self._standing

    def _own_lock(self) -> threading.Lock:
        """Return the lock to the process that opened the account; in a forked process it might never be released."""
        if self._owner != Process.here():
            raise NotCopyable(
                "this budget was opened in another process, which may go on spending it. Spend it there, or open one "
                "of its own here, out of what was split off before."
            )
        return self._lock

    def _left(self, standing: Standing) -> tuple[Fraction, ...]:
        return tuple(cap - tally.total for cap, tally in zip(self._caps, standing.tallies, strict=True))

    def _refusal(self, amounts: Amounts, after: Standing) -> str:
        """Say which quantity is short and by how much; prices are public."""
        rows = zip(self._books.quantities, amounts, self._left(self._standing), after.tallies, self._caps, strict=True)
        short = [
            f"{name} {_digits(amount, LastDigit.UP)}, and {_digits(left, LastDigit.DOWN)} is left"
            for name, amount, left, tally, cap in rows
            if not tally.at_most(cap)
        ]
        return f"this release costs {'; '.join(short)}. Nothing was spent. Ask for a release with more noise, or stop."

    def _refuse_copy(self) -> NoReturn:
        raise NotCopyable(
            f"a {type(self).__name__} cannot be copied or pickled: the copy would spend the same budget again. Hand "
            "the object itself on, or reserve a part of it with Partition."
        )

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self._refuse_copy()

    def __reduce__(self) -> NoReturn:
        self._refuse_copy()

    def _rows(self) -> list[tuple[str, str]]:
        """Return what there is to say about the session, by name."""
        return [("spent", repr(self.spent))]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in self._rows())})"

    def _repr_html_(self) -> str:
        """Return the state as a list for a notebook."""
        return definition_list(self._rows())


def _digits(value: Fraction, rounding: LastDigit) -> str:
    return format_number(value, digits=_DIGITS, rounding=rounding)
