"""The types a column or an expression can have; every engine's own types are read as one of these."""

from __future__ import annotations

from enum import Enum


class Type(Enum):
    """What a value is. Integers are 64 bits wide, reals are floats, times are microseconds without a time zone."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        """Whether values can be added up."""
        return self in (Type.INTEGER, Type.REAL)

    def __repr__(self) -> str:
        """Print the name by which code reaches it."""
        return f"Type.{self.name}"
