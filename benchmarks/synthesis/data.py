"""The tables that query release is measured on: Adult and KDD99 where they are at hand, else invented people.

They are looked for in the folder that DISCREET_DATA names, or in shared/data beside the repository. What was used is
part of every line; bars hold for the real tables only.
"""

from __future__ import annotations

import bz2
import json
import os
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.data import population, population_values
from discreet.synthesis import Domain, Records

ROOT = Path(__file__).resolve().parent.parent.parent
SEED = 2026

# the upper end of each number and how many bins it has, or how many categories: the form of the paper's experiment
_ADULT = {
    "age": (100, 20),
    "workclass": 8,
    "fnlwgt": (1_600_000, 20),
    "education": 16,
    "education-num": (100, 10),
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "capital-gain": (100_000, 10),
    "capital-loss": (5_000, 10),
    "hours-per-week": (100, 10),
    "native-country": 41,
    "income": 2,
}


@dataclass(frozen=True)
class Loaded:
    """A table to measure on: its records, what to call it, and whether it is the real one."""

    records: Records
    name: str
    real: bool

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.records)


def folder() -> Path | None:
    """Return the folder of the public tables, if there is one."""
    stated = os.environ.get("DISCREET_DATA")
    place = Path(stated) if stated else ROOT.parent / "shared" / "data"
    return place if (place / "adult-dualquery.csv.bz2").exists() else None


@cache
def adult(*, dead: bool = True) -> Loaded:
    """Return the 30 162 training rows of Adult without missing values, in the bins of the paper; else a look-alike.

    The paper's code gives `relationship`, which has 6 values, 60 bins: 54 of its 235 columns are dead. Many of its
    random queries ask about them, so that errors are comparable only with them; without them the width is 181.
    """
    found = folder()
    if found is None:
        return _invented(30_162, "generated look-alike of Adult")
    raw = _numbers(bz2.decompress((found / "adult-dualquery.csv.bz2").read_bytes()).decode(), skip=0)
    sizes = {name: form[1] if isinstance(form, tuple) else form for name, form in _ADULT.items()}
    if dead:
        sizes["relationship"] = 60
    for place, form in enumerate(_ADULT.values()):
        if isinstance(form, tuple):
            upper, bins = form
            raw[place] = np.minimum(raw[place] * bins // upper, bins - 1)
    return Loaded(_records(sizes, raw), "Adult" if dead else "Adult without dead values", real=True)


@cache
def adult_in_full() -> Loaded:
    """Return the 48 842 rows of Adult in 15 columns of codes, one-hot width 280; else a look-alike."""
    found = folder()
    if found is None:
        return _invented(48_842, "generated look-alike of Adult")
    text = (found / "adult.csv").read_text(encoding="utf-8")
    names = text.partition("\n")[0].strip().split(",")
    sizes = json.loads((found / "adult-domain.json").read_text(encoding="utf-8"))
    return Loaded(_records({name: sizes[name] for name in names}, _numbers(text, skip=1)), "Adult in full", real=True)


@cache
def kdd99() -> Loaded:
    """Return the 494 021 rows of the KDD Cup 1999 sample in the bins of the paper; else a look-alike of Adult."""
    found = folder()
    if found is None:
        return _invented(494_021, "generated look-alike of Adult, as large as KDD99")
    text = bz2.decompress((found / "kdd99-binned.csv.bz2").read_bytes()).decode()
    sizes = json.loads((found / "kdd99-binned-domain.json").read_text(encoding="utf-8"))
    names = text.partition("\n")[0].strip().split(",")
    return Loaded(_records({name: sizes[name] for name in names}, _numbers(text, skip=1)), "KDD99", real=True)


def correlated_bits(records: int, attributes: int, *, groups: int = 20, seed: int = SEED) -> Records:
    """Return binary records whose attributes follow one of a few hidden types each, four times in five."""
    random = np.random.default_rng(seed)
    hidden = random.random((groups, records)) < random.uniform(0.1, 0.9, (groups, 1))
    codes = np.empty((attributes, records), dtype=np.uint16)
    for place in range(attributes):
        told = random.random(records) < 0.8
        own = random.random(records) < random.uniform(0.05, 0.6)
        codes[place] = np.where(told, hidden[place % groups], own)
    return Records(Domain.of({f"bit {place}": (0, 1) for place in range(attributes)}), codes)


def _invented(people: int, name: str) -> Loaded:
    domain = Domain.of(population_values())
    return Loaded(domain.encode(population(people, seed=SEED).binned()), name, real=False)


def _records(sizes: dict[str, int], codes: NDArray[np.int64]) -> Records:
    domain = Domain.of({name: tuple(range(size)) for name, size in sizes.items()})
    return Records(domain, codes.astype(np.uint16))


def _numbers(text: str, *, skip: int) -> NDArray[np.int64]:
    """Read lines of whole numbers with commas between, and return one row for each column."""
    lines = np.loadtxt(StringIO(text), delimiter=",", dtype=np.int64, skiprows=skip)
    return np.ascontiguousarray(lines.T)
