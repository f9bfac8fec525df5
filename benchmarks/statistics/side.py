"""What the sides of the statistics benchmark share: requests, draws and squared errors. It needs numpy alone.

A side is a table of functions, one a statistic. A function takes a `Request` and returns its ways of answering it, each
as an array with a row a draw; a key that was not released is not a number. A statistic or relation that the side does
not have is simply absent.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ways = Mapping[str, Floats]
# shown beside the others and not compared: what the peer neither has nor recommends, and what keeps another guarantee
BY_HAND, OTHER_GUARANTEE = "by hand: ", "another guarantee: "


@dataclass(frozen=True)
class Request:
    """One statistic of one column under one guarantee, and how many draws of it are wanted."""

    statistic: str
    change_one: bool
    epsilon: float
    delta: float
    bounds: tuple[float, float]
    levels: tuple[float, ...]
    keys: tuple[int, ...]
    draws: int
    values: NDArray[Any]

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.bounds[1] - self.bounds[0]

    @property
    def middle(self) -> float:
        """The middle of the bounds."""
        return (self.bounds[0] + self.bounds[1]) / 2


def squared_errors(released: Floats, truth: Floats) -> dict[str, list[float]]:
    """Return the squared error of each draw, averaged over its coordinates.

    Where keys may be missing there are three: the share of keys missed, the mean square of those released, and the mean
    square of all with a missing key counted as 0.
    """
    drawn = released.reshape(len(released), -1)
    missing = np.isnan(drawn)
    squares = (drawn - truth) ** 2
    if not missing.any():
        return {"error": squares.mean(axis=1).tolist()}
    shown = np.where(missing, 0.0, squares).sum(axis=1) / np.maximum(1, (~missing).sum(axis=1))
    everything = np.where(missing, truth**2, squares).mean(axis=1)
    return {"missed": missing.mean(axis=1).tolist(), "released": shown.tolist(), "error": everything.tolist()}


def stack(parts: list[Floats]) -> Floats:
    """Put coordinates side by side, a row a draw."""
    return np.stack(parts, axis=1)


def distinct(values: NDArray[Any]) -> int:
    """Return how many different values there are."""
    return len(np.unique(values))


def variance_of_moments(count: Floats, first: Floats, second: Floats, width: float) -> Floats:
    """Return variances from noisy counts, sums and sums of squares, cut to what a variance can be."""
    size = np.maximum(count, 1.0)
    answer: Floats = np.clip(second / size - (first / size) ** 2, 0.0, width**2 / 4)
    return answer


Statistics = Mapping[str, Callable[[Request], Ways]]


def serve(version: str, statistics: Statistics) -> None:
    """Answer requests until the input ends; columns are sent once and named afterwards."""
    columns: dict[str, NDArray[Any]] = {}
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line), version, statistics, columns)), flush=True)


def _answer(
    request: dict[str, Any], version: str, statistics: Statistics, columns: dict[str, NDArray[Any]]
) -> str | dict[str, dict[str, list[float]]]:
    """Return a version, an acknowledgement of a column, or the squared errors of each way to a statistic."""
    task = request.pop("task")
    if task == "version":
        return version
    if task == "column":
        columns[request["name"]] = np.array(request["values"])
        return "kept"
    truth = np.array(request.pop("truth"), dtype=np.float64)
    listed: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in request.items()
    }
    asked = Request(values=columns[listed.pop("column")], **listed)
    answer = statistics.get(asked.statistic)
    ways = answer(asked) if answer else {}
    return {way: squared_errors(np.asarray(drawn, dtype=np.float64), truth) for way, drawn in ways.items()}
