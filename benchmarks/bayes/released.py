"""Real answers: what a posterior, a calibration and a replay leave in the ledger, and an A/B test from a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

import discreet as dp
from benchmarks.bayes.covered import cpu_seconds
from benchmarks.common.bars import Bar
from discreet.bayes import BetaBinomial, beats, calibration, expected_loss, expected_width, posterior

QUERY = "SELECT variant, converted, COUNT(*) AS n FROM visits GROUP BY variant, converted"
COLUMNS = {"variant": {"values": ["a", "b"]}, "converted": {"values": ["yes", "no"]}}
MODEL = BetaBinomial(1, 1, success=("converted", "yes"))
KNOWN = BetaBinomial(1, 1, success=MODEL.success, people={"a": 500, "b": 500})
BUDGETS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (dp.PureDP(4), {"epsilon": 0.5}),
    (dp.ZCDP(1), {"rho": 0.1}),
    (dp.GaussianDP(2), {"mu": 0.3}),
)


def _session(budget: Any) -> dp.Session:
    rows = [("a", "yes")] * 120 + [("a", "no")] * 380 + [("b", "yes")] * 150 + [("b", "no")] * 350
    frame = pd.DataFrame(rows, columns=["variant", "converted"])
    return dp.Session.from_frames(visits=frame, unit="row", budget=budget, columns=COLUMNS)


def ledger() -> Iterator[Bar]:
    """Return, for each kind of budget, whether anything was charged after the answer itself."""
    for budget, price in BUDGETS:
        with _session(budget) as session:
            answer = session.sql(QUERY, **price)
            entries, balance = list(session.ledger.entries()), session.balance
            found = posterior(answer, MODEL)
            calibration(KNOWN, answer.measurements[0].plan, reps=20)
            asked = session.explain(QUERY, **price)
            expected_width(KNOWN, asked, reps=20)
            again = session.sql(QUERY, **price)
            twice = posterior([answer, again], MODEL)
            same = list(session.ledger.entries()) == entries and session.balance == balance
            pairs = zip(found.marginals("share"), twice.marginals("share"), strict=True)
            once = all(one.mean == other.mean and one.ends(0.95) == other.ends(0.95) for one, other in pairs)
        kind = type(budget).__name__
        words = "every entry and balance as before" if same else "DIFFERENT"
        yield Bar(f"{kind}: posterior, calibration, width, replay", words, "unchanged", same)
        yield Bar(f"{kind}: answer and its replay", "enter once" if once else "enter TWICE", "enter once", once)


def half_width(epsilon: float) -> float:
    """Return half the width of what `answer.intervals` prints for counts of groups."""
    groups = [f"g{place}" for place in range(20)]
    frame = pd.DataFrame({"g": groups * 20})
    columns = {"g": {"values": groups}}
    with dp.Session.from_frames(t=frame, unit="row", budget=dp.PureDP(1), columns=columns) as session:
        printed = session.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon=epsilon).intervals(0.95)
    (_, _, low, high) = printed.rows[0]
    return (float(high) - float(low)) / 2


def times() -> Iterator[Bar]:
    """Return what an A/B test takes that starts from an answer: probability that b is better, and expected loss."""
    with _session(dp.PureDP(4)) as session:
        answer = session.sql(QUERY, epsilon=0.5)

    def test() -> None:
        found = posterior(answer, MODEL)
        beats(found, "share", "b", "a")
        expected_loss(found, "share", "b")

    spent = cpu_seconds(test)
    yield Bar("A/B from an answer: probability and expected loss", f"{1e3 * spent:.1f} ms", "<= 50 ms", spent <= 0.05)
