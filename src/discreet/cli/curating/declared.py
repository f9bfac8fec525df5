"""What a policy declares, in a table and in words, and the points at which it is sharp."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.display import Rounding, Table, format_number
from discreet.privacy import ZCDP, ApproxDP, Guarantee
from discreet.privacy.guarantees.in_words import in_words
from discreet.query.policy.declarations import (
    ColumnPolicy,
    Policy,
    SourceKind,
    TablePolicy,
    UnitColumn,
    UnitIsRow,
    UnitLink,
)

_MUCH = 10
_WIDE = 100
_SHOWN_DELTA = Fraction(1, 10**6)
_MOST_NAMES = 8


def declared(policy: Policy) -> Table:
    """Return one row a table: who is protected in it, how much of one unit counts, which columns are usable how."""
    rows: list[list[object]] = [
        [
            name,
            _unit(table),
            _bounds(table),
            _listed(bounded(table.columns)),
            _listed(keys(table.columns)),
        ]
        for name, table in policy.tables.items()
    ]
    rows += [[name, "public table", "", "", _listed(keys(table.columns))] for name, table in policy.public.items()]
    return Table(["table", "unit", "counts at most", "columns with a range", "public keys"], rows)


def facts(policy: Policy) -> list[tuple[str, str]]:
    """Return what holds for the whole policy."""
    anchor = "beside the ledger" if policy.anchor is None else policy.anchor.name
    return [
        ("unit of protection", policy.unit),
        ("neighbours", policy.relation.sentence),
        ("budget", f"{in_words(policy.budget)}{_meaning(policy.budget)}"),
        ("analysts", "; ".join(_analyst(name, one.cap) for name, one in policy.analysts.items())),
        ("answers are shared", "yes, between analysts" if policy.shared_answers else "no"),
        ("ledger", f"{'in memory' if policy.ledger is None else policy.ledger.name}, anchor {anchor}"),
        *_copies(policy),
    ]


def _copies(policy: Policy) -> list[tuple[str, str]]:
    """Return where the copy of a source is that is converted."""
    if policy.source.kind is not SourceKind.CSV or policy.ledger is None:
        return []
    return [("private copy", f"{policy.ledger.name}.copies, beside the ledger")]


def sharp_points(policy: Policy) -> list[str]:
    """Return what a curator may not have meant, each as one sentence with its remedy."""
    found = []
    for name, table in policy.tables.items():
        if not keys(table.columns):
            found.append(
                f"{name} has no public key: every GROUP BY takes a delta and leaves out rare keys. Declare values = "
                "[...] or public = true for what everybody knows."
            )
        if not bounded(table.columns):
            found.append(f"{name} has no column with a range: SUM, AVG and quantiles need min and max.")
        rows = table.contributions.rows
        if rows is not None and rows > _WIDE:
            found.append(f"{name} lets {rows:,} rows of one {policy.unit} count: the noise grows with that number.")
    uncapped = [name for name, one in policy.analysts.items() if one.cap is None]
    if len(policy.analysts) > 1 and uncapped:
        found.append(f"{', '.join(uncapped)} may spend the whole budget alone: a cap is share = 0.25, say.")
    if policy.anchor is None:
        found.append("the anchor lies beside the ledger, so a restore of both goes unnoticed: name another place.")
    epsilon = _epsilon(policy.budget)
    if epsilon > _MUCH:
        found.append(f"an epsilon of {format_number(epsilon, digits=3)} protects hardly anybody: most take 1 to 5.")
    if not getattr(policy.budget, "delta", 0):
        found.append("the budget has no delta: keys that are not public can never be shown.")
    return found


def keys(columns: Mapping[str, ColumnPolicy]) -> list[str]:
    """Return the columns whose values are public."""
    return [name for name, column in columns.items() if column.domain is not None]


def bounded(columns: Mapping[str, ColumnPolicy]) -> list[str]:
    """Return the columns with a range of numbers."""
    return [name for name, column in columns.items() if column.interval is not None]


def _unit(table: TablePolicy) -> str:
    match table.unit:
        case UnitIsRow():
            return "every row"
        case UnitColumn(column):
            return column
        case UnitLink(column, other, key):
            return f"{column} -> {other}.{key}"


def _bounds(table: TablePolicy) -> str:
    bounds = table.contributions
    parts = [] if bounds.rows is None else [_rows(bounds.rows)]
    if bounds.groups is not None:
        each = "" if bounds.rows_per_group is None else f", {_rows(bounds.rows_per_group)} in each"
        parts.append(f"{bounds.groups:,} group{'s'[: bounds.groups != 1]}{each}")
    return "; ".join(parts) or "1 row"


def _rows(count: int) -> str:
    return f"{count:,} row{'s'[: count != 1]}"


def _listed(names: list[str]) -> str:
    more = "" if len(names) <= _MOST_NAMES else f" and {len(names) - _MOST_NAMES} more"
    return ", ".join(names[:_MOST_NAMES]) + more or "none"


def _analyst(name: str, cap: Guarantee | None) -> str:
    return f"{name} ({'no cap of their own' if cap is None else in_words(cap)})"


def _epsilon(budget: Guarantee) -> float:
    """Return the epsilon that a budget comes to; a budget in rho at a delta of one in a million besides its own."""
    if isinstance(budget, ZCDP):
        return float(ZCDP(budget.rho).to_approx(_SHOWN_DELTA).epsilon)
    return float(getattr(budget, "epsilon", 0))


def _meaning(budget: Guarantee) -> str:
    """Say what the numbers come to."""
    if isinstance(budget, ZCDP):
        epsilon = format_number(_epsilon(budget), digits=4, rounding=Rounding.UP)
        return f" (no more than epsilon {epsilon} at a delta of 1e-06 besides its own)"
    return " (epsilons and deltas add up)" if isinstance(budget, ApproxDP) else " (epsilons add up)"
