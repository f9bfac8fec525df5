"""Time every statistic on rows of many kinds: what it costs must not tell the rows. `make bench-work`.

The number of rows is the same for all kinds, and so are the public numbers. A ratio is the largest over the least
median CPU time of twenty calls, in which the kinds take turns; the bar is 3. Those asked for are equal, sorted,
two-valued and spread rows; the others were made to be slow.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.report import aligned, duration, machine
from discreet import mechanisms, statistics
from discreet.errors import SenselessParameter
from discreet.privacy import Norm, Relation, Sensitivity
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.tree import QuantileTree
from discreet.statistics.ranks.choice import RankChoice, RankFlip

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-work.md"
CALLS, BAR, TOP = 20, 3.0, 1000.0
ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
FIVE = tuple(Fraction(place, 6) for place in range(1, 6))
MANY = tuple(Fraction(place, 41) for place in range(1, 41))
Column = NDArray[Any]


def kinds(size: int) -> dict[str, Column]:
    """Return columns of numbers between 0 and 1000, all of one size."""
    draws = np.random.default_rng(11)
    spread = draws.uniform(0, TOP, size)
    half = spread.copy()
    half[: size // 2] = TOP / 3
    outlier = np.full(size, 1.0)
    outlier[-1] = TOP
    return {
        "equal": np.full(size, TOP / 2),
        "sorted": np.sort(spread),
        "two-valued": np.where(np.arange(size) % 2, 0.0, TOP),
        "spread": spread,
        "at the bounds": np.where(np.arange(size) < size // 2, 0.0, TOP),
        "one outlier": outlier,
        "adjacent floats": np.where(np.arange(size) % 2, np.nextafter(500.0, 501.0), 500.0),
        "denormals": draws.integers(0, 1 << 20, size) * 5e-324,
        "half equal": half,
        "beyond the bounds": spread * 1e300,
        "falling": np.sort(spread)[::-1].copy(),
        "doubling": np.exp2(draws.uniform(-60, 9.9, size)),
    }


def asked() -> dict[str, Callable[[Column], object]]:
    """Return every statistic, at ordinary and at odd prices."""
    bounds, pure = {"bounds": (0, TOP), "relation": ADD_REMOVE}, {"relation": ADD_REMOVE, "epsilon": 1}
    told = {**bounds, "epsilon": 1}
    found: dict[str, Callable[[Column], object]] = {
        "count": lambda x: statistics.count(x, **pure),
        "sum": lambda x: statistics.sum(x, **told),
        "sum, rho": lambda x: statistics.sum(x, **bounds, rho=0.1),
        "sum, persons": lambda x: statistics.sum(x, unit=np.arange(x.size), rows=2, **told),
        "mean": lambda x: statistics.mean(x, **told),
        "mean, change-one": lambda x: statistics.mean(x, bounds=(0, TOP), relation=CHANGE_ONE, epsilon=1),
        "variance": lambda x: statistics.variance(x, **told),
        "standard deviation": lambda x: statistics.standard_deviation(x, **told),
        "quantile": lambda x: statistics.quantile(x, 0.5, **told),
        "quantile with interval": lambda x: statistics.quantile(x, 0.5, interval=True, **told),
        "quantile, whole numbers": lambda x: statistics.quantile(x, 0.9, grid=1, **told),
        "quantile, persons": lambda x: statistics.quantile(x, 0.5, unit=np.arange(x.size), rows=2, **told),
        "clipping bounds": lambda x: statistics.clipping_bounds(x, 0.99, **pure),
        "count distinct": lambda x: statistics.count_distinct(x, **pure),
        "histogram of keys": lambda x: statistics.histogram(np.floor(x / 100), keys=list(range(10)), **pure),
        "discovered histogram": lambda x: statistics.histogram(np.floor(x / 100), keys=None, delta=1e-6, **pure),
        "discovered histogram, many keys": lambda x: statistics.histogram(x, keys=None, delta=1e-6, **pure),
        "count distinct, texts": _of_texts(statistics.count_distinct, **pure),
        "discovered histogram, texts": _of_texts(statistics.histogram, keys=None, delta=1e-6, **pure),
        "histogram, texts": _of_texts(statistics.histogram, keys=["key 500.0", "key 0.0", "a", "b"], **pure),
        "covariance": lambda x: statistics.covariance(
            np.column_stack([x, x[::-1], x]), bounds=[(0, TOP)] * 3, relation=ADD_REMOVE, rho=0.1
        ),
    }
    for name, price in {"epsilon 1": {"epsilon": 1}, "epsilon .01": {"epsilon": 0.01}, "rho 50": {"rho": 50}}.items():
        found[f"quantiles, {name}"] = _bound(statistics.quantiles, levels=FIVE, **bounds, **price)
        found[f"40 quantiles, {name}"] = _bound(statistics.quantiles, levels=MANY, **bounds, **price)
        for tie_bits, steps in ((16, 1 << 30), (0, 1000)):
            grid = {"relation": CHANGE_ONE, "steps": steps, "tie_bits": tie_bits, **price}
            found[f"JointQuantiles, {tie_bits} bits, {name}"] = _ranked(JointQuantiles(levels=FIVE, **grid), steps)
            found[f"QuantileTree, {tie_bits} bits, {name}"] = _ranked(QuantileTree(levels=FIVE, **grid), steps)
        choice = RankChoice(level=0.5, relation=ADD_REMOVE, steps=1 << 30, **price)
        found[f"RankChoice, {name}"] = _ranked(choice, 1 << 30)
    flip = RankFlip(level=0.5, relation=ADD_REMOVE, steps=1000, epsilon=1)
    return {**found, "RankFlip": _ranked(flip, 1000), **_choices()}


def _choices() -> dict[str, Callable[[Column], object]]:
    """Return the mechanisms that choose among scores: the rows are scores there."""
    moved = Sensitivity(1, norm=Norm.LINF, relation=ADD_REMOVE)
    found: dict[str, Callable[[Column], object]] = {}
    for epsilon in (1, 0.001, 1000):
        exponential = mechanisms.Exponential(epsilon=epsilon, sensitivity=moved)
        flip = mechanisms.PermuteAndFlip(epsilon=epsilon, sensitivity=moved)
        noisy = mechanisms.NoisyMax(epsilon=epsilon, sensitivity=moved)
        top = mechanisms.Top(k=5, epsilon=epsilon, sensitivity=moved)
        for name, one in {"Exponential": exponential, "PermuteAndFlip": flip, "NoisyMax": noisy, "Top": top}.items():
            found[f"{name}, epsilon {epsilon}"] = lambda x, one=one: one(_scores(x))
    return found


@cache
def _texts(content: bytes) -> list[str]:
    """Return a text for every number, made once."""
    return [f"key {number}" for number in np.frombuffer(content).tolist()]


def _of_texts(function: Callable[..., object], **rest: object) -> Callable[[Column], object]:
    """Run a statistic on texts; they are made in the first turn, which does not count."""
    return lambda x: function(_texts(x.tobytes()), **rest)


def _scores(column: Column) -> Column:
    """Return whole scores of at most 10^6."""
    return np.minimum(column, TOP).astype(np.int64) * 1000


def _bound(function: Callable[..., object], levels: object, **rest: object) -> Callable[[Column], object]:
    return lambda x: function(x, levels, **rest)


def _ranked(mechanism: Any, steps: int) -> Callable[[Column], object]:
    """Run a mechanism on positions."""
    return lambda x: mechanism((np.clip(x, 0.0, TOP) / TOP * steps).astype(np.int64))


def medians(action: Callable[[Column], object], columns: dict[str, Column], calls: int) -> dict[str, float]:
    """Return the median CPU time on each kind; the kinds take turns."""
    taken: dict[str, list[float]] = {kind: [] for kind in columns}
    for call in range(calls + 1):
        for kind, column in columns.items():
            start = time.process_time()
            action(column)
            if call:  # the first turn fills tables and caches that are public
                taken[kind].append(time.process_time() - start)
    return {kind: median(times) for kind, times in taken.items()}


def main() -> None:
    """Measure, print, and write the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--only", default="", help="statistics whose name holds this text")
    parser.add_argument("--write", action="store_true", help="write the page of the evidence")
    given = parser.parse_args()
    warnings.simplefilter("ignore", SenselessParameter)
    columns, lines, short = kinds(given.rows), [], 0
    for name, action in asked().items():
        if given.only not in name:
            continue
        found = medians(action, columns, given.calls)
        least, most = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        ratio = found[most] / found[least]
        short += ratio > BAR
        verdict = "met" if ratio <= BAR else "SHORT"
        lines.append(
            (name, f"{least} {duration(found[least])}", f"{most} {duration(found[most])}", f"{ratio:.2f}", verdict)
        )
        print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    table = aligned([("statistic", "fastest", "slowest", "ratio", ""), *lines])
    text = (
        f"{given.rows} rows, median CPU time of {given.calls} calls, {len(columns)} kinds of rows in turns.\n\n{table}"
    )
    print(text)
    if given.write and not short:
        PAGE.write_text(f"# Work whatever the rows\n\n{machine()}\n\n{__doc__}\n{text}\n")
    sys.exit(bool(short))


if __name__ == "__main__":
    main()
