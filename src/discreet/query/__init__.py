"""The curator's engine: a policy, SQL in, private answers out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._optional import listing, loader

if TYPE_CHECKING:
    from discreet.query.answer import Answer, Certificate, Record, Rounding
    from discreet.query.expression import Type
    from discreet.query.policy import Policy, parse_policy, read_policy
    from discreet.query.pricing import Explanation
    from discreet.query.session import Session, SessionBalance, SuggestedBound, Suggestion, TopAnswer, Watch

__all__ = [
    "Answer",
    "Certificate",
    "Explanation",
    "Policy",
    "Record",
    "Rounding",
    "Session",
    "SessionBalance",
    "SuggestedBound",
    "Suggestion",
    "TopAnswer",
    "Type",
    "Watch",
    "parse_policy",
    "read_policy",
]

# reading a policy and a ledger does not need the engine, which is loaded with the first name that does
__getattr__ = loader(
    "discreet.query",
    rooms=("policy", "session"),
    names=__all__,
    of=("expression", "policy", "pricing", "answer", "session"),
)
__dir__ = listing("discreet.query")
