"""Joins with public tables, on a key that is declared unique: one row stays one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Interval
from discreet.query.plan import JoinKind, PublicJoin
from discreet.query.policy import Policy, PublicTable
from discreet.query.reading.parse import only, shown
from discreet.query.reading.refusals import reason
from discreet.query.reading.rows import Source, bare, of_table, table_alias, unknown_table, with_range
from discreet.query.reading.scope import Scope, Visible, fold, look_up


def join(
    source: Source, node: exp.Join, policy: Policy, known: Sequence[str], bounds: Mapping[str, Interval]
) -> Source:
    """Return the rows joined with a public table; `known` are the names that stand for something else."""
    kind = _join_kind(node)
    table, alias = _public_table(node.this, policy, known, source)
    prefix = _prefix(table.name, source.scope)
    section = f"[public.{table.name}.columns]"
    added = [of_table(column, f"{prefix}.{name}", alias, section) for name, column in table.columns.items()]
    added = [with_range(one, bounds) for one in added]
    right = Scope(tuple(added), {})
    merged: set[str] = set()
    pairs: list[tuple[Expression, Visible]] = []
    if node.args.get("using"):
        for name in (one.name for one in node.args["using"]):
            pairs.append((source.scope.find(name, None).column, right.find(name, None)))
        merged = {one.name for _, one in pairs}
    else:
        pairs = [_pair(one, source, right) for one in _equalities(node.args.get("on"), node)]
    for left, one in pairs:
        if left.type is not one.column.type:
            words = f"{left.type.value} and {one.column.type.value}"
            raise UnsupportedSQL(
                f"The join compares {words} in {one.name!r}. CAST the private side to the public type."
            )
    keys = {one.name for _, one in pairs}
    if not any(unique <= keys for unique in table.unique):
        raise UnsupportedSQL(
            f"Rows of {table.name!r} may match more than once, since {', '.join(sorted(keys))} is not declared unique. "
            f'Join on a unique key, or declare it: unique = ["{sorted(keys)[0]}"] under [public.{table.name}].'
        )
    rows = PublicJoin(
        source.rows,
        table.name,
        tuple((left, one.name) for left, one in pairs),
        tuple((one.column.name, one.name, one.column.type) for one in added),
        kind,
    )
    units = _from_unit(table, [(source.scope.from_unit(left), one.name) for left, one in pairs])
    shown_columns = [replace(one, qualified_only=one.name in merged, from_unit=one.name in units) for one in added]
    visible = (*source.scope.visible, *shown_columns)
    return Source(rows, Scope(visible, {**source.scope.base, **{one.column.name: one for one in added}}))


def _from_unit(table: PublicTable, pairs: Sequence[tuple[bool, str]]) -> set[str]:
    """Return the columns of a public table that tell units apart: equal to something of the unit, or unique beside it.

    A column that the join equates with the unit is the unit, and one that is declared unique is another name of it.
    The other columns are what the table says about a unit, as a column of the private table is.
    """
    equal = {name for of_unit, name in pairs if of_unit}
    others = {name for unique in table.unique if len(unique) == 1 for name in unique} if equal else set()
    return equal | others


def _join_kind(node: exp.Join) -> JoinKind:
    """Return how rows without a match are treated, or refuse other joins."""
    method, side, kind = (str(node.args.get(name) or "").upper() for name in ("method", "side", "kind"))
    if not (node.args.get("on") or node.args.get("using")):
        word = method or kind or "A comma, or a JOIN without ON,"
        raise UnsupportedSQL(
            f"{word} would pair all rows with each other. Write JOIN public_table ON table.column = public_table.key."
        )
    if method or side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
        word = method or side or kind
        raise UnsupportedSQL(f"{word} JOIN is not understood. Write JOIN or LEFT JOIN with a public table on its key.")
    only(node, "this", "on", "using", "side", "kind")
    return JoinKind.LEFT if side == "LEFT" else JoinKind.INNER


def _public_table(node: exp.Expr, policy: Policy, known: Sequence[str], source: Source) -> tuple[PublicTable, str]:
    """Return the public table that is joined, and the name it has in the query."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        words = f"{shown(node)!r} cannot be joined. Join a public table of the policy by its name."
        raise UnsupportedSQL(reason(type(node).__name__, words))
    only(node, "this", "alias")
    name, alias = node.name, table_alias(node) or node.name
    table = look_up(name, policy.public) if name not in known else None
    if table is None:
        if look_up(name, policy.tables) is not None or name in known:
            raise UnsupportedSQL(
                f"{shown(name)!r} holds private rows, and rows of people are not joined with each other. Join public "
                "tables alone; what two private tables share belongs into one table."
            )
        raise unknown_table(name, policy)
    if any(fold(one.table) == fold(alias) for one in source.scope.visible):
        raise UnsupportedSQL(f"Two tables are called {shown(alias)!r}. Write AS and another name behind one of them.")
    return table, alias


def _prefix(table: str, scope: Scope) -> str:
    """Return a prefix for the columns of a joined table that no column has yet."""
    prefix = table
    while any(name.startswith(f"{prefix}.") for name in (*scope.base, *(one.column.name for one in scope.visible))):
        prefix += "'"
    return prefix


def _equalities(node: exp.Expr | None, join: exp.Expr) -> list[exp.Expr]:
    """Return the equalities of ON."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        return [*_equalities(node.this, join), *_equalities(node.args["expression"], join)]
    if not isinstance(node, exp.EQ):
        raise UnsupportedSQL(
            f"A join needs equalities alone: ON table.column = public_table.key, joined by AND; {shown(join)!r} has "
            "something else. Put other conditions into WHERE."
        )
    return [node]


def _pair(node: exp.Expr, source: Source, right: Scope) -> tuple[Expression, Visible]:
    """Return the two sides of an equality of ON: an expression over the rows, and a column of the public table."""
    sides = (node.this, node.args["expression"])
    for mine, other in (sides, sides[::-1]):
        theirs = bare(other)
        if not isinstance(theirs, exp.Column) or not right.matches(theirs.name, theirs.table or None):
            continue
        if not theirs.table and source.scope.matches(theirs.name, None):
            continue
        return source.reader().read(mine), right.find(theirs.name, theirs.table or None)
    raise UnsupportedSQL(
        f"{shown(node)!r} does not compare a column of the public table with the private rows. "
        "Write ON table.column = public_table.key."
    )
