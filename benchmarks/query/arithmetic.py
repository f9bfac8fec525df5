"""Intervals for what is computed from answers: how often they hold the truth, and how wide they are beside the best.

The best is the least half-width that, put around the computed value, holds the truth in 95 % of releases: simulated
from the laws of the noise with the true sums in hand, so that no interval that knows only the answer can be expected
below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import discreet as dp
from benchmarks.common.report import Row
from discreet.query.answer import Answer, Record, finished
from discreet.query.engines import evaluate
from discreet.query.pricing import read_price

RUNS, DRAWS = 1_000, 200_000
SIZES = (100, 1_000, 10_000)  # people in the middle group of four
PARTS = (0.5, 1.0, 1.5, 3.0)
WIDER = 1.15
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Question:
    """A question, the column that is looked at, and how it follows from the sums of all groups."""

    words: str
    sql: str
    column: str
    sums: tuple[str, ...]


QUESTIONS = (
    Question(
        "ratio SUM(cost) / COUNT(*)",
        "SELECT ward, SUM(cost) / COUNT(*) AS x FROM visits GROUP BY ward",
        "x",
        ("sum", "count"),
    ),
    Question(
        "share of the total",
        "SELECT ward, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY ward",
        "x",
        ("count",),
    ),
    Question(
        "difference of two sums",
        "SELECT ward, SUM(cost) FILTER (WHERE old) - SUM(cost) FILTER (WHERE NOT old) AS x FROM visits GROUP BY ward",
        "x",
        ("sum", "sum"),
    ),
)
BUDGETS: dict[str, tuple[Any, Any]] = {
    "Laplace, epsilon 0.5": (dp.PureDP(1), {"epsilon": 0.5}),
    "Gaussian, rho 0.02": (dp.ZCDP(1), {"rho": 0.02}),
}


def arithmetic() -> Iterator[Row]:
    """Ask every question anew in every run."""
    for budget in BUDGETS:
        for question in QUESTIONS:
            for size in SIZES:
                yield measured(question, size, budget)


def measured(question: Question, size: int, budget: str, runs: int = RUNS) -> Row:
    """Return the row of one question: coverage over all groups and runs, and the mean width beside the best one."""
    session, truth = _session(size, BUDGETS[budget][0]), _truth(size)
    made = session._charging.priced(question.sql, read_price(**BUDGETS[budget][1]))
    held, widths = np.zeros(len(PARTS)), np.zeros(len(PARTS))
    true = _computed(question, [[truth[group][name] for group in range(len(PARTS))] for name in _names(question)])
    for _ in range(runs):
        released = made.release(session.engine)
        record = Record(1, "", "bench", replayed=False)
        answer = Answer(made, released, finished(made, released, evaluate), record, "person", "bench")
        for group, one in enumerate(answer.estimates(question.column, CONFIDENCE)):
            low, high = (-math.inf, math.inf) if one.low is None or one.high is None else (one.low, one.high)
            held[group] += low <= true[group] <= high
            widths[group] += (high - low) / 2 / runs
    best = _best(question, made, truth, true)
    coverage, ratio = float(held.sum()) / (runs * len(PARTS)), float((widths / best).max())
    least = CONFIDENCE - 4 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs)
    return Row(
        f"{question.words}, groups of about {size:,} ({budget}): coverage, half-width",
        f"{100 * coverage:.2f} %, {widths[1]:.4g}",
        f"best {best[1]:.4g}",
        f"{ratio:.3f} x at most",
        f">= {100 * least:.1f} %, <= {WIDER} x",
        coverage >= least and ratio <= WIDER,
    )


def _rows(size: int) -> pd.DataFrame:
    counts = [int(part * size) for part in PARTS]
    ward = np.repeat(np.arange(len(PARTS)), counts)
    place = np.arange(len(ward))
    return pd.DataFrame({"p": place, "ward": ward, "cost": (place * 7 % 201) / 2.0, "old": place % 3 == 0})


def _session(size: int, budget: Any) -> dp.Session:
    columns: Any = {
        "ward": {"type": "integer", "values": list(range(len(PARTS)))},
        "cost": {"min": 0, "max": 100},
        "old": {"type": "boolean"},
    }
    return dp.Session.from_frames(visits=_rows(size), unit="row", budget=budget, columns=columns)


def _truth(size: int) -> list[dict[str, float]]:
    frame = _rows(size)
    found = []
    for group in range(len(PARTS)):
        own = frame[frame["ward"] == group]
        old = float(own["cost"][own["old"]].sum())
        found.append({"count": float(len(own)), "sum": float(own["cost"].sum()), "old": old})
        found[-1]["young"] = found[-1]["sum"] - old
    return found


def _names(question: Question) -> tuple[str, ...]:
    return ("old", "young") if question.sums == ("sum", "sum") else question.sums


def _computed(question: Question, sums: Any) -> Any:
    """Compute a question from its sums, one after the other, each with the groups on its last axis."""
    values = [np.asarray(one, dtype=np.float64) for one in sums]
    if question.sums == ("count",):
        return 100 * values[0] / values[0].sum(axis=-1, keepdims=True)
    return values[0] / values[1] if question.sums == ("sum", "count") else values[0] - values[1]


def _best(question: Question, made: Any, truth: list[dict[str, float]], true: Any) -> Any:
    """Return for each group the least half-width around the computed value that holds the truth in 95 % of releases."""
    coins = np.random.default_rng(7)
    noisy = []
    kinds = {"count": "COUNT_ROWS", "sum": "SUM", "old": "SUM", "young": "SUM"}
    for name in _names(question):
        place = next(at for at, one in enumerate(made.measures) if one.asked[0].kind.name == kinds[name])
        law, step = made.measures[place].noise(made.parts[place]).noise, float(made.measures[place].step)
        shape = (DRAWS, len(PARTS))
        scale = float(law.scale)
        if type(law).__name__ == "DiscreteLaplace":
            chance = -np.expm1(-1.0 / scale)
            noise = (coins.geometric(chance, shape) - coins.geometric(chance, shape)) * step
        else:
            noise = np.rint(coins.normal(0.0, scale, shape)) * step
        noisy.append(np.array([one[name] for one in truth]) + noise)
    off = np.abs(_computed(question, noisy) - true)
    return np.quantile(off, CONFIDENCE, axis=0)
