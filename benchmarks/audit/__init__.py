"""Audits at full count."""
