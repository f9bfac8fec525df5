"""Joins of rows of people with each other: along the unit of protection and along declared links, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Operation, typing_rules
from discreet.query.plan import JoinKind, MatchKind, PrivateJoin
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import bare, fold, shown
from discreet.query.reading.rows import UNIT, ReadableRows, Scope, Visible, kept, substitute
from discreet.query.reading.sources.context import Context


@dataclass(frozen=True, slots=True)
class OtherSide:
    """Other rows of the same units, with the names that their columns have beside those of the first rows."""

    rows: ReadableRows
    scope: Scope
    names: tuple[tuple[str, Visible], ...]  # the new name, and the column as it is among the other rows

    @classmethod
    def beside(cls, first: ReadableRows, rows: ReadableRows) -> OtherSide:
        """Give the columns of other rows names that none of the first ones has."""
        called = next((one.table for one in rows.scope.visible if one.table), "joined")
        prefix = first.scope.unused_prefix(called)
        base = {
            name: Column(one.column.type, one.column.interval, f"{prefix}.{name}")
            for name, one in rows.scope.base.items()
        }
        visible, names = [], []
        for one in rows.scope.visible:
            made = replace(one.column, name=f"{prefix}.{one.column.name}")
            definition = None if one.definition is None else substitute(one.definition, base)
            visible.append(replace(one, column=made, definition=definition))
            names.append((made.name, one))
        renamed = {base[name].name: replace(one, column=base[name]) for name, one in rows.scope.base.items()}
        true = tuple(substitute(one, base) for one in rows.scope.true)
        return cls(rows, Scope(tuple(visible), renamed, true), tuple(names))

    def matched(self, first: ReadableRows, condition: Expression | None, kind: MatchKind) -> ReadableRows:
        """Return the first rows matched with the others."""
        columns = tuple((name, one.column.name, one.column.type) for name, one in self.names)
        rows = PrivateJoin(first.rows, self.rows.rows, columns, condition, kind)
        if kind in (MatchKind.SEMI, MatchKind.ANTI):
            return ReadableRows(rows, first.scope)
        true = first.scope.true + (self.scope.true if kind is MatchKind.INNER else ())
        scope = Scope((*first.scope.visible, *self.scope.visible), {**first.scope.base, **self.scope.base}, true)
        return ReadableRows(rows, scope)

    def optional(self) -> OtherSide:
        """Return the same side where it may be missing: a column that is NULL there names no unit."""
        visible = tuple(replace(one, unit=False, anchor=()) for one in self.scope.visible)
        return replace(self, scope=replace(self.scope, visible=visible, true=()))

    def merged(self, names: Sequence[str]) -> OtherSide:
        """Return the same side with columns of USING, which are read by the name of the table alone."""
        folded = {fold(name) for name in names}
        visible = [
            replace(one, qualified_only=one.qualified_only or fold(one.name) in folded) for one in self.scope.visible
        ]
        return replace(self, scope=replace(self.scope, visible=tuple(visible)))


def private_join(
    first: ReadableRows,
    other: ReadableRows,
    node: exp.Join,
    kind: JoinKind,
    conditions: Sequence[exp.Expr],
    context: Context,
) -> ReadableRows:
    """Return rows joined with other rows of their units, by USING or by conditions, one of them along the unit.

    An equality of two columns that name the unit is what the engine writes itself, and goes. In a LEFT JOIN a
    condition on the other rows alone chooses among them first.
    """
    context.check_one_unit(first, other)
    check_name(first, other)
    using = [one.name for one in node.args.get("using") or []]
    if kind is JoinKind.LEFT and not using:
        own = [one for one in conditions if of_one_side(one, other.scope, first.scope)]
        other, conditions = kept(other, own), [one for one in conditions if one not in own]
    side = OtherSide.beside(first, other)
    found = [along(first.scope.find(name, None), side.scope.find(name, None)) for name in using]
    rest: list[exp.Expr] = []
    for one in conditions:
        pair = anchored(one, first.scope, side.scope)
        found, rest = ([*found, along(*pair)], rest) if pair else (found, [*rest, one])
    reader = ReadableRows(first.rows, Scope((*first.scope.visible, *side.scope.visible), {})).reader()
    parts = [one for _, one in found if one is not None] + [reader.condition(one) for one in rest]
    if not any(led for led, _ in found):
        raise refused(first, other, context, shown(node))
    named = side.merged(using)
    if kind is JoinKind.LEFT:
        named = named.optional()
    return named.matched(first, all_of(parts, reader), MatchKind[kind.name])


def along(one: Visible, other: Visible) -> tuple[bool, Expression | None]:
    """Return whether an equality of two columns is along the unit or a link, and what is left to compare."""
    led = bool(one.anchor) and one.anchor == other.anchor
    if led and one.anchor == UNIT:
        return True, None
    if one.column.type is not other.column.type:
        words = f"{one.column.type.value} and {other.column.type.value}"
        raise UnsupportedSQL(f"The join compares {words} in {other.name!r}. CAST one of them in a subquery.")
    return led, typing_rules.apply(Operation.EQUAL, one.column, other.column)


def anchored(node: exp.Expr, first: Scope, other: Scope) -> tuple[Visible, Visible] | None:
    """Return the two columns of an equality along the unit or a link, one of each side; None for other conditions."""
    if not isinstance(node, exp.EQ):
        return None
    sides = bare(node.this), bare(node.args["expression"])
    for mine, theirs in (sides, sides[::-1]):
        if isinstance(mine, exp.Column) and isinstance(theirs, exp.Column):
            one, two = _one_of(mine, first, other), _one_of(theirs, other, first)
            if one is not None and two is not None and one.anchor and one.anchor == two.anchor:
                return one, two
    return None


def _one_of(node: exp.Column, scope: Scope, other: Scope) -> Visible | None:
    """Return the column that a name stands for in a scope and not in the other, if it is one."""
    if not isinstance(node.this, exp.Identifier) or other.matches(node.name, node.table or None):
        return None
    found = scope.matches(node.name, node.table or None)
    return found[0] if len(found) == 1 else None


def of_one_side(node: exp.Expr, scope: Scope, other: Scope) -> bool:
    """Whether a condition reads columns of one side alone."""
    columns = list(node.find_all(exp.Column))
    return bool(columns) and all(_one_of(one, scope, other) is not None for one in columns)


def all_of(parts: Sequence[Expression], reader: Reader) -> Expression | None:
    """Return the conditions joined by AND."""
    if not parts:
        return None
    whole = parts[0]
    for one in parts[1:]:
        whole = reader.apply(Operation.AND, whole, one)
    return whole


def check_name(first: ReadableRows, other: ReadableRows) -> None:
    """Refuse two tables of one name."""
    taken = {fold(one.table) for one in first.scope.visible if one.table}
    for one in other.scope.visible:
        if one.table and fold(one.table) in taken:
            raise UnsupportedSQL(
                f"Two tables are called {shown(one.table)!r}. Write AS and another name behind one of them."
            )


def refused(first: ReadableRows, other: ReadableRows, context: Context, text: str) -> UnsupportedSQL:
    """Return the refusal of a join of different people's rows, with an equality that would do."""
    unit = context.policy.unit
    pairs = [(a, b) for a in first.scope.visible for b in other.scope.visible if a.anchor and a.anchor == b.anchor]
    words = f"{text!r} would join rows of different people, of which one could change any number: only rows of one"
    if not pairs:
        return UnsupportedSQL(
            f"{words} {unit} are joined, and here no columns tell whose rows they are. Select the column of the "
            f"{unit} on both sides, and join on it."
        )
    (a, b), *_ = sorted(pairs, key=lambda pair: pair[0].anchor != UNIT)
    written = " = ".join(f"{one.table}.{one.name}" if one.table else one.name for one in (a, b))
    return UnsupportedSQL(f"{words} {unit} are joined. Write JOIN ... ON {written}, and other conditions beside it.")
