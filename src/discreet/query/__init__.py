"""The curator's engine: a policy, SQL in, private answers out."""

from __future__ import annotations

from discreet.query.answer import Answer, Record
from discreet.query.budget import Budget
from discreet.query.certificate import Certificate
from discreet.query.explain import Explanation
from discreet.query.policy import Policy
from discreet.query.policy_file import parse_policy, read_policy
from discreet.query.session import Session
from discreet.query.top import Top
from discreet.query.types import Type
from discreet.query.watch import Watch

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
