"""Synthetic data for demos, rehearsals, tests and documentation; nothing is downloaded and nobody is described."""

from __future__ import annotations

from discreet.data.hospital import HospitalTable, hospital, visits
from discreet.data.survey import Diary, Survey, survey
from discreet.data.table import Table

__all__ = ["Diary", "HospitalTable", "Survey", "Table", "hospital", "survey", "visits"]
