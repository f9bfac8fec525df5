"""Synthetic data for demos, rehearsals, tests and documentation; nothing is downloaded and nobody is described."""

from __future__ import annotations

from discreet.data.browsing import Browsing, browsing
from discreet.data.census_block import CensusBlock, census_block
from discreet.data.genomes import Genomes, Panel, genomes
from discreet.data.hospital import HospitalTable, hospital, visits
from discreet.data.hospital_database import HospitalDatabase, Patients, Regions, Visits, hospital_database
from discreet.data.population import Population, population, population_columns, population_values
from discreet.data.ratings import Hearsay, Ratings, hearsay, ratings
from discreet.data.register import City, Discharges, Register, register
from discreet.data.survey import Diary, Survey, survey
from discreet.data.table import InventedTable

__all__ = [
    "Browsing",
    "CensusBlock",
    "City",
    "Diary",
    "Discharges",
    "Genomes",
    "Hearsay",
    "HospitalDatabase",
    "HospitalTable",
    "InventedTable",
    "Panel",
    "Patients",
    "Population",
    "Ratings",
    "Regions",
    "Register",
    "Survey",
    "Visits",
    "browsing",
    "census_block",
    "genomes",
    "hearsay",
    "hospital",
    "hospital_database",
    "population",
    "population_columns",
    "population_values",
    "ratings",
    "register",
    "survey",
    "visits",
]
