"""Joins of rows with a public table, on a key that is declared unique: one row stays one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Interval, Operation
from discreet.query.expression.typing_rules import apply
from discreet.query.plan import JoinKind, PublicJoin
from discreet.query.policy import PublicTable
from discreet.query.reading.parse import bare, conjuncts, fold, only, shown, table_alias
from discreet.query.reading.rows import ReadableRows, Scope, Visible, of_table

_Pair = tuple[Expression, Visible]


@dataclass(frozen=True, slots=True)
class PublicSide:
    """A public table beside rows, under the names that its columns have there."""

    table: PublicTable
    scope: Scope

    @classmethod
    def beside(
        cls, source: ReadableRows, table: PublicTable, node: exp.Table, bounds: Mapping[str, Interval]
    ) -> PublicSide:
        """Name the columns of a public table that is written in FROM or JOIN."""
        only(node, "this", "alias", "db")
        alias = table_alias(node) or node.name
        if any(fold(one.table) == fold(alias) for one in source.scope.visible):
            raise UnsupportedSQL(
                f"Two tables are called {shown(alias)!r}. Write AS and another name behind one of them."
            )
        prefix, section = source.scope.unused_prefix(table.name), f"[public.{table.name}.columns]"
        added = [
            replace(of_table(one, f"{prefix}.{name}", alias, section, bounds), public=table.name)
            for name, one in table.columns.items()
        ]
        return cls(table, Scope(tuple(added), {}))

    def unique(self, pairs: Sequence[_Pair]) -> bool:
        """Whether a row has at most one match."""
        return any(unique <= {one.name for _, one in pairs} for unique in self.table.unique)

    def joined(
        self, source: ReadableRows, pairs: Sequence[_Pair], kind: JoinKind, merged: Sequence[str] = ()
    ) -> ReadableRows:
        """Return the rows with the columns of their one match."""
        for left, one in pairs:
            if left.type is not one.column.type:
                words = f"{left.type.value} and {one.column.type.value}"
                raise UnsupportedSQL(
                    f"The join compares {words} in {one.name!r}. CAST the private side to the public type."
                )
        keys = sorted({one.name for _, one in pairs})
        if not self.unique(pairs):
            raise UnsupportedSQL(
                f"Rows of {self.table.name!r} may match more than once, since {', '.join(keys)} is not declared "
                f'unique. Join on a unique key, or declare it: unique = ["{keys[0]}"] under [public.{self.table.name}].'
            )
        rows = PublicJoin(
            source.rows,
            self.table.name,
            tuple((left, one.name) for left, one in pairs),
            tuple((one.column.name, one.name, one.column.type) for one in self.scope.visible),
            kind,
        )
        units = _from_unit(self.table, [(source.scope.from_unit(left), one.name) for left, one in pairs])
        visible = [
            replace(one, qualified_only=one.name in merged, from_unit=one.name in units) for one in self.scope.visible
        ]
        base = {**source.scope.base, **{one.column.name: one for one in self.scope.visible}}
        equal = [(source.scope.definition(left)[0], one.column) for left, one in pairs if kind is JoinKind.INNER]
        met = [apply(Operation.EQUAL, left, right) for left, right in equal if left is not None]
        true = (*source.scope.true, *met)
        return ReadableRows(rows, Scope((*source.scope.visible, *visible), base, true))


def public_join(source: ReadableRows, side: PublicSide, node: exp.Join, kind: JoinKind) -> ReadableRows:
    """Return the rows joined with a public table by USING, or by the equalities of ON."""
    if node.args.get("using"):
        names = [one.name for one in node.args["using"]]
        pairs = [(source.scope.find(name, None).column, side.scope.find(name, None)) for name in names]
        return side.joined(source, pairs, kind, [one.name for _, one in pairs])
    return side.joined(source, [_pair(one, source, side.scope) for one in _equalities(node)], kind)


def _from_unit(table: PublicTable, pairs: Sequence[tuple[bool, str]]) -> set[str]:
    """Return the columns of a public table that tell units apart: equal to something of the unit, or unique beside it.

    A column that the join equates with the unit is the unit, and one that is declared unique is another name of it.
    The other columns are what the table says about a unit, as a column of the private table is.
    """
    equal = {name for of_unit, name in pairs if of_unit}
    others = {name for unique in table.unique if len(unique) == 1 for name in unique} if equal else set()
    return equal | others


def _equalities(join: exp.Join) -> list[exp.Expr]:
    """Return the equalities of ON."""
    found = conjuncts(join.args.get("on"))
    if not all(isinstance(one, exp.EQ) for one in found):
        raise UnsupportedSQL(
            f"A join needs equalities alone: ON table.column = public_table.key, joined by AND; {shown(join)!r} has "
            "something else. Put other conditions into WHERE."
        )
    return found


def _pair(node: exp.Expr, source: ReadableRows, right: Scope) -> _Pair:
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


def pair_of_columns(node: exp.Expr, source: Scope, right: Scope) -> _Pair | None:
    """Return the two columns of an equality between the rows and a public table; None for other conditions."""
    if not isinstance(node, exp.EQ):
        return None
    sides = bare(node.this), bare(node.args["expression"])
    for mine, other in (sides, sides[::-1]):
        if not isinstance(mine, exp.Column) or not isinstance(other, exp.Column):
            continue
        one, two = (scope.matches(part.name, part.table or None) for scope, part in ((source, mine), (right, other)))
        crossed = source.matches(other.name, other.table or None) or right.matches(mine.name, mine.table or None)
        if len(one) == len(two) == 1 and not crossed and one[0].column.type is two[0].column.type:
            return one[0].column, two[0]
    return None
