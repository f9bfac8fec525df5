"""What is said to a ledger and what it gives back: terms, a request, a charge, a stored answer.

In an entry a guarantee is plain values: every number an exact rational, every notion and relation by its name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from discreet.errors import ParameterError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation, RenyiDP
from discreet.privacy.adaptive import Amounts, books_for
from discreet.privacy.numbers import exactly, written
from discreet.privacy.records import rational_text, read_rational, refuse_fields

STATED = ("lineage", "unit", "budget", "caps", "shared_answers")
_MOST_ODD_BITS = 512  # totals are counted in units of the budget's denominator, and have to be read back
_NOTIONS: dict[str, type[Guarantee]] = {
    "pure": PureDP, "approximate": ApproxDP, "zero-concentrated": ZCDP, "renyi": RenyiDP, "gaussian": GaussianDP,
}  # fmt: skip
_NAMES = {notion: name for name, notion in _NOTIONS.items()}
_LEAST = Fraction(sys.float_info.min)
_MOST_CHARACTERS = 900  # the totals, of this number and of floats, stay within what `read_rational` reads
_SHORT = 200
_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LONG = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a ledger, from the policy.

    `lineage` names the data for good: rows that are added, corrected or replaced do not change it and do not renew the
    budget, and it is never made from the content, which would tell neighboring tables apart. `unit` is the word for
    who is protected. `budget` is what all analysts may spend together, `caps` what each may spend alone (None: only the
    total binds); an analyst who is not listed is refused. With `shared_answers` an answer that one analyst bought is
    handed to the others at a charge to their own cap.

    >>> budget = PureDP(1, relation=Relation.ADD_REMOVE)
    >>> Terms(lineage="hospital-2026", unit="patient", budget=budget, caps={"ana": None}).budget
    PureDP(epsilon=1, relation=Relation.ADD_REMOVE)
    """

    lineage: str
    unit: str
    budget: Guarantee
    caps: Mapping[str, Guarantee | None]
    shared_answers: bool = False

    def __post_init__(self) -> None:
        checked_words(self.lineage, name="lineage")
        checked_words(self.unit, name="unit")
        _checked_budget(self.budget, name="budget")
        if not isinstance(self.caps, Mapping) or not self.caps:
            raise ParameterError(
                "caps must be a mapping from each analyst to a guarantee, or to None where only the total binds",
                parameter="caps",
            )
        for analyst, cap in self.caps.items():
            checked_words(analyst, name="caps")
            self._check_cap(analyst, cap)
        if not isinstance(self.shared_answers, bool):
            raise ParameterError("shared_answers must be True or False", parameter="shared_answers")
        object.__setattr__(self, "caps", MappingProxyType(dict(self.caps)))

    def cap_of(self, analyst: str) -> Guarantee | None:
        """Return an analyst's own cap, None where only the total binds; raise if the analyst is not listed."""
        if analyst not in self.caps:
            raise ParameterError(
                f"{analyst!r} is not an analyst of this ledger: add the name to the analysts of the policy and amend "
                "the ledger with the reason. Nothing was spent.",
                parameter="analyst",
            )
        return self.caps[analyst]

    def to_plain(self) -> dict[str, Any]:
        """Return the terms as plain values for an entry."""
        caps = {name: None if cap is None else guarantee_to_plain(cap) for name, cap in self.caps.items()}
        given = {name: getattr(self, name) for name in STATED}
        return {**given, "budget": guarantee_to_plain(self.budget), "caps": caps}

    @classmethod
    def from_plain(cls, plain: object) -> Terms:
        """Return the terms that an entry holds."""
        given = refuse_fields(plain, list(STATED), what="terms")
        caps = {name: None if cap is None else guarantee_from_plain(cap) for name, cap in dict(given["caps"]).items()}
        return cls(**{**given, "budget": guarantee_from_plain(given["budget"]), "caps": caps})

    def _check_cap(self, analyst: str, cap: Guarantee | None) -> None:
        if cap is None:
            return
        _checked_budget(cap, name="caps")
        if type(cap) is not type(self.budget):
            raise ParameterError(
                f"the cap of {analyst!r} is a {type(cap).__name__} and the budget a {type(self.budget).__name__}: "
                "state both in one notion",
                parameter="caps",
            )
        if cap.relation is not self.budget.relation:
            raise RelationMismatch(
                f"the cap of {analyst!r} is for {cap.relation.value!r} and the budget for "
                f"{self.budget.relation.value!r}: state both for one relation"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One release that an analyst asks for; every field is public.

    `cost` is the guarantee that the release keeps, under the budget's relation. `digest` is the SHA-256 of the
    canonical plan with its mechanism, privacy parameters, relation and declared data version, and of nothing in the
    data. The
    `idempotency` key, if there is one, is bound to that digest at its first use.
    """

    analyst: str
    cost: Guarantee
    digest: str
    description: str
    releases: tuple[str, ...] = ()
    idempotency: str | None = None

    def __post_init__(self) -> None:
        checked_words(self.analyst, name="analyst")
        checked_guarantee(self.cost, name="cost")
        checked_digest(self.digest, name="digest")
        checked_words(self.description, name="description", most=_LONG)
        if not isinstance(self.releases, tuple):
            raise ParameterError("releases must be a tuple of texts about the mechanisms", parameter="releases")
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
    cost: Guarantee
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
    cost: Guarantee
    entry_hash: str
    shared: bool = False
    lost: tuple[int, ...] = ()


def checked_guarantee(guarantee: object, *, name: str) -> Guarantee:
    """Return a guarantee whose numbers a ledger can add up for ever: 0 or a normal number, of a bounded length.

    >>> checked_guarantee(PureDP(5e-324), name="cost")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: cost: epsilon lies below the least normal float, 2.2e-308; name 0 or a larger ...
    """
    if not isinstance(guarantee, Guarantee) or type(guarantee) not in _NAMES:
        kind = guarantee.__name__ if isinstance(guarantee, type) else type(guarantee).__name__
        raise ParameterError(f"{name} must be a guarantee, for example PureDP(0.1); got {kind}", parameter=name)
    for parameter, value in _numbers(guarantee).items():
        if 0 < value < _LEAST:
            raise ParameterError(
                f"{name}: {parameter} lies below the least normal float, 2.2e-308; name 0 or a larger number",
                parameter=name,
            )
        if len(str(rational_text(value))) > _MOST_CHARACTERS:
            raise ParameterError(
                f"{name}: {parameter} has more than {_MOST_CHARACTERS} digits; round it up to a float", parameter=name
            )
    return guarantee


def _checked_budget(guarantee: object, *, name: str) -> None:
    budget = checked_guarantee(guarantee, name=name)
    if isinstance(budget, RenyiDP):
        raise ParameterError(f"{name} must be PureDP, ApproxDP, ZCDP or GaussianDP; got RenyiDP", parameter=name)
    if not isinstance(budget, PureDP) and getattr(budget, "delta", 0) >= 1:
        raise ParameterError(f"{name}: delta must be below 1, since a delta of 1 guarantees nothing", parameter=name)
    for number in books_for(budget).read(budget):
        odd = number.denominator // (number.denominator & -number.denominator)
        if odd.bit_length() > _MOST_ODD_BITS:
            raise ParameterError(f"{name} must have a shorter denominator; write a float", parameter=name)
    if budget.relation is Relation.UNSTATED:
        raise RelationMismatch(
            f"{name}: a ledger must know which tables are neighbors: state relation=Relation.ADD_REMOVE or "
            "Relation.CHANGE_ONE"
        )


def checked_words(value: object, *, name: str, most: int = _SHORT) -> str:
    """Return a text that is not empty, not too long, and Unicode."""
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{name} must be a text that is not empty", parameter=name)
    if len(value) > most:
        raise ParameterError(f"{name} has more than {most} characters: shorten it", parameter=name)
    if _HALF_OF_A_PAIR.search(value):
        raise ParameterError(f"{name} must be Unicode text; got half of a surrogate pair", parameter=name)
    return value


def checked_digest(value: object, *, name: str) -> str:
    """Return a SHA-256 in hexadecimal.

    >>> checked_digest("abc", name="digest")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: digest must be a SHA-256 written as 64 hexadecimal digits
    """
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        raise ParameterError(f"{name} must be a SHA-256 written as 64 hexadecimal digits", parameter=name)
    return value


def guarantee_to_plain(guarantee: Guarantee) -> dict[str, int | str]:
    """Return the guarantee as names and exact numbers.

    >>> guarantee_to_plain(PureDP(0.5, relation=Relation.ADD_REMOVE))
    {'notion': 'pure', 'relation': 'add/remove', 'epsilon': '1/2'}
    """
    numbers = {name: rational_text(value) for name, value in _numbers(guarantee).items()}
    return {"notion": _NAMES[type(guarantee)], "relation": guarantee.relation.value, **numbers}


def guarantee_from_plain(plain: object) -> Guarantee:
    """Return the guarantee that plain values stand for."""
    notion = _NOTIONS.get(str(plain.get("notion"))) if isinstance(plain, dict) else None
    if notion is None:
        raise ParameterError("a guarantee in an entry needs its notion", parameter="entry")
    names = [field.name for field in fields(notion) if field.name != "relation"]  # type: ignore[arg-type]
    if notion is GaussianDP and isinstance(plain, dict) and "delta" not in plain:
        names.remove("delta")
    given = refuse_fields(plain, ["notion", "relation", *names], what="a guarantee")
    numbers = {name: exactly(read_rational(given[name], name=name)) for name in names}
    return notion(**numbers, relation=Relation(given["relation"]))  # type: ignore[call-arg]  # every notion takes it


def amounts_to_plain(amounts: Sequence[Fraction]) -> list[int | str]:
    """Return exact amounts as integers and fractions."""
    return [rational_text(amount) for amount in amounts]


def amounts_from_plain(plain: object) -> Amounts:
    """Return exact amounts from an entry."""
    if not isinstance(plain, list):
        raise ParameterError("amounts in an entry are a list", parameter="entry")
    return tuple(read_rational(value, name="amount") for value in plain)


def _numbers(guarantee: Guarantee) -> dict[str, Fraction]:
    """Return the numbers of a guarantee; a Gaussian one has its delta only where that is not 0, in one way."""
    names = [field.name for field in fields(guarantee) if field.name != "relation"]  # type: ignore[arg-type]
    if isinstance(guarantee, GaussianDP) and not guarantee.delta:
        names.remove("delta")
    return {name: written(getattr(guarantee, name)) for name in names}
