"""Audits from one run: canaries, guesses, and how many right ones a promise allows."""
