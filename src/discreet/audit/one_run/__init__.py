"""Audits from one run: canaries, guesses, and how many right ones a promise allows."""

from __future__ import annotations

from discreet.audit.one_run.canaries import Canaries
from discreet.audit.one_run.one_run_audit import OneRun, one_run

__all__ = ["Canaries", "OneRun", "one_run"]
