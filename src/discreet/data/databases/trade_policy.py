"""The policy that a curator would write for the trading company, with the customer as the unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet.data.databases import trade_words as words

ORDERS, LINES = 40, 150  # of one customer that count
_SALES = (
    "SELECT * FROM customer, orders, lineitem, supplier "
    "WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_suppkey = s_suppkey"
)
_PER_CUSTOMER = (
    "SELECT c_custkey, MIN(c_phone) AS c_phone, MIN(c_acctbal) AS c_acctbal, COUNT(o_orderkey) AS orders "
    "FROM customer LEFT JOIN orders ON c_custkey = o_custkey GROUP BY c_custkey"
)


def trade_policy(*, source: str, budget: Mapping[str, str | float], suppliers: int) -> str:
    """Return the policy's text; everything in it follows from public constants, nothing from a row.

    >>> "rows = 1 " in trade_policy(
    ...     source="t.duckdb",
    ...     budget={"notion": "zcdp", "rho": 1, "delta": 0},
    ...     suppliers=9,
    ... )
    True
    """
    stated = {**budget, "ledger": budget.get("ledger", "ledger.sqlite")}
    price = "\n".join(f"{name} = {_quoted(one) if isinstance(one, str) else one}" for name, one in stated.items())
    return "\n".join([_head(source, price), _private(), _public(suppliers), _views()])


def _head(source: str, price: str) -> str:
    return f"""\
[data]
source = {_quoted(source)}
lineage = "invented-trade"
version = "1"

[protect]
unit = "customer"

[budget]
{price}

[analysts]
ana = {{}}
"""


def _private() -> str:
    first, last, end = words.FIRST_DAY, words.LAST_ORDER, words.LAST_DAY
    return f"""\
[tables.customer]
unit = "c_custkey"
rows = 1                         # one row a customer
groups = 1
rows_per_group = 1

[tables.customer.columns]
c_nationkey = {{min = 0, max = {len(words.NATIONS) - 1}, public = true}}
c_acctbal = {{min = {words.BALANCE_RANGE[0]}, max = {words.BALANCE_RANGE[1]}, type = "real"}}
c_mktsegment = {{values = {_values(words.SEGMENTS)}}}

[tables.orders]
unit = "o_custkey -> customer.c_custkey"
rows = {ORDERS}                        # the most orders of one customer that count
groups = 7                       # or, for keys that are not public, the most groups
rows_per_group = 8               # and the most orders in each

[tables.orders.columns]
o_orderstatus = {{values = {_values(words.STATUSES)}}}
o_totalprice = {{min = 0, max = {words.TOTAL_RANGE[1]}, type = "real"}}
o_orderdate = {{min = {first}, max = {last}, public = true}}
o_orderpriority = {{values = {_values(words.PRIORITIES)}}}

[tables.lineitem]
unit = "l_orderkey -> orders.o_orderkey"
rows = {LINES}                       # the most lines of one customer that count
groups = 20
rows_per_group = 10

[tables.lineitem.columns]
l_linenumber = {{min = 1, max = 7, public = true}}
l_quantity = {{min = {words.QUANTITY_RANGE[0]}, max = {words.QUANTITY_RANGE[1]}, public = true}}
l_extendedprice = {{min = 0, max = {words.PRICE_RANGE[1]}, type = "real"}}
l_discount = {{min = 0.0, max = 0.1}}
l_tax = {{min = 0.0, max = 0.08}}
l_returnflag = {{values = {_values(words.RETURN_FLAGS)}}}
l_linestatus = {{values = {_values(words.LINE_STATUSES)}}}
l_shipdate = {{min = {first}, max = {end}, public = true}}
l_commitdate = {{min = {first}, max = {end}, public = true}}
l_receiptdate = {{min = {first}, max = {end}, public = true}}
l_shipinstruct = {{values = {_values(words.INSTRUCTIONS)}}}
l_shipmode = {{values = {_values(words.MODES)}}}
"""


def _public(suppliers: int) -> str:
    nations = len(words.NATIONS) - 1
    return f"""\
[public.region]
unique = "r_regionkey"

[public.region.columns]
r_name = {{values = {_values(words.REGIONS)}}}

[public.nation]
unique = [["n_nationkey"], ["n_name"]]

[public.nation.columns]
n_nationkey = {{min = 0, max = {nations}, public = true}}
n_name = {{values = {_values(words.NATIONS)}}}

[public.supplier]
unique = "s_suppkey"

[public.supplier.columns]
s_suppkey = {{min = 1, max = {suppliers}, public = true}}
s_nationkey = {{min = 0, max = {nations}, public = true}}

[public.part]
unique = "p_partkey"

[public.part.columns]
p_brand = {{values = {_values(words.BRANDS)}}}
p_type = {{values = {_values(words.TYPES)}}}
p_size = {{min = 1, max = 50, public = true}}
p_container = {{values = {_values(words.CONTAINERS)}}}
p_retailprice = {{min = 900, max = 2100, type = "real"}}

[public.partsupp]
unique = ["ps_partkey", "ps_suppkey"]

[public.partsupp.columns]
ps_availqty = {{min = 1, max = 10_000}}
ps_supplycost = {{min = 0, max = 1000, type = "real"}}
"""


def _views() -> str:
    return f"""\
[views]
sales = {_quoted(_SALES)}
per_customer = {_quoted(_PER_CUSTOMER)}
"""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _values(names: Iterable[str]) -> str:
    return f"[{', '.join(_quoted(name) for name in names)}]"
