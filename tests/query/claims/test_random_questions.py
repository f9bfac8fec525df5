"""Random questions over several tables: plain SQL's answers before the noise, and a price that covers every person.

Joins, numbers for each person, unions, cohorts and public tables in each other. The truth is DuckDB's, which runs the
same text on the rows of somebody; how much noise there is, is read off the law of the noise and the part of the price.
"""

# ruff: noqa: S311, S608, PT017 - a seed makes the same questions every time; which ones are refused is no claim
from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import duckdb
import pytest

from discreet.errors import MissingBound, QueryRefused
from discreet.ledger import MemoryLedger
from discreet.privacy import ZCDP, GaussianDP, Guarantee, Price, PureDP, Relation
from discreet.query import Session
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.measures import Additive
from discreet.query.policy import terms_of
from discreet.query.policy.declarations import UnitLimits
from discreet.query.pricing.price import read_price
from discreet.query.pricing.priced_query import PricedQuery
from discreet.statistics.pricing import NoisyVector
from tests.conftest import Rounds
from tests.query.random_sql import (
    Questions,
    Tables,
    arrow_of,
    frames_of,
    neighbor_of,
    of_somebody,
    policy_of,
    tables_of,
)

QUESTIONS = 15  # of one world
WIDE = UnitLimits(rows=10**4, groups=10**3, rows_per_group=10**4)
KEYS = {"t": ["north", "south", "m", "A"], "day_of_month": [1, 2, 3, 10], "weekday": [0, 1, 2, 3, 4, 5, 6]}
PRICES = {PureDP: {"epsilon": 1}, ZCDP: {"rho": 1}, GaussianDP: {"mu": 1}}


@pytest.fixture
def silent(monkeypatch):
    """Answers without their noise."""
    monkeypatch.setattr(NoisyVector, "__call__", lambda _, value: value)


@contextmanager
def opened(budget: Guarantee, limits: UnitLimits, *worlds: Tables) -> Iterator[list[Session]]:
    """Yield a session over each of these worlds."""
    policy = policy_of(budget, limits)
    engines = [DuckDBEngine(policy, frames_of(tables), threads=1) for tables in worlds]
    try:
        yield [Session(policy, analyst="ana", engine=one, ledger=MemoryLedger(terms_of(policy))) for one in engines]
    finally:
        for engine in engines:
            engine.close()


def in_plain_sql(tables: Tables) -> duckdb.DuckDBPyConnection:
    """Return a database with the rows that are somebody's, and CLAMP."""
    plain = duckdb.connect()
    plain.execute("SET threads = 1")
    for name, rows in of_somebody(tables).items():
        plain.register("given", arrow_of(name, rows))
        plain.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    plain.execute("CREATE MACRO CLAMP(x, low, high) AS CASE WHEN x IS NOT NULL THEN least(greatest(x, low), high) END")
    return plain


def released(made: PricedQuery, session: Session) -> list[dict[object, tuple[int, ...]]]:
    """Return the integers of every measure by group, on the road that they take to an answer."""
    table = made.release(session.engine)
    return [dict(zip(table.keys, zip(*one, strict=True), strict=True)) for one in table.released]


ASKED = ["COUNT(*)", "COUNT(a)", "COUNT(DISTINCT u)", "COUNT(DISTINCT a)", "SUM(CLAMP(a, 0, 9))", "SUM(CLAMP(x, 0, 8))"]


