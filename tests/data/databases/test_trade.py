"""The trading company has the benchmark's sizes and keys, its dates and states follow, and its policy opens."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from discreet.data import trade_database
from discreet.data.databases import trade_words as words
from discreet.errors import ParameterError
from discreet.query import Session

BASE = trade_database(scale=0.01, seed=3)
TABLES = BASE.columns()
ORDERS, LINES = TABLES["orders"], TABLES["lineitem"]


def test_the_same_seed_gives_the_same_tables_and_another_seed_others():
    one, two, other = (trade_database(scale=0.001, seed=seed).columns() for seed in (3, 3, 4))
    for name, columns in one.items():
        assert all(np.array_equal(column, two[name][key]) for key, column in columns.items())
    assert not np.array_equal(one["orders"]["o_custkey"], other["orders"]["o_custkey"])


def test_sizes_are_those_of_the_benchmark():
    rows = {name: len(next(iter(columns.values()))) for name, columns in TABLES.items()}
    stated = {"region": 5, "nation": 25, "supplier": 100, "part": 2000, "partsupp": 8000, "customer": 1500}
    assert {name: rows[name] for name in stated} == stated
    assert rows["orders"] == 15_000
    # 4 lines an order with variance 4: within six standard deviations
    assert abs(rows["lineitem"] - 60_000) < 6 * 2 * 15_000**0.5


def test_columns_are_equally_long_and_read_only():
    for columns in TABLES.values():
        assert len({len(column) for column in columns.values()}) == 1
        assert not any(column.flags.writeable for column in columns.values())


def test_a_third_of_the_customers_has_no_orders_and_every_link_arrives():
    assert not (ORDERS["o_custkey"] % 3 == 0).any()
    assert len(np.unique(ORDERS["o_custkey"])) > 990  # 15 orders each: at most a few of 1,000 are left out
    assert np.isin(ORDERS["o_custkey"], TABLES["customer"]["c_custkey"]).all()
    assert np.array_equal(np.unique(LINES["l_orderkey"]), ORDERS["o_orderkey"])
    pairs = set(zip(TABLES["partsupp"]["ps_partkey"].tolist(), TABLES["partsupp"]["ps_suppkey"].tolist(), strict=True))
    assert len(pairs) == 8000
    assert set(zip(LINES["l_partkey"].tolist(), LINES["l_suppkey"].tolist(), strict=True)) <= pairs


@pytest.mark.parametrize("scale", [0.001, 0.0025, 0.006, 0.02])
def test_the_four_suppliers_of_a_part_differ_at_every_scale(scale):
    offers = trade_database(scale=scale, seed=1).columns()["partsupp"]
    pairs = set(zip(offers["ps_partkey"].tolist(), offers["ps_suppkey"].tolist(), strict=True))
    assert len(pairs) == len(offers["ps_partkey"])
    assert offers["ps_suppkey"].max() == round(10_000 * scale)


def test_keys_of_orders_leave_gaps_and_lines_are_numbered():
    keys = ORDERS["o_orderkey"]
    assert len(np.unique(keys)) == len(keys)
    assert set((keys % 32).tolist()) == set(range(1, 9))
    lines = np.bincount(np.searchsorted(keys, LINES["l_orderkey"]))
    assert (lines.min(), lines.max()) == (1, 7)
    assert np.array_equal(np.bincount(LINES["l_linenumber"])[1:2], [len(keys)])


def test_dates_states_and_totals_follow_from_the_lines():
    place = np.searchsorted(ORDERS["o_orderkey"], LINES["l_orderkey"])
    ordered = ORDERS["o_orderdate"][place]
    assert ((LINES["l_shipdate"] - ordered).astype(int) >= 1).all()
    assert (LINES["l_receiptdate"] > LINES["l_shipdate"]).all()
    assert LINES["l_receiptdate"].max() <= words.LAST_DAY
    assert np.array_equal(LINES["l_linestatus"] == "O", LINES["l_shipdate"] > words.TODAY)
    assert np.array_equal(LINES["l_returnflag"] == "N", LINES["l_receiptdate"] > words.TODAY)
    opened = np.bincount(place, weights=LINES["l_linestatus"] == "O")
    assert np.array_equal(ORDERS["o_orderstatus"] == "F", opened == 0)
    paid = LINES["l_extendedprice"] * (1 - LINES["l_discount"]) * (1 + LINES["l_tax"])
    assert np.allclose(np.bincount(place, weights=paid), ORDERS["o_totalprice"], atol=0.01)


def test_values_are_the_public_ones():
    for table, column, values in [
        ("nation", "n_name", words.NATIONS),
        ("customer", "c_mktsegment", words.SEGMENTS),
        ("orders", "o_orderpriority", words.PRIORITIES),
        ("orders", "o_orderstatus", words.STATUSES),
        ("lineitem", "l_returnflag", words.RETURN_FLAGS),
        ("lineitem", "l_shipmode", words.MODES),
        ("lineitem", "l_shipinstruct", words.INSTRUCTIONS),
        ("part", "p_brand", words.BRANDS),
        ("part", "p_type", words.TYPES),
        ("part", "p_container", words.CONTAINERS),
    ]:
        assert set(TABLES[table][column].tolist()) == set(values), column
    for column, (low, high) in [
        (TABLES["customer"]["c_acctbal"], words.BALANCE_RANGE),
        (LINES["l_quantity"], words.QUANTITY_RANGE),
        (LINES["l_extendedprice"], words.PRICE_RANGE),
        (ORDERS["o_totalprice"], words.TOTAL_RANGE),
    ]:
        assert low <= column.min() < column.max() <= high


def test_the_file_holds_the_rows_and_the_policy_opens_it(tmp_path):
    small = trade_database(scale=0.001, seed=3)
    path = small.to_duckdb(tmp_path / "trade.duckdb")
    with duckdb.connect(str(path), read_only=True) as connection:
        for name, columns in small.columns().items():
            stored = connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608
            assert stored == list(zip(*(column.tolist() for column in columns.values()), strict=True))
    text = small.policy(source=path.name, budget={"notion": "zcdp", "rho": 1, "delta": 0})
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    session = Session.open(tmp_path / "policy.toml", analyst="ana")
    assert {"sales", "per_customer"} <= set(session.tables())
    told = session.explain(
        "SELECT c_mktsegment, COUNT(*) FROM sales WHERE o_orderdate < DATE '1995-01-01' GROUP BY c_mktsegment", rho=0.1
    )
    assert "150" in str(told)  # the bound on the lines of one customer


@pytest.mark.parametrize("changed", [{"scale": 0}, {"scale": True}, {"scale": 100}, {"seed": -1}])
def test_parameters_that_make_no_company_are_refused(changed):
    with pytest.raises(ParameterError, match=next(iter(changed))):
        trade_database(**({"scale": 0.001, "seed": 1} | changed))
