"""The invented hospital as a database: patients with a secret bit, their visits, and a public table of regions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.data.invented_hospital import WARDS, ZIP_CODES, visits
from discreet.data.table import Column, InventedTable, write_duckdb

PRACTICE_SIZE = 63
REGIONS = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Linden", "Maple", "Rowan")
DEPARTMENTS = WARDS
NEW_YEAR = np.datetime64("2025-01-01", "D")
_INHABITANTS = (412_000, 365_000, 298_000, 251_000, 187_000, 143_000, 96_000, 58_000)
_COASTAL = (1, 0, 0, 1, 0, 0, 1, 0)


@dataclass(frozen=True, eq=False, repr=False)
class Patients(InventedTable):
    """One row a patient; `marker` is a secret bit, the result of a genetic test.

    `patient_id` counts from 0. `practice` is the family practice, numbered from 0, and `card` the number on its list,
    from 1 to 63: what a neighbor may know.
    """

    patient_id: Column
    practice: Column
    card: Column
    age: Column
    sex: Column
    region: Column
    marker: Column


@dataclass(frozen=True, eq=False, repr=False)
class Visits(InventedTable):
    """One row a visit, several of them a patient; `admitted` is the date of its `day` of the year."""

    visit_id: Column
    patient_id: Column
    day: Column
    admitted: Column
    department: Column
    diagnosis: Column
    nights: Column
    cost: Column


@dataclass(frozen=True, eq=False, repr=False)
class Regions(InventedTable):
    """One row a region: public, and unique by `region`."""

    region: Column
    inhabitants: Column
    coastal: Column


@dataclass(frozen=True, eq=False)
class HospitalDatabase:
    """Three tables that belong together; visits and patients are private, regions are public."""

    patients: Patients
    visits: Visits
    regions: Regions

    def columns(self) -> dict[str, dict[str, Column]]:
        """Return every table by name, as its columns by name.

        >>> tables = hospital_database(people=500, seed=1).columns()
        >>> list(tables), list(tables["regions"])
        (['patients', 'visits', 'regions'], ['region', 'inhabitants', 'coastal'])
        """
        tables: dict[str, InventedTable] = {"patients": self.patients, "visits": self.visits, "regions": self.regions}
        return {name: {column: table.column(column) for column in table.names} for name, table in tables.items()}

    def to_duckdb(self, path: str | Path) -> Path:
        """Write the tables into a new DuckDB file; one that exists is replaced."""
        return write_duckdb(path, self.columns())


def hospital_database(*, people: int, seed: int, most: int = 12) -> HospitalDatabase:
    """Return a database of `people` invented patients with 1 to `most` visits each; the same seed gives the same one.

    People and visits are those of `discreet.data.visits`. The r-th zip code lies in region r modulo 8, so that regions
    are of unequal size. Every patient's marker is 1 or 0 by a fair coin, independently of everything else: nothing
    public tells anything about it.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    >>> base = hospital_database(people=2000, seed=7)
    >>> base.patients
    Patients(2,000 rows, synthetic; columns patient_id, practice, card, age, sex,
        region, marker)
    >>> len(base.visits) > 2000, len(base.regions)
    (True, 8)
    """
    stays = visits(people=people, seed=seed, most=most)
    patient, first = np.unique(stays.person - 1, return_index=True)
    zip_place = np.searchsorted(ZIP_CODES, stays.zip_code[first])
    patients = Patients(
        patient_id=patient,
        practice=patient // PRACTICE_SIZE,
        card=patient % PRACTICE_SIZE + 1,
        age=stays.age[first],
        sex=stays.sex[first],
        region=np.array(REGIONS)[zip_place % len(REGIONS)],
        # a stream of its own: neither the people nor their visits depend on the coins
        marker=np.random.default_rng([seed, people]).integers(0, 2, people),
    )
    return HospitalDatabase(patients, _visits(stays), _regions())


def _visits(stays: InventedTable) -> Visits:
    """Return the visits, numbered from 0."""
    kept = {name: stays.column(name) for name in ("day", "diagnosis", "nights", "cost")}
    return Visits(
        visit_id=np.arange(len(stays)),
        patient_id=stays.column("person") - 1,
        admitted=NEW_YEAR + (stays.column("day") - 1),
        department=stays.column("ward"),
        **kept,
    )


def _regions() -> Regions:
    """Return what everybody may know about the regions."""
    return Regions(np.array(REGIONS), np.array(_INHABITANTS), np.array(_COASTAL))
