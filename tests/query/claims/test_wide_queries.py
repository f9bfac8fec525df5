"""Queries with hundreds of columns, conditions and terms: read as they are meant, and soon."""

# ruff: noqa: S608 - the statements here are made of our own text, which is what is being tested
from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.errors import ParameterError, UnsupportedSQL
from discreet.laws.noise import noise
from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.noise.truncated_laplace import TruncatedLaplace
from discreet.query.plan.canonical_form import written
from discreet.query.reading.query import read_query

COLUMNS, ROWS = 300, 50
KINDS, SCALES = (DiscreteLaplace, DiscreteGaussian), (0.01, 0.3, 7, 2.0**35)
NAMES = [f"c{place}" for place in range(COLUMNS)]
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    values = np.random.default_rng(5).integers(0, 2, (ROWS, COLUMNS))
    return pandas.DataFrame({"id": np.arange(ROWS), **{name: values[:, i] for i, name in enumerate(NAMES)}})


@pytest.fixture(scope="module")
def session(table: pandas.DataFrame) -> dp.Session:
    declared = {name: {"min": 0, "max": 1, "type": "integer"} for name in NAMES}
    return dp.Session.from_frames(unit="id", rows=1, budget=dp.PureDP(10**9), columns=declared, visits=table)


def _answer(session: dp.Session, sql: str) -> float:
    # the noise has a scale of at most 300 / 10^6: it is beyond 0.01 with a chance of e^-33, and at scale 1e-6 never
    return float(session.sql(sql, epsilon=10**6)["n"][0])


def _condition(place: int) -> str:
    return f"c{place} + {place} < {place + 1}" if place < 3 else f"c{place} < 5"


