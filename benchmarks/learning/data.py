"""The tables that private learning is measured on: four of scikit-learn's, Adult where it is at hand, and two made up.

Adult is looked for in the folder that DISCREET_DATA names, or in shared/data beside the repository. Bounds are the
least and largest value of the whole table, rounded outward to two digits, and every method is given the same ones, as
if they were public; `people` is a round number near the size of the training part, never that size itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROOT = Path(__file__).resolve().parent.parent.parent
ADULT = Path(os.environ.get("DISCREET_DATA", ROOT.parent / "shared" / "data")) / "adult.csv"
MADE_UP = 20_000
TRAINING = 0.7
# splits start here, and made-up tables too: constants of the rules were chosen on other ones
FIRST_SEED = 31_000


class Split(NamedTuple):
    """Rows and labels to learn from, and others to score on."""

    rows: Floats
    labels: NDArray[Any]
    held_rows: Floats
    held_labels: NDArray[Any]
    seed: int


@dataclass(frozen=True)
class Table:
    """A table with what is public about it; `classes` is empty for a regression."""

    name: str
    rows: Floats
    labels: NDArray[Any]
    people: int
    bounds: tuple[Floats, Floats]
    classes: tuple[int, ...] = ()
    target_bounds: tuple[float, float] = (0.0, 1.0)

    def split(self, seed: int) -> Split:
        """Return the training rows and the others, drawn anew for each seed."""
        order = np.random.default_rng(FIRST_SEED + seed).permutation(len(self.rows))
        cut = int(TRAINING * len(order))
        train, held = order[:cut], order[cut:]
        return Split(self.rows[train], self.labels[train], self.rows[held], self.labels[held], seed)

    def splits(self, seeds: int) -> Iterator[Split]:
        """Return one split a seed."""
        return (self.split(seed) for seed in range(seeds))

    def unit(self, rows: Floats) -> Floats:
        """Return rows moved into [-1, 1] by the public bounds."""
        low, high = self.bounds
        moved: Floats = 2 * (np.clip(rows, low, high) - low) / (high - low) - 1
        return moved


def _outward(values: Floats) -> tuple[Floats, Floats]:
    """Return the least and largest value of each column, rounded outward to two digits."""
    return _rounded(values.min(axis=0), np.floor), _rounded(values.max(axis=0), np.ceil)


def _rounded(ends: Floats, towards: Callable[[Floats], Floats]) -> Floats:
    """Round to two significant digits in one direction."""
    sizes = np.abs(ends)
    unit = 10.0 ** (np.floor(np.log10(np.where(sizes > 0, sizes, 1.0))) - 1)
    return towards(np.round(ends / unit, 9)) * unit


def _table(name: str, rows: Floats, labels: NDArray[Any], people: int, classes: int = 0) -> Table:
    """Return a table with bounds from all its rows; a column of one value gets bounds one apart."""
    low, high = _outward(rows)
    bounds = low, np.where(high > low, high, low + 1)
    if classes:
        return Table(name, rows, labels, people, bounds, tuple(range(classes)))
    least, most = _outward(labels[:, None])
    return Table(name, rows, labels, people, bounds, target_bounds=(float(least[0]), float(most[0])))


@cache
def breast_cancer() -> Table:
    """Return 569 tumors by 30 measurements, two classes."""
    return _loaded("breast_cancer", people=400, classes=2)


@cache
def wine() -> Table:
    """Return 178 wines by 13 measurements, three classes."""
    return _loaded("wine", people=125, classes=3)


@cache
def digits() -> Table:
    """Return 1797 images of 64 pixels, ten classes; every pixel is bounded by 0 and 16, as its description says."""
    table = _loaded("digits", people=1_250, classes=10)
    return Table(table.name, table.rows, table.labels, table.people, (np.zeros(64), np.full(64, 16.0)), table.classes)


@cache
def diabetes() -> Table:
    """Return 442 patients by 10 measurements, and the progress of their illness."""
    return _loaded("diabetes", people=300)


def _loaded(name: str, people: int, classes: int = 0) -> Table:
    """Return one of scikit-learn's own tables."""
    from sklearn import datasets

    rows, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    return _table(name, np.asarray(rows, dtype=np.float64), np.asarray(labels), people, classes)


@cache
def adult() -> Table | None:
    """Return 48 842 people by 14 columns of codes, and whether they earn over 50K; None where it is not at hand."""
    if not ADULT.exists():
        return None
    codes = np.loadtxt(ADULT, delimiter=",", skiprows=1)
    rows, labels = codes[:, :-1], codes[:, -1].astype(np.int64)
    bounds = np.zeros(rows.shape[1]), np.array([size - 1.0 for size in ADULT_SIZES])
    return Table("Adult", rows, labels, 34_000, bounds, (0, 1))


# how many codes each column of Adult has, and which columns are numbers in bins: age, final weight, years of school,
# gain, loss, hours
ADULT_SIZES = (32, 9, 32, 16, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42)
ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)


def one_hot(codes: Floats, sizes: tuple[int, ...]) -> Floats:
    """Return a column of ones and zeros for every code of every column."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    out = np.zeros((len(codes), sum(sizes)))
    out[np.arange(len(codes))[:, np.newaxis], codes.astype(np.int64) + starts] = 1
    return out


@cache
def made_up_regression() -> Table:
    """Return 20 000 rows by 20 normal features, a linear target with noise: least squares reaches R2 .893."""
    generator = np.random.default_rng(FIRST_SEED)
    rows = generator.normal(size=(MADE_UP, 20))
    weights = generator.normal(size=20)
    signal = rows @ weights
    labels = signal + generator.normal(size=MADE_UP) * signal.std() * np.sqrt(1 / 0.894 - 1)
    return _table("made-up regression", rows, labels, 15_000)


@cache
def exclusive_or() -> Table:
    """Return 20 000 rows by 6 even features; the label is whether two of them differ in sign, wrong for one in 20."""
    generator = np.random.default_rng(FIRST_SEED)
    rows = generator.uniform(-1, 1, size=(MADE_UP, 6))
    truth = (rows[:, 0] > 0) != (rows[:, 1] > 0)
    labels = (truth ^ (generator.random(MADE_UP) < 1 / 20)).astype(np.int64)
    return _table("exclusive or", rows, labels, 15_000, classes=2)


TABLES: dict[str, Callable[[], Table | None]] = {
    "breast_cancer": breast_cancer,
    "wine": wine,
    "digits": digits,
    "diabetes": diabetes,
    "Adult": adult,
    "made-up regression": made_up_regression,
    "exclusive or": exclusive_or,
}
