"""A policy that is right, in parts that a test can make wrong."""

from __future__ import annotations

from discreet.frames import Type

DATA = """[data]
source = "hospital.duckdb"
lineage = "hospital-2026"
version = "2026-11-01"
"""
PROTECT = """[protect]
unit = "patient"
"""
BUDGET = """[budget]
notion = "zcdp"
rho = 0.5
delta = 1e-7
ledger = "ledger.sqlite"
"""
ANALYSTS = """[analysts]
ana = {}
ben = {share = 0.25}
"""
TABLES = """[tables.visits]
unit = "patient_id"
rows = 20

[tables.visits.columns]
department = {values = ["surgery", "oncology"]}
cost = {min = 0, max = 500}
age = {min = 0, max = 120, public = true}
day = {type = "date", min = 2026-01-01, max = 2026-12-31, public = true}
note = {type = "text"}
"""
PUBLIC = """[public.regions]
unique = "region"
"""
SCHEMA = {
    "visits": {
        "visit_id": Type.INTEGER,
        "patient_id": Type.INTEGER,
        "department": Type.TEXT,
        "cost": Type.REAL,
        "age": Type.INTEGER,
        "day": Type.DATE,
        "note": Type.TEXT,
    },
    "regions": {"region": Type.TEXT, "people": Type.INTEGER},
}


def policy_text(
    *,
    data: str = DATA,
    protect: str = PROTECT,
    budget: str = BUDGET,
    analysts: str = ANALYSTS,
    tables: str = TABLES,
    public: str = PUBLIC,
) -> str:
    return "".join((data, protect, budget, analysts, tables, public))
