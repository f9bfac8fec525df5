"""Columns of frames for which no type is declared: what is said of them, and the line that declares another type."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from discreet.query.expression.expression import Column, Expression
from discreet.query.expression.types import Type
from discreet.query.policy.declarations import ColumnPolicy, Policy, PublicTable, SourceKind, TablePolicy

TYPE = "TYPE"  # stands in a line for the type that is wanted
# where a declaration reads more of the cells than the type without one
_HELPS = {(Type.REAL, Type.INTEGER), (Type.TIMESTAMP, Type.DATE)}


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


def advice(hint: str, expressions: Sequence[Expression], *wanted: Type) -> str:
    """Return a hint together with the line that declares the type for a column of a frame without one.

    Such a column read as text is NULL wherever a cell is no text, and no conversion in the query brings the cell back:
    the line comes first, and the hint is for cells that are texts. Whether there are such cells is not looked at.
    """
    for column in _without_a_type(expressions):
        if column.type is Type.TEXT:
            line = _filled(column, *wanted)
            return (
                f"no type is declared for {column.name}, which is read as text, other cells as NULL: add {line}; only "
                f"if its cells are texts, {hint}"
            )
    return hint + declared_otherwise(expressions, *wanted)


def declared_otherwise(expressions: Sequence[Expression], *wanted: Type) -> str:
    """Return the line that declares the type for a column of a frame without one, as the end of a sentence."""
    for column in _without_a_type(expressions):
        if any((column.type, type) in _HELPS for type in wanted):
            line = _filled(column, *(type for type in wanted if (column.type, type) in _HELPS))
            return f"; no type is declared for {column.name}, which is read as {column.type.value}: or add {line}"
    return ""


def _without_a_type(expressions: Sequence[Expression]) -> Iterator[Column]:
    """Yield columns that a declaration could help: of texts those that stand by themselves, not inside functions."""
    for expression in expressions:
        for column in expression.columns():
            if column.declare and (column.type is not Type.TEXT or column is expression):
                yield column


def _filled(column: Column, *wanted: Type) -> str:
    """Return the line with the first type in it, and the others behind."""
    line = column.declare.replace(TYPE, wanted[0].value)
    return line + "".join(f' or "{other.value}"' for other in wanted[1:])


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
