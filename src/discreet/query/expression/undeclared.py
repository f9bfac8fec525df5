"""Advice about columns of frames for which no type is declared: the line that declares another type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.query.expression.expression import Column, Expression
from discreet.query.expression.types import Type

TYPE = "TYPE"  # stands in a line for the type that is wanted
# where a declaration reads more of the cells than the type without one
_HELPS = {(Type.REAL, Type.INTEGER), (Type.TIMESTAMP, Type.DATE)}


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
