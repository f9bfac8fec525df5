"""UNION and UNION ALL of answers: several releases in one statement, put together after the noise."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Type
from discreet.query.plan import PostProcessing, QueryPlan, UnionOfAnswers
from discreet.query.reading.answers.select_around import Released, numbered, orders
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import claim, fold, only, part, shown


def selects_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the SELECTs that UNION joins, from the left to the right; all by UNION ALL, or all by UNION."""
    found: list[exp.Expr] = []
    kinds: set[bool] = set()
    first = node
    while isinstance(node, exp.Union):
        outermost = ("with", "order", "limit", "offset") if node is first else ()
        only(node, "this", "expression", "distinct", *outermost)
        kinds.add(bool(node.args.get("distinct")))
        found.append(node.args["expression"])
        node = node.this
    if len(kinds) > 1:
        raise UnsupportedSQL("UNION and UNION ALL are not mixed in one statement. Write UNION ALL everywhere.")
    return [node, *found[::-1]]


def together(node: exp.Union, parts: Sequence[Released]) -> UnionOfAnswers:
    """Return several released tables as one, under the names of the first."""
    first, taken = parts[0].columns, set[str]()
    for other in parts[1:]:
        if len(other.columns) != len(first):
            raise UnsupportedSQL(
                f"The SELECTs of UNION have {len(first)} and {len(other.columns)} columns. Give all the same."
            )
    columns: list[Column] = []
    for place, one in enumerate(first):
        claim(one.name, taken)
        columns.append(Column(_type([each.columns[place].type for each in parts], one.name), None, one.name))
    named = tuple((one.name, one) for one in columns)

    def resolve(column: exp.Column) -> Expression:
        return Released(parts[0].aggregation, (), tuple(columns)).resolve(column)

    clauses = {name: part(node, name) for name in ("order", "limit", "offset")}
    order = orders(clauses["order"], named, Reader(resolve))
    step = numbered({**clauses, "distinct": None}, PostProcessing(named, None, order, None))
    if node.args.get("distinct"):
        step = PostProcessing(named, None, order, step.limit, distinct=True, offset=step.offset)
    plans = tuple([QueryPlan(one.aggregation, one.finish, one.totals) for one in parts])
    return UnionOfAnswers(plans, step)


def _type(kinds: Sequence[Type], name: str) -> Type:
    """Return the type of a column of all parts: one type, or numbers together."""
    found = set(kinds)
    if len(found) == 1:
        return kinds[0]
    if all(kind.numeric for kind in found):
        return Type.REAL
    one, two = sorted(kind.value for kind in found)[:2]
    raise UnsupportedSQL(f"The column {shown(fold(name))!r} of UNION is {one} here and {two} there. CAST one of them.")
