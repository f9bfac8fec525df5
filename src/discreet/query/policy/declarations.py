"""The policy: what the curator declares, as frozen values; everything not declared is private and unbounded."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from fractions import Fraction
from pathlib import Path

from discreet.privacy import Guarantee, Relation
from discreet.query.expression import TYPE, Type, Value
from discreet.query.policy.csv_format import USUAL, CsvFormat
from discreet.query.policy.toml_lines import Place

LARGEST_DOMAIN = 100_000


class SourceKind(Enum):
    """Where the tables are."""

    DUCKDB = "duckdb"  # a database file
    PARQUET = "parquet"  # a folder: one file, or one folder of files, a table
    CSV = "csv"
    FRAMES = "frames"  # data frames of this process


@dataclass(frozen=True, slots=True)
class Source:
    """The private data; `path` is None for frames, `csv` says how CSV files are written."""

    kind: SourceKind
    path: Path | None
    csv: CsvFormat = USUAL


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """What is public about a column: its type, the range its values are clipped to, the values it can have as a key.

    `public` says that every value of an integer or date column between `low` and `high` may be shown as a key. `typed`
    says that the type was declared, not inferred from the range or the values.
    """

    name: str
    type: Type
    low: Fraction | date | None = None
    high: Fraction | date | None = None
    values: tuple[Value, ...] | None = None
    public: bool = False
    typed: bool = False

    @property
    def interval(self) -> tuple[Fraction, Fraction] | None:
        """The range of a number, if both ends are declared."""
        if isinstance(self.low, Fraction) and isinstance(self.high, Fraction):
            return self.low, self.high
        return None

    @property
    def domain(self) -> tuple[Value, ...] | None:
        """All values the column can show as a key, in order, or None where keys are private."""
        if self.values is not None:
            return self.values
        if self.type is Type.BOOLEAN and self.public:
            return (False, True)
        if not self.public or self.low is None or self.high is None:
            return None
        if isinstance(self.low, Fraction) and isinstance(self.high, Fraction):
            return tuple(range(-(-self.low.numerator // self.low.denominator), int(self.high // 1) + 1))
        if isinstance(self.low, date) and isinstance(self.high, date):
            return tuple(self.low + timedelta(days=day) for day in range((self.high - self.low).days + 1))
        return None


@dataclass(frozen=True, slots=True)
class UnitIsRow:
    """Every row is a unit of its own."""


@dataclass(frozen=True, slots=True)
class UnitColumn:
    """The unit is named by a column of the table."""

    column: str


@dataclass(frozen=True, slots=True)
class UnitLink:
    """The unit is that of the row of another private table whose `key` equals `column` here."""

    column: str
    table: str
    key: str


Unit = UnitIsRow | UnitColumn | UnitLink


@dataclass(frozen=True, slots=True)
class UnitLimits:
    """How much of one unit is let through: at most `rows` in all, or `rows_per_group` in each of `groups` groups.

    `outer_rows` is declared to be true for everybody: nobody has more. What bounding cuts is measured up to there.
    """

    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None
    outer_rows: int | None = None


@dataclass(frozen=True, slots=True)
class TablePolicy:
    """A private table."""

    name: str
    unit: Unit
    columns: Mapping[str, ColumnPolicy]
    limits: UnitLimits = UnitLimits()
    people: int | None = None  # the number of units, declared public: then neighbors change one unit


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A table that everybody may see; `unique` are sets of columns no two rows agree on."""

    name: str
    columns: Mapping[str, ColumnPolicy]
    unique: tuple[frozenset[str], ...] = ()


UNNAMED = "frames of this process"
"""The lineage of frames that nobody gave one: two sessions that have it are about different people."""


@dataclass(frozen=True, slots=True)
class Analyst:
    """Somebody who may ask, with an own cap within the budget, or None."""

    name: str
    cap: Guarantee | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One file of declarations: which people, which tables, how much may be learned, by whom."""

    source: Source
    lineage: str
    version: str
    unit: str  # the word for who is protected
    tables: Mapping[str, TablePolicy]
    public: Mapping[str, PublicTable] = field(default_factory=dict)
    budget: Guarantee
    analysts: Mapping[str, Analyst]
    views: Mapping[str, str] = field(default_factory=dict)  # SELECTs of rows that are read like tables, by name
    shared_answers: bool = False
    ledger: Path | None = None  # None: kept in memory, for frames
    anchor: Path | None = None
    file: str = field(default="policy.toml", compare=False, repr=False)
    lines: Mapping[Place, int] = field(default_factory=dict, compare=False, repr=False)  # where things stand in it

    @property
    def relation(self) -> Relation:
        """Add/remove one unit; where the number of people is public, change one unit."""
        counted = any(table.people is not None for table in self.tables.values())
        return Relation.CHANGE_ONE if counted else Relation.ADD_REMOVE


def undeclared(policy: Policy, stated: TablePolicy | PublicTable) -> dict[str, str]:
    """Return how another type is declared for the columns of a frame that have none, with TYPE in the type's place.

    >>> visits = PublicTable("visits", {"age": ColumnPolicy("age", Type.REAL)})
    >>> policy = Policy(
    ...     source=Source(SourceKind.FRAMES, None),
    ...     lineage="",
    ...     version="1",
    ...     unit="person",
    ...     tables={},
    ...     budget=None,
    ...     analysts={},
    ... )
    >>> print(undeclared(policy, visits)["age"])
    columns={"visits.age": {"type": "TYPE"}}
    """
    found: dict[str, str] = {}
    for name, column in stated.columns.items() if policy.source.kind is SourceKind.FRAMES else ():
        if not column.typed and column.values is None and not column.public:
            ends = [
                (word, end) for word, end in (("min", column.low), ("max", column.high)) if isinstance(end, Fraction)
            ]
            words = "".join(f', "{word}": {end if end.denominator == 1 else float(end)}' for word, end in ends)
            place = name if list(policy.tables) == [stated.name] else f"{stated.name}.{name}"
            found[name] = f'columns={{"{place}": {{"type": "{TYPE}"{words}}}}}'
    return found


def undeclared_texts(policy: Policy, table: str, among: Collection[str] | None = None) -> list[str]:
    """Say which columns of a table, all or some, are read as texts because nothing is declared about them."""
    stated = policy.tables[table] if table in policy.tables else policy.public[table]
    return [
        f"{table}.{name} has no declared type and is read as text: cells that are not texts are NULL. "
        f"If they are of another type, such as date, boolean or real, add {line.replace(TYPE, '...')}"
        for name, line in undeclared(policy, stated).items()
        if stated.columns[name].type is Type.TEXT and (among is None or name in among)
    ]


class TableTypes(dict[str, dict[str, str]]):
    """The tables of a policy, each with its columns and their types; `notes` says what no declaration decided.

    `views` are those of the policy, read.
    """

    def __init__(self, policy: Policy, views: Mapping[str, Mapping[str, Type]] | None = None) -> None:
        tables: dict[str, TablePolicy | PublicTable] = {**policy.tables, **policy.public}
        types = {
            name: {one: column.type.value for one, column in stated.columns.items()} for name, stated in tables.items()
        }
        named = {name: {one: kind.value for one, kind in columns.items()} for name, columns in (views or {}).items()}
        super().__init__({**types, **named})
        self.notes = tuple(note for name in tables for note in undeclared_texts(policy, name))

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self.notes])
