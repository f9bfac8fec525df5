"""The ledger: one atomic step between a question and its cost, and a memory that only grows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, NoReturn

from discreet.errors import NotCopyable, ParameterError
from discreet.ledger.contract import (
    Balance,
    Charge,
    Entry,
    Parts,
    Request,
    Shelf,
    Stored,
    Terms,
    Verification,
    balance_of,
    checked_guarantee,
    complete,
    decide,
    fitting,
    keep_amendment,
    keep_answer,
    keep_beginning,
    keep_outcome,
    keep_taking_up,
    parts_of,
    verified,
)
from discreet.ledger.files import OneAtATime
from discreet.privacy import Guarantee

_PAGE = 64


class Ledger(ABC):
    """What was asked of some data, what it cost and what was answered: entries that are added and never changed.

    A leaf says where entries are kept and what one exclusive step is; the rules are the same for all of them. The
    object belongs to its place and cannot be copied or pickled: a copy could spend the same budget twice.

    Privacy. All answers that leave through the ledger, to all analysts together, keep `terms.budget`, for analysts who
        choose each question in view of all earlier answers.
        Proof: `obtain` is one exclusive step that reads the total, adds the cost, compares with the budget and writes
        the charge; two steps never overlap, so the second sees what the first wrote. An answer can be made only with a
        `Charge`, which exists only after its entry is kept. The rest is the proof of `decide`.
    """

    __slots__ = ("__weakref__",)

    @abstractmethod
    def _turn(self) -> AbstractContextManager[Shelf]:
        """Return one exclusive step: what is appended in it is kept when it ends well, and forgotten otherwise.

        Nothing is returned from inside a step before its end has made the entry durable.
        """

    _turns: OneAtATime

    @abstractmethod
    def _glance(self) -> AbstractContextManager[Shelf]:
        """Return a consistent view for reading."""

    @property
    def terms(self) -> Terms:
        """The terms in force: those of the opening, as amended since."""
        with self._glance() as shelf:
            return shelf.in_force()[0]

    @property
    def head(self) -> str:
        """The hash of the last entry; exported, in a certificate or by mail, it pins everything up to here."""
        with self._glance() as shelf:
            return shelf.in_force()[1].hash

    def obtain(self, request: Request) -> Charge | Stored:
        """Return the answer that was paid for, or charge the request; when this returns, the charge is durable.

        The same digest asked again by the same analyst is the stored answer, free. Another analyst's stored answer,
        where the terms share answers, is charged to the asking analyst's own cap alone. Anything else is charged to
        the total and to the own cap, or refused with `BudgetExceeded`, and then nothing is written.
        """
        _check(request)
        with self._turn() as shelf:
            return decide(shelf, request)

    @contextmanager
    def turn_at(self, request: Request, *, timeout: float) -> Iterator[None]:
        """Hold the turn at a question, so that what is asked at the same time is charged once.

        Whoever wants the answer of the same request, in this process or another, waits here, at most `timeout` seconds;
        then `obtain` gives the answer that was stored meanwhile, or a charge if none was: the holder failed or died.
        Requests of different analysts are the same where the terms share answers.
        """
        _check(request)
        name = request.digest
        if not self.terms.shared_answers:
            name = hashlib.sha256(f"{name} {request.analyst}".encode("utf-8", "surrogatepass")).hexdigest()
        with self._turns.turn(name, timeout=timeout):
            yield

    def store(self, charge: Charge, answer: str) -> Stored:
        """Keep the released answer of a charge, once; hand it out only after this returns."""
        with self._turn() as shelf:
            return keep_answer(shelf, charge, answer)

    def note(self, charge: Charge, outcome: str) -> None:
        """Keep a constant word, such as 'failed', for a charge that released nothing; it stays spent."""
        with self._turn() as shelf:
            keep_outcome(shelf, charge, outcome)

    def parts(self, charge: Charge) -> Parts:
        """Return how far a release that is made part by part has come."""
        with self._glance() as shelf:
            return parts_of(shelf, charge)

    def begin_part(self, charge: Charge, part: int, *, attempt: int) -> None:
        """Write down that a part of a release is about to be drawn; draw it, once, only after this returns.

        Raises `ReleaseSuperseded` where another attempt has taken the release up since; `Parts` says what this is for.
        """
        with self._turn() as shelf:
            keep_beginning(shelf, charge, part=part, attempt=attempt)

    def take_up(self, charge: Charge, request: Request, *, start: int, seen: Parts) -> Charge:
        """Charge another attempt at an open release, which begins at part `start`; all earlier attempts are over.

        `request` is made by `taking_up` and priced from `seen`: for the parts from `start` to `seen.most` at least.
        """
        with self._turn() as shelf:
            return keep_taking_up(shelf, charge, request, start=start, seen=seen)

    def amend(
        self,
        *,
        budget: Guarantee | None = None,
        caps: Mapping[str, Guarantee | None] | None = None,
        shared_answers: bool | None = None,
        reason: str,
        by: str,
    ) -> None:
        """Change the budget, all the caps or the sharing from now on; who and why become an entry."""
        given = {"budget": budget, "caps": caps, "shared_answers": shared_answers}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if not changes:
            raise ParameterError("name what to amend: budget, caps or shared_answers", parameter="budget")
        with self._turn() as shelf:
            old, _ = shelf.in_force()
            keep_amendment(shelf, replace(old, **changes), reason=reason, by=by)

    def balance(self, analyst: str | None = None) -> Balance:
        """Return what was spent and what is left, over all analysts and, if one is named, of that one's own cap."""
        with self._glance() as shelf:
            return balance_of(shelf, analyst)

    def fits(self, analyst: str, cost: Guarantee) -> int:
        """Return how many more charges of this cost the total and the analyst's own cap leave room for."""
        checked_guarantee(cost, name="cost")
        with self._glance() as shelf:
            return fitting(shelf, analyst, cost)

    def entries(self) -> Iterator[Entry]:
        """Iterate over everything that was written, in order."""
        start = 1
        while True:
            with self._glance() as shelf:
                page = list(islice(shelf.entries(start), _PAGE))
            if not page:
                return
            yield from page
            start = page[-1].number + 1

    def verify(self, *, head: str | None = None) -> Verification:
        """Check the chain, compute every total again, compare the anchor and, if given, a head exported earlier.

        Raises `LedgerTampered` and names the first entry that is not as it was written.
        """
        with self._glance() as shelf:
            return verified(complete(shelf), head=head, anchored=None)

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise NotCopyable(
            f"a {type(self).__name__} cannot be copied or pickled: the copy could spend the same budget again. Hand "
            "the object itself on, or open the ledger's file in the other process."
        )

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy

    def __repr__(self) -> str:
        terms = self.terms
        return f"{type(self).__name__}(lineage={terms.lineage!r}, unit={terms.unit!r}, budget={terms.budget!r})"

    def _repr_html_(self) -> str:
        """Return the balance for a notebook."""
        return self.balance()._repr_html_()


def _check(request: object) -> None:
    if not isinstance(request, Request):
        raise ParameterError(f"request must be a Request; got {type(request).__name__}", parameter="request")
