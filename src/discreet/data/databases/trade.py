"""A trading company that does not exist: customers, their orders, the lines of those, and public tables beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.data.databases import trade_words as words
from discreet.data.databases.trade_policy import trade_policy
from discreet.data.table import Column, check_whole, generator, write_duckdb
from discreet.errors import ParameterError

SUPPLIERS, PARTS, CUSTOMERS = 10_000, 200_000, 150_000  # at scale 1
ORDERS_A_CUSTOMER, MOST_LINES, SUPPLIERS_A_PART = 10, 7, 4
SMALLEST, LARGEST = Fraction(1, 1000), Fraction(10)
_SPECIAL_SHARE = 0.011


@dataclass(frozen=True, eq=False)
class TradeDatabase:
    """Eight tables that belong together: customer, orders and lineitem are private, the others are public."""

    tables: Mapping[str, Mapping[str, Column]]

    def columns(self) -> dict[str, dict[str, Column]]:
        """Return every table by name, as its columns by name; numpy arrays, read-only.

        >>> tables = trade_database(scale=0.001, seed=1).columns()
        >>> len(tables["customer"]["c_custkey"]), len(tables["orders"]["o_orderkey"])
        (150, 1500)
        """
        return {name: dict(columns) for name, columns in self.tables.items()}

    def to_duckdb(self, path: str | Path) -> Path:
        """Write the tables into a new DuckDB file; one that exists is replaced."""
        return write_duckdb(path, self.tables)

    def policy(self, *, source: str, budget: Mapping[str, str | float]) -> str:
        """Return the text of a policy for the DuckDB file `source`, with the customer as the unit.

        The budget is that of the policy's section `[budget]`; one analyst, `ana`, may ask. Two views are offered:
        `sales` (a line with its order, its customer and the nation of its supplier) and `per_customer` (country code
        and balance of each customer, and how many orders there are).

        >>> base = trade_database(scale=0.001, seed=1)
        >>> text = base.policy(
        ...     source="t.duckdb", budget={"notion": "zcdp", "rho": 1, "delta": 0}
        ... )
        >>> for line in text.splitlines():
        ...     if line.startswith("unit"):
        ...         print(line)
        unit = "customer"
        unit = "c_custkey"
        unit = "o_custkey -> customer.c_custkey"
        unit = "l_orderkey -> orders.o_orderkey"
        """
        return trade_policy(source=source, budget=budget, suppliers=len(self.tables["supplier"]["s_suppkey"]))

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(next(iter(columns.values()))):,}" for name, columns in self.tables.items())
        return f"TradeDatabase(synthetic; rows: {rows})"


def trade_database(*, scale: float, seed: int) -> TradeDatabase:
    """Return the tables of an invented trading company; the same seed gives the same ones.

    Tables, names of columns, numbers of rows and distributions of keys follow the TPC-H benchmark: at scale 1 there are
    150,000 customers, ten orders for each, and one to seven lines an order. Only customers whose number is no multiple
    of 3 order, so that a third of them has no orders; those who order have 15 on average. Numbers of orders leave gaps,
    eight of every 32 are used. Nations, segments, priorities, parts and discounts are uniform, each part has four
    suppliers, and dates of lines follow from that of their order. Free texts and addresses are left out, but for the
    remark of an order, which in 1.1 % of orders asks for something special.

    The draws come from numpy's default generator: fine for an invented company, never for noise.

    Cost. About two seconds for scale 0.1.
    Reference. Transaction Processing Performance Council (2022), TPC Benchmark H, revision 3.0.1, section 4.2.

    >>> trade_database(scale=0.001, seed=7)
    TradeDatabase(synthetic; rows: region 5, nation 25, supplier 10, part 200,
        partsupp 800, customer 150, orders 1,500, lineitem ...)
    """
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not SMALLEST <= scale <= LARGEST:
        raise ParameterError(f"scale must be a number from {float(SMALLEST)} to {float(LARGEST)}", parameter="scale")
    check_whole("seed", seed, low=0, high=2**63 - 1)
    suppliers, parts, customers = (round(rows * scale) for rows in (SUPPLIERS, PARTS, CUSTOMERS))
    random = generator(customers, seed)
    part = _parts(random, parts)
    orders, lines = _orders(random, part, customers=customers, suppliers=suppliers)
    tables = {
        "region": {"r_regionkey": np.arange(len(words.REGIONS)), "r_name": np.array(words.REGIONS)},
        "nation": {
            "n_nationkey": np.arange(len(words.NATIONS)),
            "n_name": np.array(list(words.NATIONS)),
            "n_regionkey": np.array(list(words.NATIONS.values())),
        },
        "supplier": _people(random, "s", "suppkey", suppliers),
        "part": part,
        "partsupp": _offers(random, parts, suppliers),
        "customer": _people(random, "c", "custkey", customers),
        "orders": orders,
        "lineitem": lines,
    }
    for columns in tables.values():
        for column in columns.values():
            column.flags.writeable = False
    return TradeDatabase(tables)


def _people(random: np.random.Generator, letter: str, key: str, number: int) -> dict[str, Column]:
    """Draw customers or suppliers: a nation each, a telephone that begins with its code, a balance."""
    title = {"c": "Customer", "s": "Supplier"}[letter]
    keys = np.arange(1, number + 1)
    nation = random.integers(0, len(words.NATIONS), number)
    rest = (random.integers(low, 1000, number).astype("U") for low in (100, 100))
    phone = np.char.add((nation + 10).astype("U"), "-")
    for part in rest:
        phone = np.char.add(np.char.add(phone, part), "-")
    found = {
        f"{letter}_{key}": keys,
        f"{letter}_name": np.char.add(f"{title}#", np.char.zfill(keys.astype("U9"), 9)),
        f"{letter}_nationkey": nation,
        f"{letter}_phone": np.char.add(phone, random.integers(1000, 10_000, number).astype("U")),
        f"{letter}_acctbal": random.integers(-99_999, 1_000_000, number) / 100,
    }
    if letter == "c":
        found["c_mktsegment"] = np.array(words.SEGMENTS)[random.integers(0, len(words.SEGMENTS), number)]
    return found


def _parts(random: np.random.Generator, number: int) -> dict[str, Column]:
    """Draw parts: their makers, brands, types, sizes and containers; the price follows from the number."""
    keys = np.arange(1, number + 1)
    names = np.array(words.COLORS)[random.integers(0, len(words.COLORS), (5, number))]
    brand = random.integers(0, len(words.BRANDS), number)
    return {
        "p_partkey": keys,
        "p_name": np.array([" ".join(five) for five in names.T.tolist()]),
        "p_mfgr": np.char.add("Manufacturer#", (brand // 5 + 1).astype("U1")),
        "p_brand": np.array(words.BRANDS)[brand],
        "p_type": np.array(words.TYPES)[random.integers(0, len(words.TYPES), number)],
        "p_size": random.integers(1, 51, number),
        "p_container": np.array(words.CONTAINERS)[random.integers(0, len(words.CONTAINERS), number)],
        "p_retailprice": (90_000 + keys // 10 % 20_001 + 100 * (keys % 1000)) / 100,
    }


def _supplier_of(part: Column, which: Column, suppliers: int) -> Column:
    """Return one of the four suppliers of each part, spread over all suppliers."""
    # four steps stay within one round, so that the four differ; from 240 suppliers on the remainder changes nothing
    step = suppliers // SUPPLIERS_A_PART + (part - 1) // suppliers % max(1, suppliers // 12)
    return np.asarray((part + which * step) % suppliers + 1)


def _offers(random: np.random.Generator, parts: int, suppliers: int) -> dict[str, Column]:
    """Draw what the four suppliers of each part have of it, and at which price."""
    part = np.repeat(np.arange(1, parts + 1), SUPPLIERS_A_PART)
    which = np.tile(np.arange(SUPPLIERS_A_PART), parts)
    return {
        "ps_partkey": part,
        "ps_suppkey": _supplier_of(part, which, suppliers),
        "ps_availqty": random.integers(1, 10_000, len(part)),
        "ps_supplycost": random.integers(100, 100_001, len(part)) / 100,
    }


def _orders(
    random: np.random.Generator, part: Mapping[str, Column], *, customers: int, suppliers: int
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Draw the orders and their lines; state and total of an order follow from its lines."""
    number = customers * ORDERS_A_CUSTOMER
    place = np.arange(number)
    key = place // 8 * 32 + place % 8 + 1
    buyers = np.arange(1, customers + 1)
    buyers = buyers[buyers % 3 != 0]
    days = int((words.LAST_ORDER - words.FIRST_DAY).astype(int)) + 1
    ordered = words.FIRST_DAY + random.integers(0, days, number)
    each = random.integers(1, MOST_LINES + 1, number)
    of = np.repeat(place, each)
    lines = _lines(random, part, ordered[of], suppliers)
    lines = {
        "l_orderkey": key[of],
        "l_linenumber": np.arange(len(of)) - np.repeat(np.cumsum(each) - each, each) + 1,
    } | lines
    paid = lines["l_extendedprice"] * (1 + lines["l_tax"]) * (1 - lines["l_discount"])
    open_lines = np.bincount(of, weights=lines["l_linestatus"] == "O", minlength=number)
    remark = np.array(words.REMARKS)[random.integers(0, len(words.REMARKS), number)]
    orders = {
        "o_orderkey": key,
        "o_custkey": random.choice(buyers, number),
        "o_orderstatus": np.where(open_lines == 0, "F", np.where(open_lines == each, "O", "P")),
        "o_totalprice": np.round(np.bincount(of, weights=paid, minlength=number), 2),
        "o_orderdate": ordered,
        "o_orderpriority": np.array(words.PRIORITIES)[random.integers(0, len(words.PRIORITIES), number)],
        "o_comment": np.where(random.random(number) < _SPECIAL_SHARE, words.SPECIAL, remark),
    }
    return orders, lines


