"""SQL to a typed plan: one aggregation over private rows, and steps on its released answer.

A SELECT is read from the inside out. Without aggregates it gives rows, with aggregates the one aggregation; whatever
stands around an aggregation works on the released table and becomes a `Finish`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import ParameterError, QueryRefused, UnknownName, UnsupportedSQL
from discreet.query.expression import Interval, Value
from discreet.query.plan import Query
from discreet.query.policy import LARGEST_DOMAIN, Policy
from discreet.query.reading.after_release import Released, finish
from discreet.query.reading.calls import has_aggregate
from discreet.query.reading.grouping import aggregate
from discreet.query.reading.joins import join
from discreet.query.reading.key_domains import Evaluate
from discreet.query.reading.parse import only, parse, part, shown
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.rows import Source, project, read_table, table_alias, where
from discreet.query.reading.scope import fold
from discreet.statistics.columns import stated_bounds

_CLAUSES = ("with", "expressions", "from", "joins", "where", "group", "having", "order", "limit")


def read_query(
    sql: str,
    policy: Policy,
    *,
    bounds: Mapping[str, tuple[object, object]] | None = None,
    keys: Mapping[str, Sequence[Value]] | None = None,
    evaluate: Evaluate | None = None,
) -> Query:
    """Return what a query means, or refuse it; no data is read.

    `bounds` gives ranges by the name of a column or of an aggregate in the answer, `keys` the values of a key by the
    name of a column or of the key in the answer. `evaluate` computes an expression for given values of its columns;
    with it, keys that are expressions of columns with declared values are public too.

    The plan is a function of the text, the policy and the arguments: nothing private is looked at.
    """
    reading = _Reading(policy, _checked_bounds(bounds), _checked_keys(keys), evaluate)
    try:
        found = reading.select(parse(sql), {})
        if isinstance(found, Source):
            raise UnsupportedSQL(ROWS)
        reading.check_used(found)
    except RecursionError:
        raise UnsupportedSQL(
            "The query is nested too deeply. Split it into several queries. Nothing was spent."
        ) from None
    except QueryRefused as refusal:
        raise type(refusal)(_sentence(str(refusal))) from None
    return Query(found.aggregation, found.finish)


def _sentence(message: str) -> str:
    """Return a refusal as whole sentences that end with what it cost."""
    parameter = message.partition(" ")[0].endswith("=")  # written as in Python, and so in small letters
    words = message if parameter else message[:1].upper() + message[1:]
    stopped = words if words.endswith((".", "?", "!")) else f"{words}."
    return stopped if stopped.endswith("Nothing was spent.") else f"{stopped} Nothing was spent."


def _checked_bounds(bounds: Mapping[str, tuple[object, object]] | None) -> dict[str, Interval]:
    """Return the ranges of the call exactly."""
    if bounds is not None and not _by_name(bounds):
        raise ParameterError('bounds= pairs names with ranges: bounds={"cost": (0, 500)}', parameter="bounds")
    return {name: stated_bounds(pair, name=name) for name, pair in (bounds or {}).items()}


def _checked_keys(keys: Mapping[str, Sequence[Value]] | None) -> dict[str, Sequence[Value]]:
    """Return the keys of the call by name."""
    if keys is not None and not _by_name(keys):
        raise ParameterError('keys= pairs names with lists of values: keys={"region": [...]}', parameter="keys")
    return dict(keys or {})


def _by_name(given: object) -> bool:
    """Whether an argument pairs names with something."""
    return isinstance(given, Mapping) and all(isinstance(name, str) for name in given)


@dataclass(slots=True)
class _Reading:
    """What is known while one query is read."""

    policy: Policy
    bounds: dict[str, Interval]
    keys: dict[str, Sequence[Value]]
    evaluate: Evaluate | None
    used: set[str] = field(default_factory=set)  # names in bounds and keys that the query has
    columns: set[str] = field(default_factory=set)  # of all tables that are read
    read: set[str] = field(default_factory=set)  # the names of WITH that are read

    def select(self, select: exp.Select, known: Mapping[str, Source | Released]) -> Source | Released:
        """Return what a SELECT gives: rows, or a released table."""
        only(select, *_CLAUSES)
        known, defined = self._common_tables(select, known)
        origin = self._origin(select, known)
        unread = [name for name in defined if fold(name) not in self.read]
        if unread:
            raise UnsupportedSQL(f"WITH {shown(unread[0])} is never read. Leave it out, or read it in FROM.")
        grouped = part(select, "group") is not None or any(has_aggregate(one) for one in select.expressions)
        grouped = grouped or (part(select, "having") is not None)
        if isinstance(origin, Released):
            return self._outer(select, origin, grouped)
        for node in select.args.get("joins") or []:
            origin = join(origin, node, self.policy, list(known), self.bounds)
            self.columns.update(fold(one.name) for one in origin.scope.visible)
        origin = where(origin, part(select, "where"))
        if grouped:
            return aggregate(origin, select, self.policy.unit, self.bounds, self.keys, self.evaluate, self.used)
        return self._rows(select, origin)

    def check_used(self, found: Released) -> None:
        """Refuse bounds and keys for names that the query does not have, and more groups than can be shown."""
        for name in self.bounds:
            if fold(name) not in self.used | self.columns:
                raise UnknownName(f"bounds= names {shown(name)!r}, which is no column or aggregate of the query.")
        for name in self.keys:
            if f"key {fold(name)}" not in self.used:
                raise UnknownName(f"keys= names {shown(name)!r}, which is no key of the query. Add it to GROUP BY.")
        groups = math.prod(len(key.domain) for key in found.aggregation.keys if key.domain is not None)
        if groups > LARGEST_DOMAIN:
            raise UnsupportedSQL(
                f"The public keys have {min(groups, 10**12)} combinations, and at most {LARGEST_DOMAIN} groups are "
                "answered. Group by fewer columns, or give fewer values: keys={...}."
            )

    def _common_tables(
        self, select: exp.Select, known: Mapping[str, Source | Released]
    ) -> tuple[dict[str, Source | Released], list[str]]:
        """Return the tables of WITH beside those known before, and their names."""
        found, names = dict(known), list[str]()
        clause = part(select, "with")
        if clause is not None:
            only(clause, "expressions")
        for node in clause.expressions if clause is not None else []:
            only(node, "this", "alias", "materialized")
            name = table_alias(node)
            if fold(name) in (fold(one) for one in names):
                raise UnsupportedSQL(f"WITH defines {shown(name)!r} twice. Give one of them another name.")
            found[fold(name)] = self._inner(node.this, found)
            self.read.discard(fold(name))
            names.append(name)
        return found, names

    def _inner(self, node: exp.Expr, known: Mapping[str, Source | Released]) -> Source | Released:
        """Return what a SELECT in brackets gives."""
        while isinstance(node, exp.Subquery):
            only(node, "this")
            node = node.this
        if not isinstance(node, exp.Select):
            name = type(node).__name__
            raise UnsupportedSQL(reason(name, f"{shown(node)!r} cannot stand here. Write a SELECT in brackets."))
        return self.select(node, known)

    def _origin(self, select: exp.Select, known: Mapping[str, Source | Released]) -> Source | Released:
        """Return what stands first in FROM."""
        clause = part(select, "from")
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
        self.columns.update(fold(one.name) for one in source.scope.visible)
        return source

    def _outer(self, select: exp.Select, origin: Released, grouped: bool) -> Released:
        """Return a released table after one more step."""
        if select.args.get("joins"):
            raise UnsupportedSQL("Answers are not joined with tables. Join the public table before GROUP BY.")
        if grouped or any(has_aggregate(one) for one in select.expressions):
            raise UnsupportedSQL(
                "Answers are not added up again. Ask for the coarser groups in one query: fewer columns in GROUP BY."
            )
        return finish(select, origin)

    def _rows(self, select: exp.Select, origin: Source) -> Source:
        """Return the rows of a SELECT without aggregates."""
        for clause in ("order", "limit"):
            if part(select, clause) is not None:
                word = {"order": "ORDER BY", "limit": "LIMIT"}[clause]
                if has_aggregate(part(select, clause)):  # type: ignore[arg-type]
                    raise UnsupportedSQL(ROWS)
                raise UnsupportedSQL(
                    f"{ROWS} {word} is understood on answers alone: a SELECT of rows has neither order nor number."
                )
        return project(origin, select)


def _renamed(origin: Source | Released, alias: str) -> Source | Released:
    """Return rows or a released table under the name they have in FROM."""
    if isinstance(origin, Released):
        return Released(origin.aggregation, origin.finish, origin.columns, alias)
    return Source(origin.rows, origin.scope.under(alias))
