"""The charge before a fit: to a session's ledger, to a ledger at hand, or to nobody but the caller's own books."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError, QueryFailed, RelationMismatch
from discreet.ledger import Charge, Ledger, Request, Stored
from discreet.ledger.contract import GRANTED
from discreet.privacy import Guarantee, Relation
from discreet.randomness import bits

if TYPE_CHECKING:
    from discreet.query import Session

FAILED = (
    "the fit ended early. Whether it does can depend on the data, so the price stays spent and nothing more is said: "
    "look for too little memory, and fit again at the price of a new release"
)


class Priced(Protocol):
    """A price of a fit: for whom, and what a ledger with a budget is charged."""

    @property
    def relation(self) -> Relation:
        """Who is a neighbor."""

    def under(self, budget: Guarantee) -> Guarantee:
        """Return what a ledger with this budget is charged."""


def charged(
    work: Callable[[], None],
    price: Priced,
    description: str,
    *,
    session: Session | None,
    ledger: Ledger | None,
    analyst: str | None,
) -> Charge | None:
    """Charge a fit, then do its work; whatever goes wrong in it becomes one constant message, chained to nothing.

    Without a session or a ledger nothing is written down: the caller keeps the books.
    """
    books = stated_books(session, ledger, analyst)
    charge = None if books is None else obtained(price, description, *books)
    failed = False
    try:
        work()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:
        failed = True
    if books is not None and charge is not None:
        books[0].note(charge, "failed" if failed else GRANTED)
    if failed:  # outside of the handler, so that the message does not carry what was raised
        raise QueryFailed(FAILED)
    return charge


def refuse_books(parameters: Mapping[str, Any]) -> None:
    """Raise an error where a constructor was given a ledger or a session: a model is copied, and books must not be."""
    for name, value in parameters.items():
        if isinstance(value, Ledger) or isinstance(getattr(value, "ledger", None), Ledger):
            raise ParameterError(
                f"{name} must be a public parameter; got a {type(value).__name__}, write fit(X, y, session=...) or "
                "fit(X, y, ledger=...): estimators are copied, ledgers must not be. Nothing was spent.",
                parameter=name,
            )


def stated_books(session: Any, ledger: Any, analyst: Any) -> tuple[Ledger, str] | None:
    """Return the ledger to charge and for whom, or None."""
    if session is not None and ledger is not None:
        raise ConflictingParameters(
            "the charge must go to one ledger; got session= and ledger=, write one of them. Nothing was spent.",
            parameter="ledger",
        )
    if session is not None:
        from discreet.query import Session

        if not isinstance(session, Session):
            raise ParameterError(
                f"session must be a Session; got {type(session).__name__}, write session=dp.Session.open(...). "
                "Nothing was spent.",
                parameter="session",
            )
        return session.ledger, session.analyst
    if ledger is None:
        return None
    if not isinstance(ledger, Ledger):
        raise ParameterError(
            f"ledger must be a Ledger; got {type(ledger).__name__}, write ledger=MemoryLedger(terms), for example. "
            "Nothing was spent.",
            parameter="ledger",
        )
    return ledger, _analyst(ledger, analyst)


def fresh_digest() -> str:
    """Return a name that nothing in any ledger has: 256 random bits."""
    return f"{bits(256):064x}"


def _analyst(ledger: Ledger, analyst: Any) -> str:
    """Return who fits: the one who was named, or the only one whom the ledger knows."""
    known = list(ledger.terms.caps)
    if analyst is None and len(known) > 1:
        raise MissingParameter(
            f"analyst must say who fits, because the ledger knows several; got none, write analyst={known[0]!r}, for "
            "example. Nothing was spent.",
            parameter="analyst",
        )
    return known[0] if analyst is None else str(analyst)


def obtained(price: Priced, description: str, ledger: Ledger, analyst: str, digest: str | None = None) -> Charge:
    """Charge a fit, which is never replayed: the ledger does not know the rows, and its digest is drawn at random."""
    budget = ledger.terms.budget
    if budget.relation is not price.relation:
        raise RelationMismatch(
            f"relation must be that of the ledger ({budget.relation.value}); got {price.relation.value}, write "
            f"relation=Relation.{budget.relation.name}. Nothing was spent."
        )
    request = Request(
        analyst=analyst, cost=price.under(budget), digest=digest or fresh_digest(), description=description
    )
    found = ledger.obtain(request)
    if isinstance(found, Stored):
        raise AssertionError("a fresh digest has no stored answer")
    return found
