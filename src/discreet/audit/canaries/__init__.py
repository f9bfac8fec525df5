"""Audits from one run: canaries, guesses, and how many right ones a guarantee allows."""

from discreet.audit.canaries.one_run_audit import Canaries, OneRun, one_run
