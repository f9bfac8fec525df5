"""Synthetic data for demos, rehearsals, tests and documentation; nothing is downloaded and nobody is described."""

from __future__ import annotations

from discreet.data.hospital import HospitalTable, hospital, visits
from discreet.data.hospital_database import HospitalDatabase, Patients, Regions, Visits, hospital_database
from discreet.data.survey import Diary, Survey, survey
from discreet.data.table import Table

__all__ = [
    "Diary",
    "HospitalDatabase",
    "HospitalTable",
    "Patients",
    "Regions",
    "Survey",
    "Table",
    "Visits",
    "hospital",
    "hospital_database",
    "survey",
    "visits",
]
