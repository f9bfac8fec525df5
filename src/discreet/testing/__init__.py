"""Tests to hold any mechanism to: the conformance kit and the values that break careless code."""

from discreet.testing.conformance import Check, ConformanceFailure, Subject, conformance_checks
from discreet.testing.hostile import HOSTILE_VALUES

__all__ = ["HOSTILE_VALUES", "Check", "ConformanceFailure", "Subject", "conformance_checks"]
