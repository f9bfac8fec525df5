"""FROM and JOIN: tables in any order, by ON, USING, or a comma with equalities in WHERE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.plan import JoinKind
from discreet.query.policy import PublicTable
from discreet.query.reading.answers import Released
from discreet.query.reading.parse import conjuncts, fold, look_up, only, shown, table_name
from discreet.query.reading.refusals import reason
from discreet.query.reading.rows import ReadableRows, unknown_table
from discreet.query.reading.sources.context import Context, Known
from discreet.query.reading.sources.private_join import anchored, private_join, refused
from discreet.query.reading.sources.public_join import PublicSide, pair_of_columns, public_join

ANSWERS = (
    "Answers are not joined. Join tables before GROUP BY, and ask for parts of one table in one query, such as "
    "COUNT(*) FILTER (WHERE ...)."
)


def rows_of(
    select: exp.Select, clause: exp.Expr | None, conditions: Sequence[exp.Expr], known: Known, context: Context
) -> tuple[ReadableRows | Released, list[exp.Expr]]:
    """Return what FROM gives, with the conditions of WHERE that are not used up by joins of a list with commas."""
    if clause is None:
        if any(True for _ in select.find_all(exp.Subquery)):
            raise UnsupportedSQL(ANSWERS)
        raise UnsupportedSQL("The query reads no table. Write SELECT COUNT(*) FROM table.")
    only(clause, "this")
    joins = select.args.get("joins") or []
    if not joins:
        return context.item(clause.this, known), list(conditions)
    return _FromList(known, context, list(conditions)).read(clause.this, joins)


@dataclass(slots=True)
class _FromList:
    """What is known while the tables of one FROM are put together, from the left to the right."""

    known: Known
    context: Context
    conditions: list[exp.Expr]
    waiting: list[exp.Expr] = field(default_factory=list)  # tables after a comma, until an equality of WHERE joins them
    met: dict[int, ReadableRows] = field(default_factory=dict)  # private rows among them, by the identity of the node

    def read(self, first: exp.Expr, joins: Sequence[exp.Join]) -> tuple[ReadableRows | Released, list[exp.Expr]]:
        """Return the rows of all tables together."""
        rows, public = None, self._public(first)
        if public is None:
            found = self.context.item(first, self.known)
            if isinstance(found, Released):
                return found, self.conditions
            rows = found
        for node in joins:
            if _bare(node):
                self.waiting.append(node.this)
            elif rows is None:
                rows = self._reversed(first, node)
                first = node.this
            else:
                rows = self._joined(self._settled(rows), node)
        if rows is None:
            rows = self._first_private(first)
        rows = self._settled(rows)
        if self.waiting:
            raise self._unjoined(rows, self.waiting[0])
        return rows, self.conditions

    def _public(self, node: exp.Expr) -> PublicTable | None:
        """Return the public table that a name in FROM stands for, if it is one."""
        if (
            not isinstance(node, exp.Table)
            or not isinstance(node.this, exp.Identifier)
            or fold(table_name(node)) in self.known
        ):
            return None
        policy = self.context.policy
        name = table_name(node)
        return look_up(name, policy.public) if look_up(name, policy.tables) is None else None

    def _joined(self, rows: ReadableRows, node: exp.Join) -> ReadableRows:
        """Return rows joined with one more table by ON or USING."""
        kind, table = _kind(node), self._public(node.this)
        if table is not None:
            side = PublicSide.beside(rows, table, node.this, self.context.bounds)
            self._named(side)
            return public_join(rows, side, node, kind)
        other = self.context.private(_joinable(node.this), self.known, ANSWERS)
        return private_join(rows, other, node, kind, conjuncts(node.args.get("on")), self.context)

    def _reversed(self, first: exp.Expr, node: exp.Join) -> ReadableRows:
        """Return private rows joined with the public table that is written before them."""
        table = self._public(first)
        if table is None or not isinstance(first, exp.Table) or self._public(node.this) is not None:
            raise unknown_table(first.name, self.context.policy)
        if _kind(node) is not JoinKind.INNER:
            raise unknown_table(first.name, self.context.policy)
        rows = self.context.private(_joinable(node.this), self.known, ANSWERS)
        side = PublicSide.beside(rows, table, first, self.context.bounds)
        self._named(side)
        return public_join(rows, side, node, JoinKind.INNER)

    def _first_private(self, first: exp.Expr) -> ReadableRows:
        """Return the first rows of people in a list that begins with a public table."""
        for node in self.waiting:
            if self._public(node) is None:
                self.waiting = [first, *(one for one in self.waiting if one is not node)]
                return self.context.private(_joinable(node), self.known, ANSWERS)
        raise unknown_table(first.name, self.context.policy)

    def _settled(self, rows: ReadableRows) -> ReadableRows:
        """Return rows joined with the waiting tables that equalities of WHERE join, in the order of the list."""
        settled = True
        while settled:
            settled = False
            for node in list(self.waiting):
                joined = self._attached(rows, node)
                if joined is not None:
                    self.waiting = [one for one in self.waiting if one is not node]
                    rows, settled = joined, True
        return rows

    def _attached(self, rows: ReadableRows, node: exp.Expr) -> ReadableRows | None:
        """Return rows joined with a waiting table, if the conditions have its key, or the unit."""
        table = self._public(node)
        if table is not None and isinstance(node, exp.Table):
            side = PublicSide.beside(rows, table, node, self.context.bounds)
            found = [(one, pair_of_columns(one, rows.scope, side.scope)) for one in self.conditions]
            pairs = [pair for _, pair in found if pair is not None]
            if not side.unique(pairs):
                return None
            self._named(side)
            self.conditions = [one for one, pair in found if pair is None]
            return side.joined(rows, pairs, JoinKind.INNER)
        other = self._met(node)
        along = [one for one in self.conditions if anchored(one, rows.scope, other.scope)]
        if not along:
            return None
        self.conditions = [one for one in self.conditions if one not in along]
        return private_join(rows, other, exp.Join(this=node), JoinKind.INNER, along, self.context)

    def _met(self, node: exp.Expr) -> ReadableRows:
        """Return the rows of people that a waiting node stands for, read once."""
        if id(node) not in self.met:
            self.met[id(node)] = self.context.private(_joinable(node), self.known, ANSWERS)
        return self.met[id(node)]

    def _named(self, side: PublicSide) -> None:
        self.context.columns += [one.name for one in side.scope.visible]

    def _unjoined(self, rows: ReadableRows, node: exp.Expr) -> UnsupportedSQL:
        """Return the refusal of a table that no equality joins with the others."""
        table = self._public(node)
        if table is None:
            return refused(rows, self._met(node), self.context, f", {shown(node)}")
        keys = [" AND ".join(f"... = {table.name}.{name}" for name in sorted(unique)) for unique in table.unique]
        remedy = "Declare a unique key of it in the policy"
        if keys:
            remedy = f"Write {keys[0]} in WHERE, or JOIN public_table ON table.column = public_table.key"
        return UnsupportedSQL(
            f"A comma, or a JOIN without ON, would pair all rows with each other, and no equality in WHERE joins "
            f"{shown(node)!r} on a unique key. {remedy}."
        )


def _bare(node: exp.Join) -> bool:
    """Whether a table stands after a comma, or a CROSS JOIN, which is the same."""
    method, side, kind = (str(node.args.get(name) or "").upper() for name in ("method", "side", "kind"))
    if node.args.get("on") or node.args.get("using") or method or side or kind not in ("", "CROSS"):
        return False
    only(node, "this", "kind")
    return True


def _kind(node: exp.Join) -> JoinKind:
    """Return how rows without a match are treated, or refuse other joins."""
    method, side, kind = (str(node.args.get(name) or "").upper() for name in ("method", "side", "kind"))
    if not (node.args.get("on") or node.args.get("using")):
        raise UnsupportedSQL(
            f"{method or side or kind} JOIN without ON would pair rows that have nothing to do with each other. Write "
            "JOIN table ON table.column = other.column."
        )
    if method or side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
        word = " ".join(one for one in (method, side, kind) if one)
        semi = (
            " JOIN with a public table keeps the rows that have a match, once each, as a semi join would; of people "
            "write WHERE id IN (SELECT id FROM ...)."
            if kind == "SEMI"
            else ""
        )
        anti = " For rows that have none, write WHERE NOT EXISTS (SELECT ...)." if kind == "ANTI" else ""
        raise UnsupportedSQL(f"{word} JOIN is not understood. Write JOIN or LEFT JOIN.{semi}{anti}")
    only(node, "this", "on", "using", "side", "kind")
    return JoinKind.LEFT if side == "LEFT" else JoinKind.INNER


def _joinable(node: exp.Expr) -> exp.Expr:
    """Return what can be joined: a table by its name, or a SELECT in brackets."""
    if isinstance(node, exp.Subquery) or (isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)):
        return node
    words = f"{shown(node)!r} cannot be joined. Join a table of the policy by its name."
    raise UnsupportedSQL(reason(type(node).__name__, words))
