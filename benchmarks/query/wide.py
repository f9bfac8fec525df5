"""Time one query of 300 sums, intervals and data frame included: `python -m benchmarks.query.wide`; the bar is 2 s CPU.

Equal and different bounds, Laplace and Gaussian noise: equal laws have one width that is remembered, different ones do
not. With widths found anew by bisection from 0 it took 1.2 s with Laplace and 8 s with Gaussian noise.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas as pd

import discreet as dp
from benchmarks.common.report import duration
from discreet.errors import SenselessParameter

COLUMNS, ROWS, BAR = 300, 2000, 2.0


def seconds(*, different: bool, price: dict[str, float], budget: dp.Guarantee) -> float:
    """Return the CPU time of the call and of `to_pandas`, in a fresh session."""
    draws = np.random.default_rng(1)
    names = [f"c{place}" for place in range(COLUMNS)]
    frame = pd.DataFrame({"id": np.arange(ROWS), **{name: draws.uniform(0, 100, ROWS) for name in names}})
    bounds = {name: {"min": 0, "max": 100 + place * different} for place, name in enumerate(names)}
    session = dp.Session.from_frames(unit="id", rows=1, budget=budget, columns=bounds, visits=frame)
    query = f"SELECT {', '.join(f'SUM({name}) AS s{name}' for name in names)} FROM visits"  # noqa: S608  our own names
    start = time.process_time()
    session.sql(query, **price).to_pandas()
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore", SenselessParameter)
    prices = {"Laplace": ({"epsilon": 10}, dp.PureDP(100)), "Gaussian": ({"rho": 1}, dp.ZCDP(10, delta=1e-6))}
    worst = 0.0
    for noise, (price, budget) in prices.items():
        for different in (False, True):
            taken = seconds(different=different, price=price, budget=budget)
            worst = max(worst, taken)
            print(f"{COLUMNS} sums, {noise}, {'different' if different else 'equal'} bounds: {duration(taken)} CPU")
    sys.exit(worst > BAR)


if __name__ == "__main__":
    main()
