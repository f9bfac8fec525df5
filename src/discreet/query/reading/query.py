"""SQL to a typed plan: one aggregation over private rows, and steps on its released answer.

A SELECT is read from the inside out. Without aggregates it gives rows, with aggregates the one aggregation; whatever
stands around an aggregation works on the released table and becomes a `Finish`. A join is with a public table, on a key
that is declared unique: one row stays one row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlglot import exp

from discreet.errors import ParameterError, QueryRefused, UnknownName, UnsupportedSQL
from discreet.query.expression import Expression, Interval, Value
from discreet.query.plan import JoinKind, PublicJoin, QueryPlan
from discreet.query.policy import LARGEST_DOMAIN, Policy, PublicTable
from discreet.query.reading.grouping import Released, aggregate, finish
from discreet.query.reading.key_domains import Evaluate
from discreet.query.reading.parse import bare, clauses, fold, has_aggregate, look_up, only, parse, shown, table_alias
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.rows import (
    ReadableRows,
    Scope,
    Visible,
    of_table,
    project,
    read_table,
    unknown_table,
    where,
)
from discreet.statistics.columns import stated_bounds

_Given = TypeVar("_Given")


def read_query(
    sql: str,
    policy: Policy,
    *,
    bounds: Mapping[str, tuple[object, object]] | None = None,
    keys: Mapping[str, Sequence[Value]] | None = None,
    evaluate: Evaluate | None = None,
) -> QueryPlan:
    """Return what a query means, or refuse it; no data is read.

    `bounds` gives ranges by the name of a column or of an aggregate in the answer, `keys` the values of a key by the
    name of a column or of the key in the answer. `evaluate` computes an expression for given values of its columns;
    with it, keys that are expressions of columns with declared values are public too.

    The plan is a function of the text, the policy and the arguments: nothing private is looked at.
    """
    stated = _by_name(bounds, "bounds", 'ranges: bounds={"cost": (0, 500)}')
    ranges = {name: stated_bounds(pair, name=name) for name, pair in stated.items()}
    listed = _by_name(keys, "keys", 'lists of values: keys={"region": [...]}')
    reading = _Reading(policy, ranges, listed, evaluate)
    try:
        found = reading.select(parse(sql), {})
        if isinstance(found, ReadableRows):
            raise UnsupportedSQL(ROWS)
        reading.check_used(found)
    except RecursionError:
        raise UnsupportedSQL(
            "The query is nested too deeply. Split it into several queries. Nothing was spent."
        ) from None
    except QueryRefused as refusal:
        raise type(refusal)(_sentence(str(refusal))) from None
    return QueryPlan(found.aggregation, found.finish)


def _sentence(message: str) -> str:
    """Return a refusal as whole sentences that end with what it cost."""
    parameter = message.partition(" ")[0].endswith("=")  # written as in Python, and so in small letters
    words = message if parameter else message[:1].upper() + message[1:]
    stopped = words if words.endswith((".", "?", "!")) else f"{words}."
    return stopped if stopped.endswith("Nothing was spent.") else f"{stopped} Nothing was spent."


def _by_name(given: Mapping[str, _Given] | None, parameter: str, written: str) -> dict[str, _Given]:
    """Return an argument that pairs names with something."""
    if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
        raise ParameterError(f"{parameter}= pairs names with {written}", parameter=parameter)
    return dict(given or {})


@dataclass(slots=True)
class _Reading:
    """What is known while one query is read."""

    policy: Policy
    bounds: dict[str, Interval]
    keys: dict[str, Sequence[Value]]
    evaluate: Evaluate | None
    used: set[str] = field(default_factory=set)  # names in bounds and keys that the query has
    columns: list[str] = field(default_factory=list)  # of all tables that are read
    read: set[str] = field(default_factory=set)  # the names of WITH that are read

    def select(self, select: exp.Select, known: Mapping[str, ReadableRows | Released]) -> ReadableRows | Released:
        """Return what a SELECT gives: rows, or a released table."""
        read = clauses(select)
        known, defined = self._common_tables(read["with"], known)
        origin = self._origin(read["from"], known)
        unread = [name for name in defined if fold(name) not in self.read]
        if unread:
            raise UnsupportedSQL(f"WITH {shown(unread[0])} is never read. Leave it out, or read it in FROM.")
        grouped = read["group"] is not None or read["having"] is not None
        grouped = grouped or any(has_aggregate(one) for one in select.expressions)
        if isinstance(origin, Released):
            return _outer(select, read, origin, grouped)
        for node in select.args.get("joins") or []:
            origin = _join(origin, node, self.policy, list(known), self.bounds)
            self.columns += [one.name for one in origin.scope.visible]
        origin = where(origin, read["where"])
        if grouped:
            return aggregate(origin, select, read, self.policy.unit, self.bounds, self.keys, self.evaluate, self.used)
        return _plain(select, read, origin)

    def check_used(self, found: Released) -> None:
        """Refuse bounds and keys for names that the query does not have, and more groups than can be shown."""
        for name in self.bounds:
            if fold(name) not in self.used | {fold(one) for one in self.columns}:
                raise UnknownName(f"bounds= names {shown(name)!r}, which is not a column or aggregate of the query.")
        for name in self.keys:
            if f"key {fold(name)}" not in self.used:
                raise UnknownName(f"keys= names {shown(name)!r}, which is not a key of the query. Add it to GROUP BY.")
        groups = math.prod([len(key.domain) for key in found.aggregation.keys if key.domain is not None])
        if groups > LARGEST_DOMAIN:
            raise UnsupportedSQL(
                f"The public keys have {min(groups, 10**12)} combinations, and at most {LARGEST_DOMAIN} groups are "
                "answered. Group by fewer columns, or give fewer values: keys={...}."
            )

    def _common_tables(
        self, clause: exp.Expr | None, known: Mapping[str, ReadableRows | Released]
    ) -> tuple[dict[str, ReadableRows | Released], list[str]]:
        """Return the tables of WITH beside those known before, and their names."""
        found, names = dict(known), list[str]()
        if clause is None:
            return found, names
        only(clause, "expressions")
        for node in clause.expressions:
            only(node, "this", "alias", "materialized")
            name = table_alias(node)
            if fold(name) in (fold(one) for one in names):
                raise UnsupportedSQL(f"WITH defines {shown(name)!r} twice. Give one of them another name.")
            found[fold(name)] = self._inner(node.this, found)
            self.read.discard(fold(name))
            names.append(name)
        return found, names

    def _inner(self, node: exp.Expr, known: Mapping[str, ReadableRows | Released]) -> ReadableRows | Released:
        """Return what a SELECT in brackets gives."""
        while isinstance(node, exp.Subquery):
            only(node, "this")
            node = node.this
        if not isinstance(node, exp.Select):
            name = type(node).__name__
            raise UnsupportedSQL(reason(name, f"{shown(node)!r} cannot stand here. Write a SELECT in brackets."))
        return self.select(node, known)

    def _origin(self, clause: exp.Expr | None, known: Mapping[str, ReadableRows | Released]) -> ReadableRows | Released:
        """Return what stands first in FROM."""
        if clause is None:
            raise UnsupportedSQL("The query reads no table. Write SELECT COUNT(*) FROM table.")
        only(clause, "this")
        node = clause.this
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            return _renamed(self._inner(node.this, known), table_alias(node))
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            inner = node.this if isinstance(node, exp.Table) else node
            words = "Functions that make or read tables are not understood. Name a table of the policy in FROM."
            raise UnsupportedSQL(reason(type(inner).__name__, words))
        only(node, "this", "alias")
        name, alias = node.name, table_alias(node)
        if fold(name) in known:
            self.read.add(fold(name))
            return _renamed(known[fold(name)], alias or name)
        source = read_table(name, alias or name, self.policy, self.bounds)
        self.columns += [one.name for one in source.scope.visible]
        return source


def _outer(select: exp.Select, read: Mapping[str, exp.Expr | None], origin: Released, grouped: bool) -> Released:
    """Return a released table after one more step."""
    if select.args.get("joins"):
        raise UnsupportedSQL("Answers are not joined with tables. Join the public table before GROUP BY.")
    if grouped:
        raise UnsupportedSQL(
            "Answers are not added up again. Ask for the coarser groups in one query: fewer columns in GROUP BY."
        )
    return finish(select, read, origin)


def _plain(select: exp.Select, read: Mapping[str, exp.Expr | None], origin: ReadableRows) -> ReadableRows:
    """Return the rows of a SELECT without aggregates."""
    for name, word in (("order", "ORDER BY"), ("limit", "LIMIT")):
        node = read[name]
        if node is not None:
            words = f"{ROWS} {word} is understood on answers alone: a SELECT of rows has neither order nor number."
            raise UnsupportedSQL(ROWS if has_aggregate(node) else words)
    return project(origin, select)


def _renamed(origin: ReadableRows | Released, alias: str) -> ReadableRows | Released:
    """Return rows or a released table under the name they have in FROM."""
    if isinstance(origin, Released):
        return Released(origin.aggregation, origin.finish, origin.columns, alias)
    return ReadableRows(origin.rows, origin.scope.under(alias))


def _join(
    source: ReadableRows, node: exp.Join, policy: Policy, known: Sequence[str], bounds: Mapping[str, Interval]
) -> ReadableRows:
    """Return the rows joined with a public table; `known` are the names that stand for something else."""
    kind = _join_kind(node)
    table, alias = _public_table(node.this, policy, known, source)
    prefix = _prefix(table.name, source.scope)
    section = f"[public.{table.name}.columns]"
    added = [of_table(one, f"{prefix}.{name}", alias, section, bounds) for name, one in table.columns.items()]
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
    return ReadableRows(rows, Scope(visible, {**source.scope.base, **{one.column.name: one for one in added}}))


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
        word = " ".join(one for one in (method, side, kind) if one)
        semi = " JOIN keeps the rows that have a match, once each, as a semi join would." if kind == "SEMI" else ""
        raise UnsupportedSQL(
            f"{word} JOIN is not understood. Write JOIN or LEFT JOIN with a public table on its key.{semi}"
        )
    only(node, "this", "on", "using", "side", "kind")
    return JoinKind.LEFT if side == "LEFT" else JoinKind.INNER


def _public_table(
    node: exp.Expr, policy: Policy, known: Sequence[str], source: ReadableRows
) -> tuple[PublicTable, str]:
    """Return the public table that is joined, and the name it has in the query."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        words = f"{shown(node)!r} cannot be joined. Join a public table of the policy by its name."
        raise UnsupportedSQL(words if isinstance(node, exp.Subquery) else reason(type(node).__name__, words))
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
    node = bare(node) if node is not None else None
    if isinstance(node, exp.And):
        return [*_equalities(node.this, join), *_equalities(node.args["expression"], join)]
    if not isinstance(node, exp.EQ):
        raise UnsupportedSQL(
            f"A join needs equalities alone: ON table.column = public_table.key, joined by AND; {shown(join)!r} has "
            "something else. Put other conditions into WHERE."
        )
    return [node]


def _pair(node: exp.Expr, source: ReadableRows, right: Scope) -> tuple[Expression, Visible]:
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
