"""Cohorts: WHERE patient IN (SELECT ...), EXISTS, and their negations keep rows by other rows of their own unit.

NULL makes no trouble. A unit is never NULL: rows whose unit is NULL belong to nobody and were left out, so that NOT IN
keeps whoever is not listed. Columns that may be NULL (those of a LEFT JOIN, keys of links) are compared by EXISTS, for
which NULL is no match.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression
from discreet.query.plan import MatchKind
from discreet.query.reading.answers import Released
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import bare, clauses, conjuncts, has_aggregate, only, part, shown
from discreet.query.reading.refusals import reason
from discreet.query.reading.rows import UNIT, ReadableRows, Visible, kept
from discreet.query.reading.sources.context import Context, Known
from discreet.query.reading.sources.from_list import rows_of
from discreet.query.reading.sources.private_join import OtherSide, all_of, along, anchored


def cohorts(source: ReadableRows, conditions: Sequence[exp.Expr], known: Known, context: Context) -> ReadableRows:
    """Return the rows for which all conditions are true, those among them that look at other rows of the unit too."""
    asked = [(one, _matching(one)) for one in conditions]
    rows = kept(source, [one for one, found in asked if found is None])
    for found in (found for _, found in asked if found is not None):
        node, negated = found
        rows = (_listed if isinstance(node, exp.In) else _existing)(rows, node, negated, known, context)
    return rows


def _matching(node: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """Return IN (SELECT ...) or EXISTS, and whether it is negated; None for a condition on the row alone."""
    negated = False
    node = bare(node)
    while isinstance(node, exp.Not):
        only(node, "this")
        negated, node = not negated, bare(node.this)
    there = isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None)
    return (node, negated) if there else None


def _listed(source: ReadableRows, node: exp.Expr, negated: bool, known: Known, context: Context) -> ReadableRows:
    """Return the rows whose unit, or whose key of a link, is in the one column of a SELECT."""
    only(node, "this", "query")
    _check_from(node.args["query"], "In.query")
    left = bare(node.this)
    mine = source.find(left) if isinstance(left, exp.Column) else None
    inner = _answerless(context.inner(node.args["query"], known))
    if len(inner.scope.visible) != 1:
        raise UnsupportedSQL(f"{shown(node)!r} needs one column in its SELECT, and has {len(inner.scope.visible)}.")
    theirs = inner.scope.visible[0]
    if mine is None or not mine.anchor or mine.anchor != theirs.anchor:
        raise _of_others(node, context, source)
    context.check_one_unit(source, inner)
    if mine.anchor != UNIT and negated:
        raise UnsupportedSQL(
            f"NOT IN keeps no row at all where the list has a NULL, as {shown(theirs.name)!r} may. "
            "Write NOT EXISTS (SELECT ... WHERE ... = ...)."
        )
    side = OtherSide.beside(source, inner)
    _, condition = along(mine, side.scope.visible[0])
    return side.matched(source, condition, MatchKind.ANTI if negated else MatchKind.SEMI)


def _existing(source: ReadableRows, node: exp.Expr, negated: bool, known: Known, context: Context) -> ReadableRows:
    """Return the rows for which the SELECT of EXISTS has a row of the same unit."""
    only(node, "this")
    select = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    if not isinstance(select, exp.Select):
        raise UnsupportedSQL(reason(type(select).__name__, f"{shown(node)!r} needs a SELECT in brackets."))
    _check_from(select, "Exists")
    read = clauses(select)
    if read["group"] is not None or read["having"] is not None or any(has_aggregate(one) for one in select.expressions):
        raise UnsupportedSQL(
            "EXISTS looks for rows, and its SELECT adds rows up. Write IN (SELECT ... GROUP BY ... HAVING ...)."
        )
    for name in ("with", "order", "limit"):
        if read[name] is not None:
            raise UnsupportedSQL(f"{name.upper()} is not understood in EXISTS. Leave it out.")
    clause = read["where"]
    asked = [] if clause is None else conjuncts(clause.this)
    found, asked = rows_of(select, read["from"], asked, known, context)
    inner = _answerless(found)
    both = [one for one in asked if _matching(one) is None and not _inside(one, inner)]
    inner = cohorts(inner, [one for one in asked if one not in both], known, context)
    context.check_one_unit(source, inner)
    side = OtherSide.beside(source, inner)
    pairs = [(one, anchored(one, source.scope, side.scope) or _shadowed(one, source, side)) for one in both]
    led = [along(*pair) for _, pair in pairs if pair is not None]
    reader = Reader(lambda column: _nearest(column, source, side), source.reader().special)
    parts = [one for _, one in led if one is not None]
    parts += [reader.condition(one) for one, pair in pairs if pair is None]
    if not any(one for one, _ in led):
        raise _of_others(node, context, source)
    return side.matched(source, all_of(parts, reader), MatchKind.ANTI if negated else MatchKind.SEMI)


def _check_from(node: exp.Expr, kind: str) -> None:
    """Refuse a SELECT that reads nothing, which can say nothing of a person."""
    while isinstance(node, exp.Subquery):
        node = node.this
    if isinstance(node, exp.Select) and part(node, "from") is None:
        raise UnsupportedSQL(reason(kind, ""))


def _answerless(found: ReadableRows | Released) -> ReadableRows:
    """Return rows; an answer of private rows cannot choose among rows."""
    if isinstance(found, Released):
        raise UnsupportedSQL("Answers do not choose rows: ask first, and write the values of the answer into WHERE.")
    return found


def _inside(node: exp.Expr, inner: ReadableRows) -> bool:
    """Whether a condition reads the rows of the inner SELECT alone."""
    return all(inner.scope.matches(one.name, one.table or None) for one in node.find_all(exp.Column))


def _shadowed(node: exp.Expr, source: ReadableRows, side: OtherSide) -> tuple[Visible, Visible] | None:
    """Return the two columns of an equality along the unit where a bare name is that of the inner SELECT."""
    if not isinstance(node, exp.EQ):
        return None
    sides = bare(node.this), bare(node.args["expression"])
    for outer, inner in (sides, sides[::-1]):
        if not isinstance(outer, exp.Column) or not isinstance(inner, exp.Column):
            continue
        one = (
            []
            if side.scope.matches(outer.name, outer.table or None)
            else source.scope.matches(outer.name, outer.table or None)
        )
        two = side.scope.matches(inner.name, inner.table or None)
        if len(one) == len(two) == 1 and one[0].anchor and one[0].anchor == two[0].anchor:
            return one[0], two[0]
    return None


def _nearest(node: exp.Column, source: ReadableRows, side: OtherSide) -> Expression:
    """Return what a name stands for: a column of the inner SELECT, or else one of the rows outside."""
    only(node, "this", "table")
    if not isinstance(node.this, exp.Identifier):
        raise UnsupportedSQL(reason("Star", ""))
    if side.scope.matches(node.name, node.table or None):
        return side.scope.find(node.name, node.table or None).column
    return source.find(node).column


def _of_others(node: exp.Expr, context: Context, source: ReadableRows) -> UnsupportedSQL:
    """Return the refusal of a condition that compares rows of different people."""
    unit = context.policy.unit
    named = next((one.name for one in source.scope.visible if one.unit), unit)
    listed = f"{named} IN (a SELECT of {named})"
    there = f"EXISTS with {named} = ... in its WHERE"
    remedy = f"Write {listed if isinstance(node, exp.In) else there}"
    return UnsupportedSQL(
        f"{shown(node)!r} would compare rows of different people: rows are chosen by other rows of their own {unit} "
        f"alone. {remedy}, or the values themselves."
    )
