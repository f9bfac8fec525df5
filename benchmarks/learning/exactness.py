"""What exactness costs: one fit of the digits with integer sums and exact noise, beside the same loop in floats."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.common.measure import cpu_seconds, in_turns
from benchmarks.common.report import Row, duration
from benchmarks.learning import ours, prototypes
from benchmarks.learning.data import digits
from benchmarks.learning.side import Request

BAR = 2.5
ROUNDS = 7


def rows() -> Iterator[Row]:
    """Time whole fits in turns, at the epsilons where the number of steps is small, middling and large."""
    table = digits()
    split = table.split(0)
    for epsilon in (0.1, 1.0, 10.0):
        asked = Request("digits", "accuracy", "LogisticRegression", epsilon, seeds=1, seconds=0)
        estimator = ours.learning.LogisticRegression(**ours.stated(asked), classes=table.classes)
        best = in_turns(
            {
                "ours": partial(cpu_seconds, partial(estimator.fit, split.rows, split.labels)),
                "floats": partial(cpu_seconds, partial(_in_floats, epsilon)),
            },
            rounds=ROUNDS,
        )
        times = best["ours"] / best["floats"]
        yield Row(
            f"digits, one fit, epsilon {epsilon:g}",
            duration(best["ours"]),
            f"the same loop in floats {duration(best['floats'])}",
            f"{times:.3g} x",
            f"<= {BAR:g} x",
            times <= BAR,
        )


def _in_floats(epsilon: float) -> None:
    """Fit with numpy's sums and numpy's noise."""
    table = digits()
    prototypes.descent(prototypes.problem(table, table.split(0), epsilon))
