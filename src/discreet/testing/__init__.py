"""Tests to hold any mechanism to: the conformance kit, planted faults, and discreet under its own audit."""

from discreet._optional import listing
from discreet.testing.conformance import Check, ConformanceFailure, Subject, conformance_checks
from discreet.testing.hostile import HOSTILE_VALUES
from discreet.testing.own import OwnAudit, OwnVerdict, audit_own
from discreet.testing.planted import PLANTED, Planted

__all__ = [
    "HOSTILE_VALUES",
    "PLANTED",
    "Check",
    "ConformanceFailure",
    "OwnAudit",
    "OwnVerdict",
    "Planted",
    "Subject",
    "audit_own",
    "conformance_checks",
]

__dir__ = listing("discreet.testing")
