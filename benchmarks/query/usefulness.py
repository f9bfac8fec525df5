"""How far off answers are: six questions about 15,000 customers at a rho of .02, by where their bounds come from.

The tables have TPC-H's sizes at scale .1. Bounds come from `suggest`, whose price is part of the rho; or they are the
policy's, by weights of 150 lines; or sums are clamped for each customer and group to what the policy's 10 lines of the
largest value come to, in at most 20 groups, which is how BigQuery's clause bounds, with bounds that are known.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import discreet as dp
from benchmarks.common.report import Row
from discreet.data import trade_database

RHO, FIRST, RUNS, SCALE, SEED = 0.02, 0.2, 15, 0.1, 1
_MANY_RUNS = 300  # where nothing is bounded, an answer is cheap, and a median of few releases is off by a tenth
_LARGEST_PRICE = 105_000  # of a line, as the policy says
_PRICES = ("sum_base_price", "sum_disc_price", "sum_charge")


@dataclass(frozen=True, slots=True)
class Question:
    """A query, the bar on its median error, and what is clamped for each customer; `measured` are its columns."""

    sql: str
    bar: float
    measured: tuple[str, ...]
    clamps: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    bounded: bool = True


def _clamped(**most: float) -> dict[str, tuple[float, float]]:
    """Return what 10 lines of the largest value come to."""
    return {name: (0, 10 * one) for name, one in most.items()}


QUESTIONS = {
    "Q1": Question(
        "SELECT l_returnflag, l_linestatus, SUM(l_extendedprice) AS sum_base_price, "
        "SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, "
        "SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, "
        "SUM(l_quantity) AS sum_qty, AVG(l_quantity) AS avg_qty, "
        "AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order FROM lineitem "
        "WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus",
        3,
        (*_PRICES, "sum_qty", "avg_qty", "avg_price", "avg_disc", "count_order"),
        _clamped(sum_qty=50, count_order=1, **dict.fromkeys(_PRICES, _LARGEST_PRICE)),
    ),
    "Q3": Question(
        "SELECT o_orderpriority, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem "
        "WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey "
        "AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY o_orderpriority",
        40,
        ("revenue",),
        _clamped(revenue=_LARGEST_PRICE),
    ),
    "Q5": Question(
        "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue "
        "FROM customer, orders, lineitem, supplier, nation, region "
        "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey "
        "AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' "
        "AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name",
        60,
        ("revenue",),
        _clamped(revenue=_LARGEST_PRICE),
    ),
    "Q10": Question(
        "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem, nation "
        "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND c_nationkey = n_nationkey AND l_returnflag = 'R' "
        "AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' GROUP BY n_name",
        25,
        ("revenue",),
        _clamped(revenue=_LARGEST_PRICE),
    ),
    "Q13": Question(
        "SELECT c_count, COUNT(*) AS custdist FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count FROM customer "
        "LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) "
        "GROUP BY c_count",
        15,
        ("custdist",),
        options={"keys": {"c_count": list(range(41))}},
        bounded=False,
    ),
    "Q22": Question(
        "SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, COUNT(*) AS numcust FROM customer "
        "WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > 5000 "
        "AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey) GROUP BY cntrycode",
        4,
        ("numcust",),
        options={"keys": {"cntrycode": ["13", "31", "23", "29", "30", "18", "17"]}},
        bounded=False,
    ),
    "Q22 with balances": Question(
        "SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM customer "
        "WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > 5000 "
        "AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey) GROUP BY cntrycode",
        0,
        ("numcust", "totacctbal"),
        options={"keys": {"cntrycode": ["13", "31", "23", "29", "30", "18", "17"]}},
        bounded=False,
    ),
}


def usefulness() -> Iterator[Row]:
    """Ask every question many times each way, and compare the medians of the relative errors of all cells."""
    with _opened() as (session, plain):
        for name, question in QUESTIONS.items():
            truth = _truth(plain, question)
            ours = _suggested(session, question, truth) if question.bounded else _asked(session, question, truth, {})
            beside = []
            if question.bounded:
                today = _asked(session, question, truth, {})
                clamps = {"groups": 20, "rows_per_group": 10, "sums": question.clamps}
                clamped = _asked(session, question, truth, clamps)
                beside = [f"weights of 150 lines {today:.3g} %", f"clamped by the policy {clamped:.3g} %"]
            words = "bounds from suggest" if question.bounded else "one row a customer, nothing to bound"
            bar, holds = (f"<= {question.bar:g} %", ours <= question.bar) if question.bar else ("", None)
            yield Row(f"median error of {name}, {words}", f"{ours:.3g} %", "; ".join(beside), "", bar, holds)


@contextmanager
def _opened() -> Iterator[tuple[Any, Any]]:
    """Open the trading company, with a budget that is never used up."""
    with tempfile.TemporaryDirectory() as folder:
        base = trade_database(scale=SCALE, seed=SEED)
        source = base.to_duckdb(Path(folder) / "trade.duckdb")
        text = base.policy(source=source.name, budget={"notion": "zcdp", "rho": 1000, "delta": 1e-9})
        policy = Path(folder) / "policy.toml"
        policy.write_text(text, encoding="utf-8")
        with (
            dp.Session.open(policy, analyst="ana") as session,
            duckdb.connect(str(source), read_only=True) as plain,
        ):
            yield session, plain


def _truth(plain: Any, question: Question) -> dict[tuple[Any, ...], tuple[float, ...]]:
    """Return what plain SQL says of every group."""
    result, width = plain.execute(question.sql), len(question.measured)
    if tuple(one[0] for one in result.description[-width:]) != question.measured:
        raise AssertionError("a question lists its keys first, and what is measured in one order")
    rows = result.fetchall()
    return {row[:-width]: tuple(map(float, row[-width:])) for row in rows}


def _suggested(session: Any, question: Question, truth: Mapping[tuple[Any, ...], tuple[float, ...]]) -> float:
    """Return the median error with bounds that a fifth of the price buys, anew each time."""
    found = []
    for run in range(RUNS):
        first = RHO * FIRST * (1 - run * 1e-6)  # every run is a release of its own
        bounds = session.suggest(question.sql, rho=first, multiple=(1 - FIRST) / FIRST, **question.options)
        answer = session.sql(question.sql, rho=RHO - first, **question.options, **bounds.arguments)
        found.append(_errors(answer, question, truth))
    return float(np.median(np.concatenate(found)))


def _asked(
    session: Any,
    question: Question,
    truth: Mapping[tuple[Any, ...], tuple[float, ...]],
    bounds: Mapping[str, Any],
) -> float:
    """Return the median error with bounds that are given."""
    found = [
        _errors(session.sql(question.sql, rho=RHO * (1 - run * 1e-6), **question.options, **bounds), question, truth)
        for run in range(RUNS if question.bounded else _MANY_RUNS)
    ]
    return float(np.median(np.concatenate(found)))


def _errors(answer: Any, question: Question, truth: Mapping[tuple[Any, ...], tuple[float, ...]]) -> Any:
    """Return the relative errors of all cells that plain SQL has, in percent."""
    keys = [name for name in answer.columns if name not in question.measured]
    rows = zip(*(answer[name] for name in keys), strict=True)
    places = {key: place for place, key in enumerate(rows)}
    return np.array(
        [
            100 * abs(answer[name][places[key]] - true[column]) / abs(true[column])
            for key, true in truth.items()
            for column, name in enumerate(question.measured)
            if key in places
        ]
    )
