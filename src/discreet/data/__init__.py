"""Synthetic data for demos, rehearsals, tests and documentation; nothing is downloaded and nobody is described."""

from __future__ import annotations

from discreet.data.hospital import HospitalTable, hospital, visits

__all__ = ["HospitalTable", "hospital", "visits"]
