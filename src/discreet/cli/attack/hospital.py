"""The hospital that the attacks through SQL share: a plain database and, over the same rows, a session."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet._optional import optional
from discreet.attacks.asking.running import Run
from discreet.cli.demo.stage import ATTACKER, build
from discreet.data import HospitalDatabase
from discreet.query.session.session import Session


@dataclass(frozen=True)
class Hospital:
    """Invented patients, somebody who answers SQL about them exactly, and a session that charges."""

    tables: HospitalDatabase
    plain: Run
    session: Session


@contextmanager
def attacked_hospital(*, people: int, seed: int, purpose: str) -> Iterator[Hospital]:
    """Build a hospital in a folder that is removed again, and open it both ways."""
    duckdb = optional("duckdb", extra="sql", purpose=purpose)
    optional("sqlglot", extra="sql", purpose=purpose)
    with tempfile.TemporaryDirectory() as folder:
        stage = build(Path(folder), people=people, seed=seed)
        with Session.open(stage.policy, analyst=ATTACKER) as session, duckdb.connect() as connection:
            written = str(stage.database).replace("'", "''")
            connection.execute(f"ATTACH '{written}' AS base (READ_ONLY)")
            connection.execute("USE base")
            yield Hospital(stage.hospital, lambda text: connection.execute(text).fetchall(), session)
