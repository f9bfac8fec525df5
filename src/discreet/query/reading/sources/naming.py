"""Names for columns of joined tables that no column has yet."""

from __future__ import annotations

from discreet.query.reading.rows import Scope


def unused_prefix(table: str, scope: Scope) -> str:
    """Return a prefix for the columns of a joined table that no column has yet."""
    prefix = table
    while any(name.startswith(f"{prefix}.") for name in (*scope.base, *(one.column.name for one in scope.visible))):
        prefix += "'"
    return prefix
