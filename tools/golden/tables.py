"""Small made-up tables, sessions on them, and questions that people asked."""

from __future__ import annotations

from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data import hospital_database, population, population_columns
from discreet.privacy import ApproxDP, Guarantee, Relation
from discreet.query import Session

QUESTIONS = Path(__file__).with_name("questions.sql")
BUDGET = ApproxDP(1000, 1e-3, relation=Relation.ADD_REMOVE)
BOUNDED: dict[str, Any] = {"rows": 4, "groups": 2, "rows_per_group": 2}
YEAR = {"type": "date", "min": date(2025, 1, 1), "max": date(2025, 12, 31), "public": True}
SEVEN = {"type": "date", "min": date(1992, 1, 1), "max": date(1998, 12, 31), "public": True}

HOSPITAL: dict[str, dict[str, Any]] = {
    "visits.department": {"values": ["cardiology", "emergency", "oncology", "surgery"]},
    "visits.diagnosis": {"type": "text"},
    "visits.admitted": YEAR,
    "visits.nights": {"type": "integer", "min": 0, "max": 30, "public": True},
    "visits.cost": {"min": 0, "max": 20000},
    "patients.age": {"type": "integer", "min": 0, "max": 110, "public": True},
    "patients.sex": {"values": ["female", "male"]},
    "patients.region": {"type": "text"},
}

_PRICED = {"min": 0, "max": 100_000}
SHOP: dict[str, dict[str, Any]] = {
    "c_mktsegment": {"values": ["BUILDING", "MACHINERY"]},
    "c_acctbal": {"min": -1000, "max": 10_000},
    "o_orderpriority": {"values": ["1-URGENT", "5-LOW"]},
    "o_orderstatus": {"values": ["F", "O", "P"]},
    "o_orderdate": SEVEN,
    "o_totalprice": _PRICED,
    "l_returnflag": {"values": ["A", "N", "R"]},
    "l_linestatus": {"values": ["F", "O"]},
    "l_quantity": {"min": 0, "max": 50},
    "l_extendedprice": _PRICED,
    "l_discount": {"min": 0, "max": 0.1},
    "l_tax": {"min": 0, "max": 0.08},
    "l_shipdate": SEVEN,
    "orders": {"type": "integer", "min": 0, "max": 40, "public": True},
}


def questions() -> list[tuple[str, str]]:
    """Return every question with the name of its session, in the order of the file."""
    found, room = [], ""
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("-- session "):
            room = line.removeprefix("-- session ").strip()
        elif line and not line.startswith("--"):
            found.append((room, line.rpartition("; --")[0].strip()))
    return found


def session_of(room: str, budget: Guarantee = BUDGET) -> Session:
    """Return a new session on the tables of a name."""
    return {"hospital": _hospital, "people": _people, "shop": _shop}[room](budget)


def frame(**columns: Any) -> Any:
    """Return columns as a frame."""
    return import_module("pandas").DataFrame(columns)


def _days(first: str, places: Any) -> Any:
    return (np.datetime64(first) + np.asarray(places, dtype=np.int64)).astype("datetime64[s]")


@cache
def _wards() -> dict[str, Any]:
    base = hospital_database(people=400, seed=7)
    seen, known = base.visits, base.patients
    visits = {name: seen.column(name) for name in ("patient_id", "department", "diagnosis", "nights", "cost")}
    patients = {name: known.column(name) for name in ("patient_id", "age", "sex", "region")}
    return {
        "visits": frame(**visits, admitted=_days("2025-01-01", seen.column("day") - 1)),
        "patients": frame(**patients),
        "regions": base.regions.to_pandas(),
    }


def _hospital(budget: Guarantee) -> Session:
    frames = _wards()
    return Session.from_frames(
        unit="patient_id",
        unit_name="patient",
        budget=budget,
        columns=HOSPITAL,
        public={"regions": (frames["regions"], ["region"])},
        visits=frames["visits"],
        patients=frames["patients"],
        **BOUNDED,
    )


def _people(budget: Guarantee) -> Session:
    return Session.from_frames(
        unit="row", budget=budget, columns=population_columns(), people=population(300, seed=1).to_pandas()
    )


@cache
def _ledgers_of_sales() -> dict[str, dict[str, Any]]:
    """Return customers with their orders and the lines of these, all from remainders."""
    count = 120
    place = np.arange(count)
    who, number = place % 40, place
    segments = np.array(["BUILDING", "MACHINERY"])[who % 2]
    customer = np.arange(40)
    orders: dict[str, Any] = {
        "o_orderkey": number,
        "o_orderdate": _days("1992-01-01", (place * 97) % 2500),
        "o_totalprice": (place * 811) % 9000 + 50.0,
        "o_orderpriority": np.array(["1-URGENT", "5-LOW"])[place % 2],
        "o_orderstatus": np.array(["F", "O", "P"])[place % 3],
        "o_comment": np.array(["special requests", "nothing"])[place % 2],
    }
    lines: dict[str, Any] = {
        "l_orderkey": number,
        "l_suppkey": place % 9,
        "l_quantity": (place * 7) % 50 + 0.0,
        "l_extendedprice": (place * 613) % 8000 + 10.0,
        "l_discount": (place % 11) / 100,
        "l_tax": (place % 9) / 100,
        "l_returnflag": np.array(["A", "N", "R"])[place % 3],
        "l_linestatus": np.array(["F", "O"])[place % 2],
        "l_shipdate": _days("1992-02-01", (place * 89) % 2500),
    }
    about: dict[str, Any] = {
        "c_mktsegment": np.array(["BUILDING", "MACHINERY"])[customer % 2],
        "c_acctbal": (customer * 337) % 9000 - 500.0,
        "c_nationkey": customer % 5,
        "c_phone": np.array([f"{10 + one % 9}-{one:03d}" for one in customer]),
        "c_name": np.array([f"Customer {one}" for one in customer]),
    }
    return {
        "customer": {"c_custkey": customer, **about},
        "orders": {"o_custkey": who, **orders},
        "lineitem": {"l_custkey": who, **lines},
        "sales": {
            "c_custkey": who,
            "c_mktsegment": segments,
            "c_nationkey": who % 5,
            "s_nationkey": place % 5,
            **{name: values for name, values in orders.items() if name != "o_comment"},
            **lines,
        },
        "per_customer": {"c_custkey": customer, **about, "orders": np.full(40, count // 40)},
        "nation": {"n_nationkey": np.arange(5), "n_name": np.array([*"ABCDE"]), "n_regionkey": np.arange(5) % 2},
        "region": {"r_regionkey": np.arange(2), "r_name": np.array(["ASIA", "EUROPE"])},
    }


def _shop(budget: Guarantee) -> Session:
    frames = {name: frame(**columns) for name, columns in _ledgers_of_sales().items()}
    held = {name: set(columns) for name, columns in _ledgers_of_sales().items()}
    units = {"customer": "c_custkey", "orders": "o_custkey", "lineitem": "l_custkey"}
    units |= {"sales": "c_custkey", "per_customer": "c_custkey"}
    columns = {f"{table}.{name}": said for table in units for name, said in SHOP.items() if name in held[table]}
    return Session.from_frames(
        unit=units,
        unit_name="customer",
        budget=budget,
        columns=columns,
        public={"nation": (frames["nation"], ["n_nationkey"]), "region": (frames["region"], ["r_regionkey"])},
        **{name: frames[name] for name in units},
        **BOUNDED,
    )
