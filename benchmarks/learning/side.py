"""What the sides of the learning benchmark share: requests, splits and scores. It needs numpy and scikit-learn alone.

A side is a table of functions, one a model. A function takes a `Request` and a split and returns what the model says of
the held-out rows: classes, numbers, clusters, or a matrix of components. Every side makes the same splits from seeds.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.data import TABLES, Floats, Split, Table

COMPONENTS = CLUSTERS = 10
DELTA = 1e-5
PATIENCE = 3


@dataclass(frozen=True)
class Request:
    """One model on one table at one epsilon, on splits of so many seeds, as far as the time allows."""

    table: str
    score: str
    model: str
    epsilon: float
    seeds: int
    seconds: float

    @property
    def data(self) -> Table:
        """The table."""
        found = TABLES[self.table]()
        if found is None:
            raise FileNotFoundError(self.table)
        return found


Model = Callable[[Request, Split], NDArray[Any]]


def scores(request: Request, model: Model) -> list[float]:
    """Return a score a seed, as many as the time allows; a fit is broken off after three times of it."""
    found: list[float] = []
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for split in request.data.splits(request.seeds):
            try:
                with _no_longer_than(PATIENCE * request.seconds):
                    found.append(SCORES[request.score](split, model(request, split)))
            except TimeoutError:
                break
            if time.process_time() - start > request.seconds and len(found) > 1:
                break
    if not found:
        raise TimeoutError(f"no fit within {PATIENCE * request.seconds:g} s of CPU time")
    return found


@contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, in CPU time."""

    def ring(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def accuracy(split: Split, answer: NDArray[Any]) -> float:
    """Return the share of held-out rows whose class is right."""
    return float(np.mean(split.held_labels == answer))


def explained(split: Split, answer: NDArray[Any]) -> float:
    """Return R2 on the held-out rows."""
    left = np.square(split.held_labels - answer).sum()
    return float(1 - left / np.square(split.held_labels - split.held_labels.mean()).sum())


def agreement(split: Split, answer: NDArray[Any]) -> float:
    """Return the adjusted Rand index of clusters of the held-out rows with their classes."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(split.held_labels, answer))


def variance_kept(split: Split, answer: NDArray[Any]) -> float:
    """Return the share of the variance of the held-out rows that lies in the span of components, a line each."""
    basis = np.linalg.qr(np.asarray(answer, dtype=np.float64).T)[0]
    centered: Floats = split.held_rows - split.held_rows.mean(axis=0)
    return float(np.square(centered @ basis).sum() / np.square(centered).sum())


SCORES = {"accuracy": accuracy, "R2": explained, "ARI": agreement, "variance": variance_kept}


def serve(version: str, models: Mapping[str, Model]) -> None:
    """Answer requests until the input ends; a model that fails says so in one line."""
    for line in sys.stdin:
        request = json.loads(line)
        if request.pop("task") == "version":
            print(json.dumps(version), flush=True)
            continue
        asked = Request(**request)
        try:
            answer: Any = scores(asked, models[asked.model])
        except Exception as failure:  # whatever a peer raises is what is reported of it
            answer = " ".join(str(failure).split())[:80] or type(failure).__name__
        print(json.dumps(answer), flush=True)
