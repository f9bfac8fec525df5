"""Synthetic data for demos, rehearsals, tests and documentation; nothing is downloaded and nobody is described."""

from discreet._optional import listing
from discreet.data.databases import (
    HospitalDatabase,
    Patients,
    Regions,
    TradeDatabase,
    Visits,
    hospital_database,
    trade_database,
)
from discreet.data.invented_block import CensusBlock, census_block
from discreet.data.invented_browsing import Browsing, browsing
from discreet.data.invented_city import City, Discharges, Register, register
from discreet.data.invented_genomes import Genomes, Panel, genomes
from discreet.data.invented_hospital import HospitalTable, hospital, visits
from discreet.data.invented_population import Population, population, population_columns, population_values
from discreet.data.invented_ratings import Hearsay, Ratings, hearsay, ratings
from discreet.data.invented_survey import Diary, Survey, survey
from discreet.data.invented_writing import Glyphs, Messages, glyphs, messages
from discreet.data.table import InventedTable

__all__ = [
    "Browsing",
    "CensusBlock",
    "City",
    "Diary",
    "Discharges",
    "Genomes",
    "Glyphs",
    "Hearsay",
    "HospitalDatabase",
    "HospitalTable",
    "InventedTable",
    "Messages",
    "Panel",
    "Patients",
    "Population",
    "Ratings",
    "Regions",
    "Register",
    "Survey",
    "TradeDatabase",
    "Visits",
    "browsing",
    "census_block",
    "genomes",
    "glyphs",
    "hearsay",
    "hospital",
    "hospital_database",
    "messages",
    "population",
    "population_columns",
    "population_values",
    "ratings",
    "register",
    "survey",
    "trade_database",
    "visits",
]

__dir__ = listing("discreet.data")
