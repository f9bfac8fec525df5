"""A policy meets its source, a folder, a file or data frames: columns and types of the tables, read without a row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import MissingParameter, ParameterError, PolicyError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from discreet.privacy.numbers import as_written
from discreet.query.engines import engine_and_policy
from discreet.query.expression import Type, plain_value
from discreet.query.frame_table import FrameTable, columns_of_units, frame_table, labels_of
from discreet.query.plan import Engine, stated_limits
from discreet.query.policy import (
    UNNAMED,
    Analyst,
    ColumnPolicy,
    Policy,
    Problems,
    PublicTable,
    Section,
    Source,
    SourceKind,
    TablePolicy,
    Unfit,
    Unit,
    UnitColumn,
    UnitIsRow,
    UnitLimits,
    read_columns,
    with_schema,
)
from discreet.query.reading import views_of


def with_source(policy: Policy, frames: Mapping[str, Any] | None = None) -> tuple[Policy, Engine]:
    """Return the policy with every column of its tables, and an engine over its source."""
    return engine_and_policy(policy, frames, fitted)


def fitted(policy: Policy, engine: Engine) -> Policy:
    """Return the policy with every column of its tables; refuse what does not agree with the source, or a view."""
    complete = with_schema(policy, schemas(policy, engine), unfit(policy, engine))
    views_of(complete)
    return complete


def unfit(policy: Policy, engine: Engine) -> Unfit:
    """Return the columns of every table of the source that cannot name a unit, with the names of their types."""
    return {name: engine.unfit(name) for name in policy.tables if engine.has(name)}


def schemas(policy: Policy, engine: Engine) -> dict[str, Mapping[str, Type]]:
    """Return the columns of every table of the source that the policy names."""
    found = {}
    for name in (*policy.tables, *policy.public):
        columns = engine.schema(name) if engine.has(name) else None
        if columns is not None:
            found[name] = columns
    return found


def policy_of_frames(
    frames: Mapping[str, Any],
    *,
    unit: str | Mapping[str, str],
    budget: Guarantee,
    rows: int | None,
    groups: int | None,
    rows_per_group: int | None,
    outer_rows: int | None,
    columns: Mapping[str, Mapping[str, Any]] | None,
    public: Mapping[str, Any] | None,
    analyst: str,
    unit_name: str,
    ledger: str | Path | None,
    lineage: str | None,
    version: str,
) -> tuple[Policy, Engine]:
    """Return the policy that the arguments of `Session.from_frames` state, and an engine over the frames."""
    if not frames:
        raise MissingParameter("name at least one table: Session.from_frames(visits=frame, unit=..., budget=...)")
    if not isinstance(budget, PureDP | ApproxDP | ZCDP | GaussianDP):
        raise ParameterError(
            "budget must be a guarantee; write PureDP(3), ApproxDP(3, 1e-6), ZCDP(0.5) or GaussianDP(1)",
            parameter="budget",
        )
    if ledger is not None and lineage is None:
        raise MissingParameter(
            "a ledger in a file belongs to the people in the data: name them with lineage=, and keep that name",
            parameter="lineage",
        )
    _check_names(frames, public or {})
    bounds = stated_limits(rows, groups, rows_per_group, most=2**31 - 1, outer_rows=outer_rows)
    declared = _declared(frames, public or {}, columns or {})
    tables = {name: _table(name, unit, bounds, declared[name], labels_of(frame)) for name, frame in frames.items()}
    seen = {name: _public(name, given, declared[name]) for name, given in (public or {}).items()}
    policy = Policy(
        source=Source(SourceKind.FRAMES, None),
        lineage=lineage or UNNAMED,
        version=version,
        unit=unit_name,
        tables=tables,
        public={name: table for name, (_, table) in seen.items()},
        budget=as_written(budget),
        analysts={analyst: Analyst(analyst)},
        ledger=None if ledger is None else Path(ledger),
        file="the arguments of from_frames",
    )
    if budget.relation not in (Relation.UNSTATED, policy.relation):
        raise RelationMismatch(
            f"budget must be for the neighbors of frames ({policy.relation.value}); got {budget.relation.value}, "
            f"write it without relation=, or with relation=Relation.{policy.relation.name}"
        )
    given = {**frames, **{name: frame for name, (frame, _) in seen.items()}}
    return with_source(policy, {name: _read(policy, name, frame) for name, frame in given.items()})


def _read(policy: Policy, name: str, frame: Any) -> FrameTable:
    """Return a frame with a type for every column; names are matched up to capitals where that leaves one."""
    labels = labels_of(frame)
    stated = policy.tables[name].columns if name in policy.tables else policy.public[name].columns
    units = {_spelled(one, labels) for one in columns_of_units(policy, name)}
    types = {
        _spelled(one, labels): _frame_type(column, _spelled(one, labels) in units) for one, column in stated.items()
    }
    return frame_table(name, frame, declared=types, units=frozenset(units))


def _spelled(name: str, labels: list[str]) -> str:
    """Return a name as the frame spells it, or as it is where the frame has no such column."""
    alike = [label for label in labels if label.casefold() == name.casefold()]
    return alike[0] if name not in labels and len(alike) == 1 else name


def _frame_type(column: ColumnPolicy, unit: bool) -> Type:
    """Return the type that a declaration gives to a column of a frame.

    A type does, and so do public values and a public range, which list what the column holds. The ends of a range say
    that it holds numbers: these are reals, but for ids.
    """
    listed = column.typed or column.public or column.values is not None
    return Type.REAL if column.type is Type.INTEGER and not listed and not unit else column.type


def _table(
    name: str, unit: str | Mapping[str, str], bounds: UnitLimits, columns: Any, labels: list[str]
) -> TablePolicy:
    stated = unit.get(name) if isinstance(unit, Mapping) else unit
    if not isinstance(stated, str) or not stated:
        raise MissingParameter(f'unit= must say what is protected in {name!r}: a column, or "row"', parameter="unit")
    if stated == "row" and any(name.casefold() == "row" for name in labels):
        raise ParameterError(
            f'a column of {name!r} is called "row", and unit="row" means that every row is a unit: rename the column',
            parameter="unit",
        )
    chosen: Unit = UnitIsRow() if stated == "row" else UnitColumn(stated)
    if isinstance(chosen, UnitIsRow):
        return TablePolicy(name, chosen, columns)
    if bounds.rows is None and (bounds.groups is None or bounds.rows_per_group is None):
        raise MissingParameter(
            f"a unit of {name!r} may have many rows: state rows=, how many of them count at most, or groups= and "
            "rows_per_group=",
            parameter="rows",
        )
    return TablePolicy(name, chosen, columns, bounds)


def _declared(
    frames: Mapping[str, Any], public: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Sort what is declared about columns by table; a bare name belongs to every private table that has the column."""
    problems = Problems({})
    labels = {name: {label.casefold() for label in labels_of(frame)} for name, frame in frames.items()}
    sorted_: dict[str, dict[str, Any]] = {name: {} for name in (*frames, *public)}
    for name, words in columns.items():
        if isinstance(words, tuple) and len(words) == 2:
            words = {"min": words[0], "max": words[1]}  # noqa: PLW2901
        if not isinstance(words, Mapping):
            raise ParameterError(
                f'columns= must say what is public about {name!r} as {{"min": 0, "max": 500}} or {{"values": [...]}}',
                parameter="columns",
            )
        table, _, column = name.rpartition(".")
        if table and table not in sorted_:
            raise ParameterError(f"columns= names an unknown table: {table!r}", parameter="columns")
        holders = [one for one in frames if name.casefold() in labels[one]]
        for one in [table] if table else holders or list(frames):
            sorted_[one][column if table else name] = {word: _decimal(value) for word, value in words.items()}
    read = {
        table: read_columns(Section((table, "columns"), entries, problems), needs_type=False)
        for table, entries in sorted_.items()
    }
    if problems.listed():
        raise PolicyError(problems.listed(), file="columns=")
    return read


