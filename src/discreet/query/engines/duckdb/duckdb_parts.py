"""Rendered parts of an expression, and what is certain about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.query.expression.expression import Expression, Interval, Literal
from discreet.query.expression.types import Type

INFINITY = "'inf'::DOUBLE"


@dataclass(frozen=True, slots=True)
class Part:
    """A rendered expression, what is certain of its values, and whether it may be NaN (for NULL) or infinite."""

    sql: str
    node: Expression
    range: Interval | None
    nan: bool = False
    infinite: bool = False

    @property
    def clean(self) -> str:
        """The text with NULL for NaN."""
        return f"(CASE WHEN {self.sql} <= {INFINITY} THEN {self.sql} END)" if self.nan else self.sql

    @property
    def number(self) -> float | int | None:
        """The value of a literal number."""
        value = self.node.value if isinstance(self.node, Literal) else None
        return value if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class Call:
    """An operation whose arguments are rendered."""

    type: Type
    parts: Sequence[Part]


Writer = Callable[[Call], str]
