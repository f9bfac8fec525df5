"""The curator's engine: a policy, SQL in, private answers out."""

from __future__ import annotations

from discreet.query.answer import Answer, Certificate, Record
from discreet.query.expression import Type
from discreet.query.policy import Policy, parse_policy, read_policy
from discreet.query.pricing import Explanation
from discreet.query.session import Budget, Session, Top, Watch

__all__ = [
    "Answer",
    "Budget",
    "Certificate",
    "Explanation",
    "Policy",
    "Record",
    "Session",
    "Top",
    "Type",
    "Watch",
    "parse_policy",
    "read_policy",
]