@pytest.mark.usefixtures("silent")
def test_random_questions_have_the_answers_of_plain_sql_before_the_noise(rounds: Rounds) -> None:
    asked = 0
    for seed in range(rounds(sample=90, full=6_000) // QUESTIONS):
        source = random.Random(seed)
        tables = tables_of(source, hostile=False)
        plain = in_plain_sql(tables)
        with opened(PureDP(1), WIDE, tables) as (session,):
            for _ in range(QUESTIONS):
                sql, names = Questions(source).question(source.randint(1, 3), [source.choice(ASKED)])
                keys = {name: KEYS[name] for name in names if name in KEYS}
                try:
                    made = session._charging.priced(sql, read_price(epsilon=1), keys=keys)
                except QueryRefused as refusal:
                    assert any(words in str(refusal) for words in REFUSED), (sql, str(refusal))
                    continue
                (found,) = released(made, session)
                measure, asked = made.measures[0], asked + 1
                columns = {name: place for place, (name, *_) in enumerate(plain.execute(sql).description or ())}
                places = [columns[key.name] for key in made.query.aggregation.keys]
                true = {
                    tuple(row[place] for place in places): row[columns["m0"]] for row in plain.execute(sql).fetchall()
                }
                got = {key: float(one[0] * measure.step) for key, one in found.items()}
                assert got == {key: float(true.get(key) or 0) for key in got}, sql
    assert asked > 50


FORMS = [
    *("COUNT(*)", "COUNT(x)", "COUNT(DISTINCT u)", "COUNT(DISTINCT a)", "COUNT(DISTINCT t)", "SUM(CLAMP(a, -3, 9))"),
    *("SUM(CLAMP(x, 1, 8))", "AVG(CLAMP(x, -2, 8))", "VARIANCE(CLAMP(x, 0, 8))", "COUNT(*) FILTER (WHERE a > 1)"),
    "CORR(CLAMP(a, 0, 5), CLAMP(x, 0, 8))",
]
RANGES = [(0, 3), (-2, 5), (1, 4), (-9, -3)]


@pytest.mark.usefixtures("silent")
def test_one_person_moves_the_answers_by_no_more_than_the_noise_is_priced_for(rounds: Rounds) -> None:
    moved: Counter[str] = Counter()
    for seed in range(rounds(sample=120, full=12_000) // QUESTIONS):
        source = random.Random(seed)
        relation = source.choice([Relation.ADD_REMOVE, Relation.CHANGE_ONE])
        budget = source.choice(
            [PureDP(9, relation=relation), ZCDP(9, relation=relation), GaussianDP(9, relation=relation)]
        )
        tables = tables_of(source, hostile=True)
        other = neighbor_of(source, tables, change=relation is Relation.CHANGE_ONE)
        with opened(budget, _limits(source), tables, other) as (one, two):
            for _ in range(QUESTIONS):
                made = _priced(source, one)
                for before, after, measure, part in zip(
                    *(() if made is None else (released(made, one), released(made, two), made.measures, made.parts)),
                    strict=True,
                ):
                    assert isinstance(measure, Additive)
                    pairs = [pair for key in before for pair in zip(before[key], after[key], strict=True)]
                    _check_noise(measure, part, [first - second for first, second in pairs])
                    moved[type(measure).__name__] += before != after
    assert moved["Simple"] >= 10
    assert all(moved[name] for name in ("MeanOfGroups", "VarianceOfGroups", "UnitTotals", "NumberOfValues")), moved


def _check_noise(measure: Additive, part: Price, change: list[int]) -> None:
    """Check that the noise is wide enough for a change: an L1 distance over epsilon, or an L2 distance over mu."""
    scale = measure.noise_of(part).scale
    if part.epsilon is not None:
        assert sum(map(abs, change)) <= scale * part.epsilon, measure
        return
    squared = sum(one * one for one in change)
    assert squared <= scale**2 * (2 * part.rho if part.mu is None else Fraction(part.mu) ** 2), measure


def _priced(source: random.Random, session: Session) -> PricedQuery | None:
    """Return a question with bounds of its own, settled; None where it is refused."""
    aggregates = source.sample(FORMS, source.choice([1, 1, 2, 3]))
    sql, names = Questions(source).question(source.randint(0, 2), aggregates)
    keys = {
        name: [*KEYS[name], *([...] if name == "t" and source.random() < 0.5 else [])] for name in names if name in KEYS
    }
    clipped = [place for place, one in enumerate(aggregates) if one.startswith(("SUM", "COUNT(*)", "COUNT(x)"))]
    sums = {f"m{place}": source.choice(RANGES) for place in clipped if source.random() < 0.4}
    limits = _limits(source)
    stated = {"rows": limits.rows, "groups": limits.groups, "rows_per_group": limits.rows_per_group}
    price = read_price(**PRICES[type(session.policy.budget)])
    try:
        return session._charging.priced(sql, price, keys=keys, sums=sums, limits=stated)
    except (QueryRefused, MissingBound) as refusal:
        assert any(words in str(refusal) for words in REFUSED), (sql, str(refusal))
        return None


def _limits(source: random.Random) -> UnitLimits:
    return UnitLimits(source.choice([None, 1, 2, 5]), source.choice([None, 1, 2, 4]), source.choice([None, 1, 3]))


REFUSED = (
    "makes groups of one person each",  # a key made of the key of a link
    "would join rows of different people",  # a person in the optional side of a LEFT JOIN
    "would compare rows of different people",
    "private tables are read in one query",
    "are not public",
    "has no bound on the rows of one unit",
    "needs a bound on how many",
)
