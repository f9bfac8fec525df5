"""Sessions on data frames: a policy made from the arguments of a call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.errors import MissingParameter, ParameterError, PolicyError
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.privacy.written import as_written
from discreet.query.policy import (
    Analyst,
    Contributions,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    Unit,
    UnitColumn,
    UnitIsRow,
)
from discreet.query.policy_columns import read_columns
from discreet.query.policy_section import Problems, Section
from discreet.query.request import Engine
from discreet.query.schema import with_source


def policy_of_frames(
    frames: Mapping[str, Any],
    *,
    unit: str | Mapping[str, str],
    budget: Guarantee,
    rows: int | None,
    groups: int | None,
    rows_per_group: int | None,
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
    if not isinstance(budget, PureDP | ApproxDP | ZCDP):
        raise ParameterError("budget is a promise: PureDP(3), ApproxDP(3, 1e-6) or ZCDP(0.5)", parameter="budget")
    if ledger is not None and lineage is None:
        raise MissingParameter(
            "a ledger in a file belongs to the people in the data: name them with lineage=, and keep that name",
            parameter="lineage",
        )
    _check_names(frames, public or {})
    bounds = _contributions(rows, groups, rows_per_group)
    declared = _declared(frames, public or {}, columns or {})
    tables = {name: _table(name, unit, bounds, declared[name], _labels(frame)) for name, frame in frames.items()}
    seen = {name: _public(name, given, declared[name]) for name, given in (public or {}).items()}
    policy = Policy(
        source=Source(SourceKind.FRAMES, None),
        lineage=lineage or "frames of this process",
        version=version,
        unit=unit_name,
        tables=tables,
        public={name: table for name, (_, table) in seen.items()},
        budget=as_written(budget),
        analysts={analyst: Analyst(analyst)},
        ledger=None if ledger is None else Path(ledger),
        file="the arguments of from_frames",
    )
    return with_source(policy, {**frames, **{name: frame for name, (frame, _) in seen.items()}})


def _contributions(rows: int | None, groups: int | None, rows_per_group: int | None) -> Contributions:
    for name, given in (("rows", rows), ("groups", groups), ("rows_per_group", rows_per_group)):
        if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 1 <= given < 2**31):
            raise ParameterError(f"{name} is a whole number of at least 1", parameter=name)
    return Contributions(rows, groups, rows_per_group)


def _table(
    name: str, unit: str | Mapping[str, str], bounds: Contributions, columns: Any, labels: list[str]
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
    """Sort what is declared about columns by table; a bare name belongs to the only table, or to all."""
    problems = Problems({})
    sorted_: dict[str, dict[str, Any]] = {name: {} for name in (*frames, *public)}
    for name, words in columns.items():
        if isinstance(words, tuple) and len(words) == 2:
            words = {"min": words[0], "max": words[1]}  # noqa: PLW2901
        if not isinstance(words, Mapping):
            raise ParameterError(
                f'columns= says what is public about {name!r} as {{"min": 0, "max": 500}} or {{"values": [...]}}',
                parameter="columns",
            )
        table, _, column = name.rpartition(".")
        if table and table not in sorted_:
            raise ParameterError(f"columns= names a table that is not there: {table!r}", parameter="columns")
        for one in [table] if table else list(frames):
            sorted_[one][column if table else name] = {word: _decimal(value) for word, value in words.items()}
    read = {
        table: read_columns(Section((table, "columns"), entries, problems), needs_type=False)
        for table, entries in sorted_.items()
    }
    if problems.listed():
        raise PolicyError(problems.listed(), file="columns=")
    return read


def _decimal(value: Any) -> Any:
    """Return floats as the decimals they are written with, as a policy file has them."""
    if isinstance(value, float) and math.isfinite(value):
        return Decimal(repr(float(value)))
    return [_decimal(one) for one in value] if isinstance(value, list | tuple) else value


def _check_names(frames: Mapping[str, Any], public: Mapping[str, Any]) -> None:
    """Refuse tables, and columns of one table, whose names are the same but for capitals."""
    tables = [*frames, *public]
    if len({name.casefold() for name in tables}) < len(tables):
        raise ParameterError("two tables have one name, but for capitals, which SQL does not tell apart: rename one")
    for name, frame in frames.items():
        labels = _labels(frame)
        if len({label.casefold() for label in labels}) < len(labels):
            raise ParameterError(
                f"two columns of {name!r} have one name, but for capitals, which SQL does not tell apart: rename one"
            )


def _labels(frame: Any) -> list[str]:
    """Return the names of a frame's columns."""
    return [str(label) for label in getattr(frame, "column_names", getattr(frame, "columns", ()))]


def _public(name: str, given: Any, columns: Any) -> tuple[Any, PublicTable]:
    """Return a public frame and what is unique in it."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise ParameterError(
            f"public={{{name!r}: (frame, [the columns no two of its rows agree on])}}", parameter="public"
        )
    frame, unique = given
    keys: Sequence[str] = [unique] if isinstance(unique, str) else list(unique)
    return frame, PublicTable(name, columns, (frozenset(keys),))
