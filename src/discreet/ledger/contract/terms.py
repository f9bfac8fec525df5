"""What a ledger is opened for: whose data, who is protected, how much may be spent, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from discreet.errors import ParameterError, RelationMismatch
from discreet.ledger.contract.promises import checked_promise, checked_words, promise_from_plain, promise_to_plain
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP, Relation
from discreet.privacy.adaptive import books_for
from discreet.privacy.records import refuse_fields

_MOST_ODD_BITS = 512  # totals are counted in units of the budget's denominator, and have to be read back


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a ledger, from the policy.

    `lineage` names the data for good: rows that are added, corrected or replaced do not change it and do not renew the
    budget, and it is never made from the content, which would tell neighbouring tables apart. `unit` is the word for
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
        """Refuse terms that could not be kept."""
        checked_words(self.lineage, name="lineage")
        checked_words(self.unit, name="unit")
        _checked_budget(self.budget, name="budget")
        if not isinstance(self.caps, Mapping) or not self.caps:
            raise ParameterError(
                "caps is a mapping from each analyst to a promise, or to None where only the total binds",
                parameter="caps",
            )
        for analyst, cap in self.caps.items():
            checked_words(analyst, name="caps")
            self._check_cap(analyst, cap)
        if not isinstance(self.shared_answers, bool):
            raise ParameterError("shared_answers is True or False", parameter="shared_answers")
        object.__setattr__(self, "caps", MappingProxyType(dict(self.caps)))

    def cap_of(self, analyst: str) -> Guarantee | None:
        """Return an analyst's own cap, None where only the total binds; refuse whoever is not listed."""
        if analyst not in self.caps:
            raise ParameterError(
                f"{analyst!r} is not an analyst of this ledger: add the name to the analysts of the policy and amend "
                "the ledger with the reason. Nothing was spent.",
                parameter="analyst",
            )
        return self.caps[analyst]

    def to_plain(self) -> dict[str, Any]:
        """Return the terms as plain values for an entry."""
        caps = {name: None if cap is None else promise_to_plain(cap) for name, cap in self.caps.items()}
        return {
            "lineage": self.lineage,
            "unit": self.unit,
            "budget": promise_to_plain(self.budget),
            "caps": caps,
            "shared_answers": self.shared_answers,
        }

    @classmethod
    def from_plain(cls, plain: object) -> Terms:
        """Return the terms that an entry holds."""
        given = refuse_fields(plain, ["lineage", "unit", "budget", "caps", "shared_answers"], what="terms")
        caps = {name: None if cap is None else promise_from_plain(cap) for name, cap in dict(given["caps"]).items()}
        return cls(
            lineage=given["lineage"],
            unit=given["unit"],
            budget=promise_from_plain(given["budget"]),
            caps=caps,
            shared_answers=given["shared_answers"],
        )

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


def _checked_budget(promise: object, *, name: str) -> None:
    budget = checked_promise(promise, name=name)
    if not isinstance(budget, PureDP | ApproxDP | ZCDP):
        raise ParameterError(
            f"a ledger keeps its books in PureDP, ApproxDP or ZCDP, not in {type(budget).__name__}", parameter=name
        )
    if isinstance(budget, ApproxDP | ZCDP) and budget.delta >= 1:
        raise ParameterError(f"{name}: a delta of 1 promises nothing: name a delta below 1", parameter=name)
    for number in books_for(budget).read(budget):
        odd = number.denominator // (number.denominator & -number.denominator)
        if odd.bit_length() > _MOST_ODD_BITS:
            raise ParameterError(f"{name}: a fraction of so many digits cannot be kept: name a float", parameter=name)
    if budget.relation is Relation.UNSTATED:
        raise RelationMismatch(
            f"{name}: a ledger must know which tables are neighbours: state relation=Relation.ADD_REMOVE or "
            "Relation.CHANGE_ONE"
        )
