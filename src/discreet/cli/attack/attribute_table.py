"""A table of invented people with public attributes and one secret bit each, behind a session with a budget of zCDP."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.cli.attack.secret_column import ATTACKER
from discreet.ledger import MemoryLedger
from discreet.query.policy_file import read_policy
from discreet.query.schema import with_source
from discreet.query.session import Session, terms_of

TABLE, SECRET, ATTRIBUTE = "people", "marker", "a"
Bits = NDArray[np.int64]


def invented_attributes(people: int, attributes: int, *, seed: int) -> Bits:
    """Return fair coins for every person and attribute."""
    return np.random.default_rng([seed, 1]).integers(0, 2, (people, attributes))  # noqa: TID251  invented people


@contextmanager
def attribute_session(attributes: Bits, secret: Bits, *, rho: float, purpose: str) -> Iterator[Session]:
    """Write people into a database, and open a session whose whole budget is rho; both end with the block."""
    duckdb = optional("duckdb", extra="sql", purpose=purpose)
    optional("sqlglot", extra="sql", purpose=purpose)
    columns = {"person": np.arange(len(secret)), SECRET: np.array(secret)}
    columns |= {f"{ATTRIBUTE}{place}": attributes[:, place].copy() for place in range(attributes.shape[1])}
    with tempfile.TemporaryDirectory() as folder:
        with duckdb.connect(str(Path(folder, "people.duckdb"))) as connection:
            connection.register("arrays", columns)
            connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM arrays")  # noqa: S608  a name of this file
        Path(folder, "policy.toml").write_text(_policy(attributes.shape[1], rho), encoding="utf-8")
        policy, engine = with_source(read_policy(Path(folder, "policy.toml")))
        with Session(policy, analyst=ATTACKER, engine=engine, ledger=MemoryLedger(terms_of(policy))) as session:
            yield session


def _policy(attributes: int, rho: float) -> str:
    """Return what a curator would write for it."""
    bits = "\n".join(f"{name} = {{min = 0, max = 1}}" for name in (SECRET, *_names(attributes)))
    return f"""\
[data]
source = "people.duckdb"
lineage = "invented-people"
version = "1"

[protect]
unit = "person"

[budget]
notion = "zcdp"
rho = {rho!r}
delta = 0
ledger = "ledger.sqlite"

[analysts]
{ATTACKER} = {{}}

[tables.{TABLE}]
unit = "person"
rows = 1

[tables.{TABLE}.columns]
{bits}
"""


def _names(attributes: int) -> list[str]:
    return [f"{ATTRIBUTE}{place}" for place in range(attributes)]
