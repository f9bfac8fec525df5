"""Ten counts by 50 groups under one (1, 1e-6) budget of each notion: the variance, by the law and as drawn."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd

import discreet as dp
from benchmarks.common.report import Row
from discreet.privacy import largest_mu, largest_rho
from discreet.query.measures import Simple
from discreet.query.policy import concentrated
from discreet.query.pricing import read_price

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
QUESTIONS, GROUPS, EACH, SESSIONS = 10, 50, 20, 20
BAR = 0.87


def notions() -> Iterator[Row]:
    """Compare the budgets; the bar is on the variance of the laws, and what was drawn stands beside it."""
    budgets = {
        "Gaussian": dp.GaussianDP(largest_mu(EPSILON, DELTA)),
        "zCDP, all of delta": dp.ZCDP(largest_rho(EPSILON, DELTA)),
        "zCDP, half of delta for private keys": concentrated(EPSILON, DELTA),
        "pure or approximate": dp.PureDP(EPSILON),
    }
    found = {name: (_by_law(budget), _drawn(budget)) for name, budget in budgets.items()}
    ours, drawn = found.pop("Gaussian")
    for name, (other, other_drawn) in found.items():
        bar = {"bar": f"<= {BAR}", "holds": ours / other <= BAR} if name == "zCDP, all of delta" else {}
        yield Row(
            f"variance of 10 counts by 50 groups, (1, 1e-6) in all: Gaussian budget against {name}",
            f"{ours:.2f} (drawn {drawn:.2f})",
            f"{other:.2f} (drawn {other_drawn:.2f})",
            f"{ours / other:.4f}",
            **bar,
        )


def _session(budget: dp.Guarantee) -> dp.Session:
    frame = pd.DataFrame({"ward": np.arange(GROUPS * EACH) % GROUPS, "turn": 0.0})
    columns = {"ward": {"type": "integer", "values": list(range(GROUPS))}, "turn": {"min": -100, "max": 100}}
    return dp.Session.from_frames(visits=frame, unit="row", budget=budget, columns=columns)


def _by_law(budget: dp.Guarantee) -> float:
    """Return the variance of the law that the noise of one of the questions has."""
    session = _session(budget)
    made = session._charging.priced(_question(0), read_price(share=Fraction(1, QUESTIONS)))
    if session.ledger.fits(session.analyst, made.guarantee) != QUESTIONS:
        raise AssertionError("as many questions share the budget as are asked")
    measure = made.measures[0]
    if not isinstance(measure, Simple):
        raise AssertionError("a count is one sum")
    return measure.noise(made.parts[0]).noise.variance


def _drawn(budget: dp.Guarantee) -> float:
    """Return the mean square of the noise in all answers of some sessions."""
    squares = []
    for _ in range(SESSIONS):
        session = _session(budget)
        for turn in range(QUESTIONS):
            counts = session.sql(_question(turn), share=Fraction(1, QUESTIONS)).to_pandas()["n"].to_numpy()
            squares.append(np.mean((counts - EACH) ** 2.0))
    return float(np.mean(squares))


def _question(turn: int) -> str:
    return f"SELECT ward, COUNT(*) AS n FROM visits WHERE turn > {-turn - 1} GROUP BY ward"  # noqa: S608  our own number
