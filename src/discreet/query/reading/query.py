"""SQL to a typed plan: one aggregation over private rows, and steps on its released answer.

A SELECT is read from the inside out. Without aggregates it gives rows, with aggregates the one aggregation; whatever
stands around an aggregation works on the released table and becomes a `Finish`. A SELECT in brackets that groups by the
unit of protection gives rows too, one for each person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from sqlglot import exp

from discreet.errors import ParameterError, PolicyError, QueryRefused, UnknownName, UnsupportedSQL
from discreet.query.expression import Type, Value
from discreet.query.plan import QueryPlan, UnionOfAnswers
from discreet.query.policy import LARGEST_DOMAIN, Policy
from discreet.query.reading.answers import Released, added_up, around, selects_of, together
from discreet.query.reading.grouping import aggregate
from discreet.query.reading.key_domains import Evaluate, PublicRows
from discreet.query.reading.keys import KeyValues
from discreet.query.reading.parse import (
    clauses,
    conjuncts,
    fold,
    has_aggregate,
    look_up,
    only,
    parse,
    parse_answers,
    part,
    shown,
    table_alias,
    table_name,
)
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.rows import ReadableRows, project, read_table
from discreet.query.reading.sources import ANSWERS, Context, Known, cohorts, groups_units, per_unit, rows_of, union_all
from discreet.statistics.columns import stated_bounds

_Given = TypeVar("_Given")


def read_query(
    sql: str,
    policy: Policy,
    *,
    bounds: Mapping[str, tuple[object, object]] | None = None,
    keys: Mapping[str, Sequence[Value]] | None = None,
    evaluate: Evaluate | None = None,
    public_rows: PublicRows | None = None,
    sums: Mapping[str, tuple[object, object]] | None = None,
) -> QueryPlan:
    """Return what a query means, or refuse it; no data is read.

    `bounds` gives ranges by the name of a column or of an aggregate in the answer, `keys` the values of a key by the
    name of a column or of the key in the answer. `evaluate` computes an expression for given values of its columns;
    with it, keys that are expressions of columns with declared values are public too. `public_rows` tells columns of a
    public table, each row once, for keys whose values nobody declared. `sums` gives ranges of what one unit adds to a
    group, by the name of a SUM or COUNT in the answer, or by the aggregate as it is written.

    The plan is a function of the text, the policy, the arguments and public tables: nothing private is looked at.
    """
    found = read_answers(
        sql,
        policy,
        bounds=bounds,
        keys=keys,
        evaluate=evaluate,
        public_rows=public_rows,
        sums=sums,
    )
    if isinstance(found, UnionOfAnswers):
        raise UnsupportedSQL(f"{reason('Union', '')} Nothing was spent.") from None
    return found


def read_answers(
    sql: str,
    policy: Policy,
    *,
    bounds: Mapping[str, tuple[object, object]] | None = None,
    keys: Mapping[str, Sequence[Value]] | None = None,
    evaluate: Evaluate | None = None,
    public_rows: PublicRows | None = None,
    sums: Mapping[str, tuple[object, object]] | None = None,
) -> QueryPlan | UnionOfAnswers:
    """Return what a query means, or several with UNION between them; the arguments are those of `read_query`."""
    try:
        ranges = _ranges(bounds, "bounds", '{"cost": (0, 500)}')
        listed = _by_name(keys, "keys", 'lists of values: keys={"region": [...]}')
        totals = _ranges(sums, "sums", '{"revenue": (0, 50_000)}')
        reading = _Reading(policy, ranges, KeyValues(listed, evaluate, public_rows), totals)
        tree = parse_answers(sql)
        parts = reading.answers(tree)
        reading.check_used(parts)
        made = together(tree, parts) if isinstance(tree, exp.Union) else None
    except RecursionError:
        raise UnsupportedSQL(
            "The query is nested too deeply. Split it into several queries. Nothing was spent."
        ) from None
    except QueryRefused as refusal:
        raise type(refusal)(_sentence(str(refusal))) from None
    except ParameterError as problem:
        problem.args = (_sentence(str(problem)),)
        raise problem from None
    return made or QueryPlan(parts[0].aggregation, parts[0].finish, parts[0].totals)


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


def _ranges(
    given: Mapping[str, tuple[object, object]] | None, parameter: str, written: str
) -> dict[str, tuple[Fraction, Fraction]]:
    """Return ranges by name, stated exactly."""
    found = {}
    for name, pair in _by_name(given, parameter, f"ranges: {parameter}={written}").items():
        try:
            found[name] = stated_bounds(pair)
        except ParameterError:
            words = "must be a pair of finite numbers, the lower one first"
            raise ParameterError(
                f"{parameter}= for {shown(name)!r} {words}: {parameter}={written}", parameter=parameter
            ) from None
    return found


@dataclass(slots=True)
class _Reading(Context):
    """Reads one query: every SELECT gives rows, or the one released table."""

    def select(self, select: exp.Select, known: Known, *, inner: bool = False) -> ReadableRows | Released:
        """Return what a SELECT gives: rows, or a released table; `inner` where it stands in brackets."""
        read = clauses(select, answers=True)
        known, defined = self._common_tables(read["with"], known)
        clause = read["where"]
        origin, conditions = rows_of(select, read["from"], _conditions(clause), known, self)
        self._check_read(defined)
        grouped = read["group"] is not None or read["having"] is not None
        grouped = grouped or any(has_aggregate(one) for one in select.expressions)
        if isinstance(origin, Released):
            if select.args.get("joins"):
                raise UnsupportedSQL(ANSWERS)
            return added_up(select, read, origin) if grouped else around(select, read, origin)
        origin = cohorts(origin, conditions, known, self)
        if inner and groups_units(origin, select, read):
            clauses(select)
            return per_unit(origin, select, read, self)
        if grouped:
            given = self.bounds, self.keys, self.used
            return aggregate(origin, select, read, self.policy.unit, *given, sums=self.sums)
        return _plain(select, read, origin)

    def answers(self, tree: exp.Select | exp.Union) -> list[Released]:
        """Return the answers of a statement: one, or several with UNION between them."""
        known: Known = {}
        names: list[str] = []
        selects: list[exp.Expr] = [tree]
        if isinstance(tree, exp.Union):
            known, names = self._common_tables(part(tree, "with"), {})
            selects = selects_of(tree)
        found = []
        for one in selects:
            made = self.select(one, known) if isinstance(one, exp.Select) else self.inner(one, known)
            if isinstance(made, ReadableRows):
                raise UnsupportedSQL(ROWS)
            found.append(made)
        self._check_read(names)
        return found

    def _check_read(self, names: Sequence[str]) -> None:
        """Refuse tables of WITH that nothing reads."""
        unread = [name for name in names if fold(name) not in self.read]
        if unread:
            raise UnsupportedSQL(f"WITH {shown(unread[0])} is never read. Leave it out, or read it in FROM.")

    def check_used(self, parts: Sequence[Released]) -> None:
        """Refuse bounds and keys for names that the query does not have, and more tables or groups than are read."""
        for one in parts:
            self.check_number(one.aggregation.source)
        for name in self.bounds:
            if fold(name) not in self.used | {fold(one) for one in self.columns}:
                raise UnknownName(f"bounds= names {shown(name)!r}, which is not a column or aggregate of the query.")
        for name in self.sums:
            if f"sums {name}" not in self.used:
                raise UnknownName(f"sums= names {shown(name)!r}, which is no SUM or COUNT of the answer.")
        for name in self.keys.given:
            if f"key {fold(name)}" not in self.used:
                raise UnknownName(f"keys= names {shown(name)!r}, which is not a key of the query. Add it to GROUP BY.")
        sizes = [[len(key.domain) for key in one.aggregation.keys if key.domain is not None] for one in parts]
        groups = max(map(math.prod, sizes))
        if groups > LARGEST_DOMAIN:
            raise UnsupportedSQL(
                f"The public keys have {min(groups, 10**12)} combinations, and at most {LARGEST_DOMAIN} groups are "
                "answered. Group by fewer columns, or give fewer values: keys={...}."
            )

    def _common_tables(self, clause: exp.Expr | None, known: Known) -> tuple[Known, list[str]]:
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
            found[fold(name)] = self.inner(node.this, found)
            self.read.discard(fold(name))
            names.append(name)
        return found, names

    def inner(self, node: exp.Expr, known: Known) -> ReadableRows | Released:
        """Return what a SELECT in brackets gives."""
        while isinstance(node, exp.Subquery):
            only(node, "this")
            node = node.this
        if isinstance(node, exp.Union):
            return union_all(node, known, self)
        if not isinstance(node, exp.Select):
            name = type(node).__name__
            raise UnsupportedSQL(reason(name, f"{shown(node)!r} cannot stand here. Write a SELECT in brackets."))
        return self.select(node, known, inner=True)

    def item(self, node: exp.Expr, known: Known) -> ReadableRows | Released:
        """Return what stands in FROM."""
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            return _renamed(self.inner(node.this, known), table_alias(node))
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            inner = node.this if isinstance(node, exp.Table) else node
            words = "Functions that make or read tables are not understood. Name a table of the policy in FROM."
            raise UnsupportedSQL(reason(type(inner).__name__, words))
        only(node, "this", "alias", "db")
        name, alias = table_name(node), table_alias(node) or node.name
        if node.db and all(look_up(name, named) is None for named in (self.policy.tables, self.policy.public)):
            raise UnsupportedSQL(
                f"Names with a schema stand for tables that the policy declares with it, and {shown(name)!r} is none: "
                f'write the bare name of a table; the curator would declare [tables."{shown(name)}"].'
            )
        if fold(name) in known:
            self.read.add(fold(name))
            return _renamed(known[fold(name)], alias)
        view = look_up(name, self.policy.views)
        if view is not None:
            found = self._view(name, view)
            source = ReadableRows(found.rows, found.scope.under(alias))
        else:
            source = read_table(name, alias, self.policy, self.bounds)
        self.columns += [one.name for one in source.scope.visible]
        return source

    def _view(self, name: str, sql: str) -> ReadableRows:
        """Return the rows of a view of the policy, which reads tables alone."""
        if self.within:
            raise UnsupportedSQL(
                f"{shown(name)!r} is a view, and so is {self.within!r}, which reads it. Views read tables alone: write "
                "its SELECT in brackets."
            )
        self.within = name
        found = self.select(parse(sql), {}, inner=True)
        self.within = ""
        if isinstance(found, Released):
            raise UnsupportedSQL(
                f"The view {shown(name)!r} adds up people, and a view gives rows, each of one {self.policy.unit}. "
                f"Leave the aggregates out, or group by the {self.policy.unit}."
            )
        return found


def views_of(policy: Policy) -> dict[str, dict[str, Type]]:
    """Return the columns of the views of a policy with their types.

    Raises:
        PolicyError: where a view cannot be read, with its line.
    """
    found: dict[str, dict[str, Type]] = {}
    problems: list[tuple[int | None, str]] = []
    for name in policy.views:
        reading = _Reading(policy, {}, KeyValues({}, None, None), {})
        try:
            rows = reading.item(exp.Table(this=exp.to_identifier(name, quoted=True)), {})
        except (QueryRefused, RecursionError) as refusal:
            words = "is nested too deeply." if isinstance(refusal, RecursionError) else _sentence(str(refusal))
            line = policy.lines.get(("views", name), policy.lines.get(("views",)))
            problems.append((line, f"[views] {name}: {words.removesuffix(' Nothing was spent.')}"))
            continue
        visible = rows.scope.visible if isinstance(rows, ReadableRows) else ()
        found[name] = {one.name: one.column.type for one in visible}
    if problems:
        raise PolicyError(problems, file=policy.file) from None
    return found


def _conditions(clause: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions of WHERE that AND joins."""
    if clause is None:
        return []
    only(clause, "this")
    return conjuncts(clause.this)


def _plain(select: exp.Select, read: Mapping[str, exp.Expr | None], origin: ReadableRows) -> ReadableRows:
    """Return the rows of a SELECT without aggregates."""
    clauses(select)
    for name, word in (("order", "ORDER BY"), ("limit", "LIMIT")):
        node = read[name]
        if node is not None:
            words = f"{ROWS} {word} is understood on answers alone: a SELECT of rows has neither order nor number."
            raise UnsupportedSQL(ROWS if has_aggregate(node) else words)
    return project(origin, select)


def _renamed(origin: ReadableRows | Released, alias: str) -> ReadableRows | Released:
    """Return rows or a released table under the name they have in FROM."""
    if isinstance(origin, Released):
        return replace(origin, alias=alias)
    return ReadableRows(origin.rows, origin.scope.under(alias))
