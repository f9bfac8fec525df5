"""What a policy says about the columns of a table, as a domain; and rows of the table as records of such a domain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import MissingBound, ParameterError, UnknownName
from discreet.query import Type
from discreet.query.plan import bounded, entries_of, table_named
from discreet.query.policy import ColumnPolicy, TablePolicy, UnitIsRow, header, key_in_toml
from discreet.synthesis.domain import BINS, Attribute, Binned, Bins, Domain, Records

if TYPE_CHECKING:
    from discreet.query import Session

_MOST_VALUES = (1 << 16) - 1  # beside the code for what is missing
_DATED = (Type.DATE, Type.TIMESTAMP)


def declared_domain(
    session: Session, table: str, columns: Sequence[str] | None, *, bins: int | Mapping[str, int | Bins]
) -> Domain:
    """Return the domain of a session's table; see `domain_of`."""
    from discreet.query.session import check_session

    check_session(session)
    stated = table_named(session.policy, table)
    _check_bins(bins, stated)
    wanted = _wanted(stated, columns)
    found = {name: _attribute(stated.columns[name], bins) for name in wanted}
    lacking = [name for name, attribute in found.items() if attribute is None]
    if lacking:
        raise MissingBound(_remedy(stated, lacking))
    return Domain(tuple(attribute for attribute in found.values() if attribute is not None))


def check_domain(domain: Domain, table: TablePolicy) -> None:
    """Refuse, before anything is charged, a domain whose columns are not there or in which an entry can be an error."""
    for attribute in domain:
        if attribute.name not in table.columns:
            raise UnknownName(f"{_no_column(table, attribute.name)}. Nothing was spent.")
        if not attribute.missing:
            raise ParameterError(
                f"{attribute.name}: the domain has no code for NULL and undeclared values, so an entry could be an "
                "error that tells something. Make the domain with domain_of(session, table), or with missing=True. "
                "Nothing was spent.",
                parameter="workload",
            )


def packed(domain: Domain, table: TablePolicy, rows: Mapping[str, Any], most: int) -> Records:
    """Return rows as an engine hands them out, with at most `most` of each unit, as records of a domain. Private."""
    kept = slice(None) if isinstance(table.unit, UnitIsRow) else bounded(rows["unit"], most)
    typed = {name: entries_of(rows[name], table.columns[name].type)[kept] for name in domain.names}
    return domain.encode(typed)


def _wanted(table: TablePolicy, columns: Sequence[str] | None) -> list[str]:
    """Return the columns asked for, or all but the one that leads to the unit."""
    if columns is None:
        own = getattr(table.unit, "column", None)
        return [name for name in table.columns if name != own]
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns) or not columns:
        raise ParameterError('columns must be a list of names of columns, such as ["age", "sex"]', parameter="columns")
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise UnknownName(_no_column(table, missing[0]))
    if len(set(columns)) < len(columns):
        raise ParameterError("a column is named twice: remove one", parameter="columns")
    return list(columns)


def _attribute(column: ColumnPolicy, bins: int | Mapping[str, int | Bins]) -> Attribute | None:
    """Return a column with its values or bins, None where the policy says too little."""
    named = bins.get(column.name) if isinstance(bins, Mapping) else None
    if isinstance(named, Bins):
        return named.attribute(column.name, missing=True)
    domain = (False, True) if column.type is Type.BOOLEAN else column.domain
    if named is None and domain is not None and len(domain) <= _MOST_VALUES:
        return Attribute(column.name, tuple(domain), missing=True)
    if column.interval is None:
        return None
    count = named if named is not None else BINS if isinstance(bins, Mapping) else bins
    if column.type is Type.INTEGER:
        return _whole_bins(column.name, column.interval, count)
    return Bins(column.interval, count).attribute(column.name, missing=True)


def _whole_bins(name: str, interval: tuple[Fraction, Fraction], count: int) -> Binned:
    """Return at most `count` bins with the same number of integers each; a bin's value is its middle integer.

    >>> _whole_bins("age", (Fraction(0), Fraction(90)), 3).values
    (15, 46, 77)
    """
    first, last = math.ceil(interval[0]), math.floor(interval[1])
    width = max(1, -(-(last - first + 1) // count))
    starts = range(first, last + 1, width) or range(first, first + 1)
    edges = tuple(float(start) for start in (*starts, starts[-1] + width))
    return Binned(name, tuple(start + (width - 1) // 2 for start in starts), True, edges=edges)


def _check_bins(bins: object, table: TablePolicy) -> None:
    """Raise for bad bins, and for bins of columns that are not numbers."""
    stated = bins if isinstance(bins, Mapping) else {None: bins}
    for name, count in stated.items():
        whole = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= _MOST_VALUES
        if not whole and not (isinstance(count, Bins) and name is not None):
            raise ParameterError(
                f"bins must be a whole number from 1 to {_MOST_VALUES:,}, or such numbers or Bins by column: "
                '{"age": 16}',
                parameter="bins",
            )
        if name is not None and name not in table.columns:
            raise UnknownName(_no_column(table, str(name)))
        if name is not None and not table.columns[name].type.numeric:
            raise ParameterError(f"bins must be for columns of numbers; {name} is not one", parameter="bins")


def _no_column(table: TablePolicy, name: str) -> str:
    """Say which columns there are instead."""
    known = [*list(table.columns)[:20], *["..."] * (len(table.columns) > 20)]
    return f"{table.name} has no column {name[:80]!r}; there are {', '.join(known)}"


def _remedy(table: TablePolicy, lacking: Sequence[str]) -> str:
    """Say what to add to the policy."""
    name = lacking[0]
    declared = "min = ..., max = ..." if table.columns[name].type.numeric else "values = [...]"
    line = f"{key_in_toml(name)} = {{{declared}}}"
    more = f" (and likewise for {', '.join(lacking[1:6])}{', ...' if len(lacking) > 6 else ''})" if lacking[1:] else ""
    place = header(("tables", table.name, "columns"))
    dated = ": dates have no bins, so a range is not enough" if table.columns[name].type in _DATED else ""
    return (
        f"the policy does not say which values {name} can have{dated}. Add {line} under {place}{more}, or name the "
        "columns to take without it (columns=[...], --column). Nothing was spent."
    )
