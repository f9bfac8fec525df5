"""The estimators of this floor as tests use them, rows that want to break them, and what a fit releases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.learning import PCA, AdaSSP, KMeans, Ridge, StandardScaler
from discreet.learning.exact import Measurements, measurements
from discreet.privacy import Relation

EVERY: list[type[Any]] = [AdaSSP, KMeans, PCA, Ridge, StandardScaler]
REGRESSIONS: list[type[Any]] = [AdaSSP, Ridge]
OWN: dict[type[Any], dict[str, Any]] = {KMeans: {"n_clusters": 3}}
CELLS = (
    *(0.0, -0.0, 1.0, -1.0, 1 / 3, 0.1 + 0.2, 5e-324, -1e-310, 1e308, -1e308, np.inf, -np.inf, np.nan),
    *(1 + 2.0**-52, -1 - 2.0**-52, 2.0**-60, 0.9999999999999999, 1e17),
)


def made(kind: type[Any], **stated: Any) -> Any:
    """Return an estimator with everything stated; `stated` changes some of it."""
    usual = {"epsilon": 1, "delta": 1e-6, "relation": Relation.ADD_REMOVE, "people": 40, "bounds": (-1, 1)}
    if kind in REGRESSIONS:
        usual["target_bounds"] = (-1, 1)
    return kind(**{**usual, **OWN.get(kind, {}), **stated})


@dataclass(frozen=True)
class Release:
    """Exact sums, and the squared distance that neighbors were said to have."""

    sums: NDArray[Any]
    squared: int


@contextmanager
def frozen(seed: int) -> Iterator[list[Release]]:
    """Answer every release inside with numbers that a seed fixes, whatever the rows, and write down the exact sums."""
    random = np.random.default_rng(seed)
    seen: list[Release] = []
    release = Measurements.release

    def watched(self: Measurements, sums: Any, **stated: Any) -> Any:
        assert np.asarray(sums).dtype.kind in "iO"
        seen.append(Release(np.asarray(sums, dtype=object), stated["squared"]))
        return release(self, sums, **stated)

    def answered(_noise: Any, sums: Any) -> Any:
        longest = np.sqrt(float(seen[-1].squared))
        return np.rint(random.normal(size=np.shape(sums)) * longest * random.choice([0.1, 3.0, 50.0]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Measurements, "release", watched)
        patch.setattr(measurements, "noisy", answered)
        yield seen


def released(model: Any, rows: NDArray[Any], targets: NDArray[Any], seed: int) -> list[Release]:
    """Return what a fit releases before noise, with answers of a seed."""
    with frozen(seed) as seen:
        model.fit(rows, targets)
    return seen


@contextmanager
def noiseless() -> Iterator[None]:
    """Let fits inside add no noise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurements, "noisy", lambda _noise, sums: sums)
        yield


def hostile(random: np.random.Generator, rows: int, features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and targets, ordinary ones and hostile ones mixed."""
    table = random.uniform(-1.2, 1.2, size=(rows, features + 1))
    odd = random.random(table.shape) < random.choice([0.0, 0.03, 1.0], size=(rows, 1), p=[0.6, 0.3, 0.1])
    table = np.where(odd, random.choice(CELLS, size=table.shape), table)
    return table[:, :-1], table[:, -1]


def squared_length(vector: NDArray[Any]) -> int:
    """Return the exact squared norm."""
    return sum(int(entry) ** 2 for entry in vector.ravel())
