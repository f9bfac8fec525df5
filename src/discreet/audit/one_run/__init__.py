"""Audits from one run: canaries, guesses, and how many right ones a promise allows."""

from discreet.audit.one_run.canaries import Canaries
from discreet.audit.one_run.one_run_audit import OneRun, one_run