CHAINS: dict[str, tuple[str, Callable[[pandas.DataFrame], float]]] = {
    "conditions joined by AND": (
        "COUNT(*) AS n FROM visits WHERE " + " AND ".join(map(_condition, range(COLUMNS))),
        lambda t: float(((t.c0 < 1) & (t.c1 < 1) & (t.c2 < 1)).sum()),
    ),
    "conditions joined by OR": (
        "COUNT(*) AS n FROM visits WHERE " + " OR ".join(f"c{i % 3} > 0 AND c{i} < 5" for i in range(COLUMNS)),
        lambda t: float(((t.c0 > 0) | (t.c1 > 0) | (t.c2 > 0)).sum()),
    ),
    "a sum": ("SUM(" + " + ".join(NAMES) + ") AS n FROM visits", lambda t: float(t[NAMES].sum().sum())),
    "a difference": (
        "SUM(" + " - ".join(NAMES) + ") AS n FROM visits",
        lambda t: float((2 * t.c0 - t[NAMES].sum(axis=1)).sum()),
    ),
    "signs in turn": (
        "SUM(c0" + "".join(f" {'+-'[i % 3 == 1]} c{i}" for i in range(1, COLUMNS)) + ") AS n FROM visits",
        lambda t: float(sum((-1 if i % 3 == 1 else 1) * t[f"c{i}"].sum() for i in range(COLUMNS))),
    ),
    "a sum of aggregates": (
        " + ".join(f"SUM({name})" for name in NAMES) + " AS n FROM visits",
        lambda t: float(t[NAMES].sum().sum()),
    ),
    "texts": (
        "COUNT(*) AS n FROM visits WHERE LENGTH(" + " || ".join(["'a'"] * COLUMNS) + f") = {COLUMNS}",
        lambda _: float(ROWS),
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_300_is_not_nested_deeply_and_means_what_it_says(
    name: str, session: dp.Session, table: pandas.DataFrame
) -> None:
    sql, expected = CHAINS[name]
    session.explain("SELECT " + sql, epsilon=1)
    assert _answer(session, "SELECT " + sql) == pytest.approx(expected(table), abs=0.05)


@pytest.mark.parametrize("links", range(28, 40))
def test_a_chain_means_the_same_on_either_side_of_where_it_becomes_long(links: int, session: dp.Session) -> None:
    numbers = [(7 * place + links) % 11 for place in range(links)]
    signs = ["+-"[(place * place + links) % 3 == 1] for place in range(links)]
    total = sum((-1 if sign == "-" else 1) * number for sign, number in zip(signs, numbers, strict=True))
    chain = "".join(f" {sign} {number}" for sign, number in zip(signs, numbers, strict=True))
    wanted = f"SELECT COUNT(*) AS n FROM visits WHERE c0 - c0{chain} = {total}"
    assert _answer(session, wanted) == pytest.approx(ROWS, abs=0.05)


@pytest.mark.parametrize(
    "inner",
    [
        "NOT " * 300 + "c1 > 1",
        "- " * 300 + "c1 > 1",
        "c1" + " * c1" * 300 + " > 1",
        "c1" + "::BIGINT" * 300 + " > 1",
        "(c1 + " * 300 + "c1" + ")" * 300 + " > 1",
        "c1 IS NULL" + " IS NULL" * 300,
        " = ".join(["c1"] * 300),
    ],
)
def test_what_is_nested_deeply_is_refused_in_one_sentence(inner: str, session: dp.Session) -> None:
    with pytest.raises(UnsupportedSQL, match="nested too deeply"):
        session.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {inner}", epsilon=1)


@pytest.mark.parametrize("links", [31, 40])
def test_chains_within_chains_are_bounded_by_their_depth(links: int, session: dp.Session) -> None:
    inner = "c1"
    for _ in range(29):
        inner = "(" + inner + " + c2" * links + ")"
    with pytest.raises(UnsupportedSQL, match="nested too deeply"):
        session.sql(f"SELECT SUM({inner}) AS n FROM visits", epsilon=1)


def test_the_width_of_a_law_is_computed_once_for_all_columns(
    table: pandas.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise._half_width.cache_clear()
    asked: list[int] = []
    tail = DiscreteGaussian.tail_ball
    monkeypatch.setattr(DiscreteGaussian, "tail_ball", lambda law, start: asked.append(start) or tail(law, start))
    session = dp.Session.from_frames(
        unit="id",
        rows=1,
        budget=dp.ZCDP(1, delta=1e-6),
        columns={name: {"min": 0, "max": 1} for name in NAMES},
        visits=table,
    )
    answer = session.sql("SELECT " + ", ".join(f"SUM({name}) AS s{name}" for name in NAMES) + " FROM visits", rho=0.5)
    assert answer.to_pandas().shape == (1, 3 * COLUMNS)
    assert len(asked) <= 40  # a hundred a column before


@pytest.mark.parametrize("law", [DiscreteLaplace(1000), DiscreteGaussian(1000), TruncatedLaplace(1000, reach=4000)])
def test_a_width_is_remembered_without_the_center(law: noise.IntegerNoise) -> None:
    noise._half_width.cache_clear()
    widths = {law.at(center).half_width(0.9, 3) for center in (0, 5, -(10**30))}
    assert len(widths) == 1
    assert noise._half_width.cache_info().currsize == 1
    assert law.half_width(0.9, 4) != law.half_width(0.8, 3)
    assert noise._half_width.cache_info().currsize == 3


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(2.0**400), *(kind(scale) for kind in KINDS for scale in SCALES)], ids=repr
)
@pytest.mark.parametrize("confidence", [1e-300, 1e-12, 0.95, 1 - 1e-12, Fraction(10**400 - 1, 10**400)])
def test_widths_and_quantiles_do_not_depend_on_where_the_search_starts(
    law: noise.IntegerNoise, confidence: float | Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = [law.half_width(confidence), law.half_width(confidence, 17), law.quantile(confidence)]
    noise._half_width.cache_clear()
    monkeypatch.setattr(type(law), "_near", lambda _law, _tail: 0)
    assert near == [law.half_width(confidence), law.half_width(confidence, 17), law.quantile(confidence)]


NESTED = ["NOT " * 90 + "(c0 > 3)", "ABS(" * 29 + "c0" + ")" * 29 + " > 3", "-(" * 29 + "c0" + ")" * 29 + " > 3"]


@pytest.mark.parametrize("condition", NESTED, ids=["not", "function", "minus"])
def test_the_words_of_a_nested_condition_are_as_long_as_the_condition(session: dp.Session, condition: str) -> None:
    # written twice a level they would be 2^29 characters and more, and the call would hardly end
    query = read_query(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", session.policy)
    assert len(written(query)) < 10 * len(condition)


@pytest.mark.parametrize("values", [itertools.count(), range(10**12)], ids=["endless", "very many"])
def test_keys_are_read_no_further_than_there_may_be(session: dp.Session, values: object) -> None:
    with pytest.raises(ParameterError, match="keys= needs 1 to"):
        session.explain("SELECT c0, COUNT(*) AS n FROM visits GROUP BY c0", epsilon=1, keys={"c0": values})


@pytest.mark.parametrize(
    "deep",
    ["GREATEST(" * 20 + "n" + ", n)" * 20, "**".join(["n"] * 25), "NULLIF(" * 28 + "n" + ", 3)" * 28],
)
@pytest.mark.parametrize(
    "written", ["SELECT {} AS x FROM {}", "SELECT n FROM {1} WHERE {0} > 1", "SELECT n FROM {1} ORDER BY {0}"]
)
def test_what_cannot_be_computed_after_the_noise_is_refused_before_the_charge(deep, written, session):
    before = session.balance.charges
    answer = "(SELECT COUNT(*) AS n FROM visits)"
    for ask in (session.explain, session.sql):
        with pytest.raises(UnsupportedSQL, match=r"nested too deeply.*Nothing was spent\.$"):
            ask(written.format(deep, answer), epsilon=0.01)
    assert session.balance.charges == before