def _decimal(value: Any) -> Any:
    """Return floats as the decimals they are written with, as a policy file has them, and scalars as Python's own."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = list(value)
    if isinstance(value, np.generic) or hasattr(value, "to_pydatetime") or hasattr(value, "as_py"):
        plain = plain_value(value)
        value = value if plain is None else plain  # a time that Python does not have is refused as it is
    if isinstance(value, float) and math.isfinite(value):
        return Decimal(repr(float(value)))
    return [_decimal(one) for one in value] if isinstance(value, list | tuple) else value


def _check_names(frames: Mapping[str, Any], public: Mapping[str, Any]) -> None:
    """Refuse tables, and columns of one table, whose names differ only in capitals."""
    tables = [*frames, *public]
    if len({name.casefold() for name in tables}) < len(tables):
        raise ParameterError(
            "two tables have names that differ only in capitals, which SQL does not tell apart: rename one"
        )
    for name, frame in frames.items():
        labels = labels_of(frame)
        if len({label.casefold() for label in labels}) < len(labels):
            raise ParameterError(
                f"two columns of {name!r} have names that differ only in capitals, which SQL does not tell apart: "
                "rename one"
            )


def _public(name: str, given: Any, columns: Any) -> tuple[Any, PublicTable]:
    """Return a public frame and what is unique in it."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise ParameterError(
            f"public= must give {name!r} as (frame, [columns that no two of its rows agree on])", parameter="public"
        )
    frame, unique = given
    keys: Sequence[str] = [unique] if isinstance(unique, str) else list(unique)
    return frame, PublicTable(name, columns, (frozenset(keys),))