def _lines(
    random: np.random.Generator, part: Mapping[str, Column], ordered: Column, suppliers: int
) -> dict[str, Column]:
    """Draw what stands in each line of an order: what, from whom, how much, at which price, and when it traveled."""
    rows = len(ordered)
    what = random.integers(0, len(part["p_partkey"]), rows)
    quantity = random.integers(1, 51, rows)
    shipped = ordered + random.integers(1, 122, rows)
    received = shipped + random.integers(1, 31, rows)
    returned = np.array(["R", "A"])[random.integers(0, 2, rows)]
    return {
        "l_partkey": part["p_partkey"][what],
        "l_suppkey": _supplier_of(part["p_partkey"][what], random.integers(0, SUPPLIERS_A_PART, rows), suppliers),
        "l_quantity": quantity,
        "l_extendedprice": np.round(quantity * part["p_retailprice"][what], 2),
        "l_discount": random.integers(0, 11, rows) / 100,
        "l_tax": random.integers(0, 9, rows) / 100,
        "l_returnflag": np.where(received <= words.TODAY, returned, "N"),
        "l_linestatus": np.where(shipped > words.TODAY, "O", "F"),
        "l_shipdate": shipped,
        "l_commitdate": ordered + random.integers(30, 91, rows),
        "l_receiptdate": received,
        "l_shipinstruct": np.array(words.INSTRUCTIONS)[random.integers(0, len(words.INSTRUCTIONS), rows)],
        "l_shipmode": np.array(words.MODES)[random.integers(0, len(words.MODES), rows)],
    }
