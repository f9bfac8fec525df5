"""What is asked of a ledger and what it gives back: a request, a charge, a stored answer."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ParameterError
from discreet.ledger.contract.promises import checked_digest, checked_promise, checked_words
from discreet.privacy import Guarantee

_LONG = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One release that an analyst asks for; every field is public.

    `price` is the promise that the release keeps, under the budget's relation. `digest` is the SHA-256 of the canonical
    plan with its mechanism, privacy parameters, relation and declared data version, and of nothing in the data. The
    `idempotency` key, if there is one, is bound to that digest at its first use.
    """

    analyst: str
    price: Guarantee
    digest: str
    description: str
    releases: tuple[str, ...] = ()
    idempotency: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be written down."""
        checked_words(self.analyst, name="analyst")
        checked_promise(self.price, name="price")
        checked_digest(self.digest, name="digest")
        checked_words(self.description, name="description", most=_LONG)
        if not isinstance(self.releases, tuple):
            raise ParameterError("releases is a tuple of texts about the mechanisms", parameter="releases")
        for words in self.releases:
            checked_words(words, name="releases", most=_LONG)
        if self.idempotency is not None:
            checked_words(self.idempotency, name="idempotency")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A charge that is durable: the right to make one release and to store its answer."""

    number: int
    digest: str
    analyst: str
    price: Guarantee
    entry_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An answer that was released: `number` is the charge that bought it, `entry_hash` the entry that holds it.

    `analyst` is who it is handed to. `shared` says that another analyst bought it. `lost` are the numbers of earlier
    charges for the same question that gave no answer; they stay spent.
    """

    number: int
    answer: str
    digest: str
    analyst: str
    price: Guarantee
    entry_hash: str
    shared: bool = False
    lost: tuple[int, ...] = ()
