"""How often intervals hold the unbounded truth where a few people have most of the rows, with and without bias."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

import discreet as dp
from benchmarks.common.report import Row

PEOPLE, ROWS, OUTER, RUNS = 1000, 60, 3000, 1000
HEAVY = 0.07  # of the people
SQL = "SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits"
BAR = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)


def visits() -> pd.DataFrame:
    """Return the visits of invented people: 7 % of them have about 46 % of the rows, nobody more than 3,000."""
    draws = np.random.default_rng(7)
    rows = 1 + draws.poisson(30, PEOPLE)
    heavy = round(HEAVY * PEOPLE)
    rows[:heavy] = np.minimum(60 + draws.exponential(270, heavy).astype(int), OUTER)
    person = np.repeat(np.arange(PEOPLE), rows)
    return pd.DataFrame({"person": person, "cost": draws.gamma(2.0, 30.0, len(person)).clip(0, 500)})


def bias() -> Iterator[Row]:
    """Ask a thousand times, each a release of its own, and count how often the intervals hold the truth."""
    frame = visits()
    share = (frame.person < HEAVY * PEOPLE).mean()
    truth = {"n": float(len(frame)), "cost": float(frame.cost.sum())}
    with dp.Session.from_frames(
        visits=frame,
        unit="person",
        rows=ROWS,
        outer_rows=OUTER,
        budget=dp.PureDP(10**5),
        columns={"cost": {"min": 0, "max": 500}},
    ) as session:
        for bought in (True, False):
            held, width = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0.0)
            for run in range(RUNS):
                answer = session.sql(SQL, epsilon=4 + run / 10**6, bias=bought)
                for name, true in truth.items():
                    (one,) = answer.estimates(name)
                    low, high = float(one.low or 0.0), float(one.high or 0.0)
                    held[name] += low <= true <= high
                    width[name] += (high - low) / RUNS
            for name, count in held.items():
                what = f"{'with' if bought else 'without'} bias: intervals of {name} that hold the unbounded truth"
                words = f"{100 * share:.0f} % of the rows from 7 % of the people"
                bar, holds = (f">= {100 * BAR:.1f} %", count >= BAR * RUNS) if bought else ("", None)
                ratio = f"{width[name] / truth[name]:.3g} x truth wide"
                yield Row(what, f"{100 * count / RUNS:.1f} %", words, ratio, bar, holds)
