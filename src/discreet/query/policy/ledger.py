"""The ledger of a policy: the terms that it is opened with, and where it is kept."""

from __future__ import annotations

from discreet.ledger import Ledger, MemoryLedger, SqliteLedger, Terms
from discreet.query.policy.declarations import Policy


def terms_of(policy: Policy) -> Terms:
    """Return the terms under which a policy's ledger is opened."""
    caps = {name: None if one.cap is None else one.cap.under(policy.relation) for name, one in policy.analysts.items()}
    return Terms(
        lineage=policy.lineage,
        unit=policy.unit,
        budget=policy.budget.under(policy.relation),
        caps=caps,
        shared_answers=policy.shared_answers,
    )


def open_ledger(policy: Policy) -> Ledger:
    """Open the ledger that the policy names, or one in memory."""
    if policy.ledger is None:
        return MemoryLedger(terms_of(policy))
    return SqliteLedger.open(policy.ledger, terms_of(policy), anchor=policy.anchor)
