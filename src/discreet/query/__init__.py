"""The curator's engine: a policy, SQL in, private answers out."""

from __future__ import annotations

from discreet.query.answer.answer import Answer, Record
from discreet.query.answer.certificate import Certificate
from discreet.query.expression.types import Type
from discreet.query.policy.declarations import Policy
from discreet.query.policy.file import parse_policy, read_policy
from discreet.query.pricing.explanation import Explanation
from discreet.query.session.session import Budget, Session
from discreet.query.session.top import Top
from discreet.query.session.watch import Watch

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
