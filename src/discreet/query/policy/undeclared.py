"""Columns of frames for which no type is declared: what is said of them, table by table."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from discreet.query.expression import TYPE, Type
from discreet.query.policy.declarations import ColumnPolicy, Policy, PublicTable, SourceKind, TablePolicy


def declaration(policy: Policy, table: str, column: ColumnPolicy) -> str:
    """Return how another type is declared for a column of a frame, with TYPE in the type's place; else nothing.

    >>> from discreet.query.policy.declarations import Source
    >>> stated = Policy(
    ...     source=Source(SourceKind.FRAMES, None), lineage="", version="1", unit="person", tables={}, budget=None,
    ...     analysts={},
    ... )
    >>> print(declaration(stated, "visits", ColumnPolicy("age", Type.REAL)))
    columns={"visits.age": {"type": "TYPE"}}
    """
    if policy.source.kind is not SourceKind.FRAMES or column.typed or column.values is not None or column.public:
        return ""
    ends = [(word, end) for word, end in (("min", column.low), ("max", column.high)) if isinstance(end, Fraction)]
    words = "".join(f', "{word}": {end if end.denominator == 1 else float(end)}' for word, end in ends)
    name = column.name if list(policy.tables) == [table] else f"{table}.{column.name}"
    return f'columns={{"{name}": {{"type": "{TYPE}"{words}}}}}'


def undeclared_texts(policy: Policy, table: str, among: Collection[str] | None = None) -> list[str]:
    """Say which columns of a table, all or some, are read as texts because nothing is declared about them."""
    stated = policy.tables[table] if table in policy.tables else policy.public[table]
    found = []
    for name, column in stated.columns.items():
        line = declaration(policy, table, column) if column.type is Type.TEXT else ""
        if line and (among is None or name in among):
            found.append(
                f"{table}.{name} has no declared type and is read as text: cells that are not texts are NULL. "
                f"If they are of another type, such as date, boolean or real, add {line.replace(TYPE, '...')}"
            )
    return found


class TableTypes(dict[str, dict[str, str]]):
    """The tables of a policy, each with its columns and their types; `notes` says what no declaration decided."""

    def __init__(self, policy: Policy) -> None:
        """List them."""
        tables: dict[str, TablePolicy | PublicTable] = {**policy.tables, **policy.public}
        types = {
            name: {one: column.type.value for one, column in stated.columns.items()} for name, stated in tables.items()
        }
        super().__init__(types)
        self.notes = tuple(note for name in tables for note in undeclared_texts(policy, name))

    def __repr__(self) -> str:
        """Print the tables, and the notes below."""
        return "\n".join([super().__repr__(), *self.notes])
