"""What the tests of the commands share: the program in this process, and a small source with values to look for."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from click.testing import CliRunner, Result

from discreet.cli.program import program

# values that only the rows hold; none may ever be printed or written, nor be hit by a hash or by noise
CANARIES = ("kuru-canary", "913746281193577", "8675.309123457", "Quincy Wintergreen")

POLICY = """\
[data]
source = "clinic.duckdb"
lineage = "clinic"
version = "1"

[protect]
unit = "patient"

[budget]
notion = "approx"
epsilon = 4
delta = 1e-6
ledger = "ledger.sqlite"

[analysts]
ana = {}

[tables.visits]
unit = "patient_id"
rows = 4
groups = 2
rows_per_group = 2

[tables.visits.columns]
ward = {values = ["north", "south"]}
cost = {min = 0, max = 500}
"""


def run(*arguments: object, stdin: str | None = None, **environment: str | None) -> Result:
    """Run the program as a pipe sees it, with a plain environment."""
    plain = {"COLUMNS": "100", "FORCE_COLOR": None, "TTY_COMPATIBLE": None, "TTY_INTERACTIVE": None}
    runner = CliRunner(env={**plain, "DISCREET_ANALYST": None, **environment})
    words = [str(argument) for argument in arguments]
    return runner.invoke(program, words, prog_name="discreet", input=stdin)


def clinic(folder: Path, policy: str = POLICY) -> Path:
    """Write a database with canaries in its rows, and a policy; return the path of the policy."""
    (folder / "clinic.duckdb").write_bytes(_database())
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    return folder / "policy.toml"


@cache
def _database() -> bytes:
    """Return the file of the database, which is made once."""
    with TemporaryDirectory() as folder, duckdb.connect(str(Path(folder, "clinic.duckdb"))) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i // 2 AS patient_id, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END "
            "AS ward, CASE WHEN i % 5 = 0 THEN 'flu' ELSE 'cold' END AS illness, (i % 400)::DOUBLE AS cost, "
            "'somebody' AS name FROM range(2000) AS t(i)"
        )
        connection.execute(
            "INSERT INTO visits VALUES (913746281193577, 'north', 'kuru-canary', 8675.309123457, 'Quincy Wintergreen')"
        )
        connection.close()
        return Path(folder, "clinic.duckdb").read_bytes()


def leaks(*texts: str) -> list[str]:
    """Return the canaries that occur in texts."""
    return [canary for canary in CANARIES for text in texts if canary in text]
