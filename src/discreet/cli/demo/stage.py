"""The stage of the demo: an invented hospital in a DuckDB file, and the policy that a curator would write for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.data import HospitalDatabase, hospital_database
from discreet.data.databases.hospital import DEPARTMENTS, NEW_YEAR, PRACTICE_SIZE, REGIONS
from discreet.data.invented_hospital import AGE_RANGE, SEXES
from discreet.errors import ParameterError
from discreet.query.policy import text_in_toml

DATABASE, POLICY, LEDGER = "hospital.duckdb", "policy.toml", "ledger.sqlite"
ANALYST, ATTACKER = "ana", "mallory"
VISITS = 6  # of one patient that count
_FIRST_LINE = "# The policy of the demo: everything here was decided without looking at a row."
_OWN = (DATABASE, f"{DATABASE}.wal", POLICY)


@dataclass(frozen=True)
class Stage:
    """Where the hospital is, and what is in it; only the demo itself may look inside."""

    folder: Path
    hospital: HospitalDatabase

    @property
    def people(self) -> int:
        """How many patients there are."""
        return len(self.hospital.patients)

    @property
    def database(self) -> Path:
        """The DuckDB file."""
        return self.folder / DATABASE

    @property
    def policy(self) -> Path:
        """The policy file."""
        return self.folder / POLICY


def build(folder: Path, *, people: int, seed: int) -> Stage:
    """Invent a hospital and write its database and its policy into a folder; what an earlier demo left is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    _clear(folder)
    hospital = hospital_database(people=people, seed=seed)
    hospital.to_duckdb(folder / DATABASE)
    (folder / POLICY).write_text(policy_text(people=people), encoding="utf-8")
    return Stage(folder, hospital)


def _clear(folder: Path) -> None:
    """Remove what an earlier demo left, and refuse to touch anybody else's policy or ledger."""
    policy = folder / POLICY
    left = [folder / name for name in _OWN] + sorted(folder.glob(f"{LEDGER}*"))
    left = [path for path in left if path.exists()]
    if not left:
        return
    if not policy.is_file() or not policy.read_text(encoding="utf-8", errors="replace").startswith(_FIRST_LINE):
        raise ParameterError(f"{folder} holds files that no demo wrote; name another folder with --out")
    for path in left:
        path.unlink()


def policy_text(*, people: int) -> str:
    """Return the policy, with the sizes that everybody knows."""
    practices = -(-people // PRACTICE_SIZE)
    return f"""\
{_FIRST_LINE}
[data]
source = "{DATABASE}"
lineage = "demo-hospital"        # names these people for good: the budget belongs to them
version = "1"

[protect]
unit = "patient"

[budget]
notion = "approx"
epsilon = 6                      # what may be learned about one patient in all, by everybody together
delta = 1e-6
ledger = "{LEDGER}"

[analysts]
{ANALYST} = {{}}
{ATTACKER} = {{epsilon = 2}}         # an own cap within the budget

[tables.patients]
unit = "patient_id"
rows = 1                         # one row a patient

[tables.patients.columns]
practice = {{min = 0, max = {practices - 1}, public = true}}
card = {{min = 1, max = {PRACTICE_SIZE}}}
age = {{min = {AGE_RANGE[0]}, max = {AGE_RANGE[1]}}}
marker = {{min = 0, max = 1}}
sex = {{values = {_values(SEXES)}}}
region = {{values = {_values(REGIONS)}}}

[tables.visits]
unit = "patient_id"
rows = {VISITS}                         # the most visits of one patient that count
groups = 4                       # or, for keys that are not public, the most groups
rows_per_group = 2               # and the most visits in each

[tables.visits.columns]
department = {{values = {_values(DEPARTMENTS)}}}
admitted = {{min = {NEW_YEAR}, max = {NEW_YEAR + 364}, public = true}}
nights = {{min = 0, max = 30}}
cost = {{min = 0, max = 20_000}}

[public.regions]
unique = ["region"]

[public.regions.columns]
region = {{values = {_values(REGIONS)}}}
"""


def _values(names: tuple[str, ...]) -> str:
    return f"[{', '.join(text_in_toml(name) for name in names)}]"
