"""Windows over an answer: SUM(n) OVER (...), RANK, LAG and the others, read for rows that were released."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Literal, Type, Value
from discreet.query.plan import AnswerWindow, Order, WindowKind
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import bare, fold, only, shown
from discreet.query.reading.refusals import reason

MOST_WINDOWS = 100
LONGEST_FRAME = 10_000
_KINDS: dict[type[exp.Expr], WindowKind] = {
    exp.Sum: WindowKind.SUM,
    exp.Avg: WindowKind.MEAN,
    exp.Min: WindowKind.MIN,
    exp.Max: WindowKind.MAX,
    exp.FirstValue: WindowKind.FIRST,
    exp.LastValue: WindowKind.LAST,
    exp.NthValue: WindowKind.NTH,
    exp.Lag: WindowKind.LAG,
    exp.Lead: WindowKind.LEAD,
    exp.Ntile: WindowKind.NTILE,
    exp.RowNumber: WindowKind.ROW_NUMBER,
    exp.Rank: WindowKind.RANK,
    exp.DenseRank: WindowKind.DENSE_RANK,
    exp.PercentRank: WindowKind.PERCENT_RANK,
    exp.CumeDist: WindowKind.CUME_DIST,
}
_POSITIONS = {WindowKind.ROW_NUMBER, WindowKind.RANK, WindowKind.DENSE_RANK, WindowKind.PERCENT_RANK}
_POSITIONS |= {WindowKind.CUME_DIST}
_ADDED = (WindowKind.SUM, WindowKind.MEAN)
_OF_MANY = (*_ADDED, WindowKind.MIN, WindowKind.MAX, WindowKind.COUNT)
_FRAMED = (*_OF_MANY, WindowKind.FIRST, WindowKind.LAST, WindowKind.NTH)


@dataclass(slots=True)
class Windows:
    """Collects the windows of one SELECT; a window that is written twice is computed once."""

    select: exp.Select
    found: list[tuple[str, AnswerWindow]] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)  # names of WINDOW
    _inside: bool = False

    def read(self) -> tuple[tuple[str, AnswerWindow], ...]:
        """Return all windows by the names of their columns; refuse a WINDOW that none of them names."""
        for one in self.select.args.get("windows") or ():
            if fold(one.name) not in self._used:
                raise UnsupportedSQL(f"WINDOW {shown(one.name)!r} is never used. Leave it out, or name it behind OVER.")
        return tuple(self.found)

    def ask(self, node: exp.Window, reader: Reader) -> Column:
        """Return the column that holds a window."""
        if self._inside:
            raise UnsupportedSQL(f"{shown(node)!r} stands inside another window. Compute it in a SELECT in brackets.")
        self._inside = True
        try:
            window = self._read(node, reader)
        finally:
            self._inside = False
        return self.add(window)

    def add(self, window: AnswerWindow) -> Column:
        """Return the column of a window, known or new."""
        name = next((name for name, one in self.found if one == window), None)
        if name is None:
            if len(self.found) >= MOST_WINDOWS:
                raise UnsupportedSQL(f"A SELECT has at most {MOST_WINDOWS} windows. Ask in several queries.")
            name = f"#w{len(self.found) + 1}"
            self.found.append((name, window))
        return Column(window.type, None, name)

    def _read(self, node: exp.Window, reader: Reader) -> AnswerWindow:
        only(node, "this", "partition_by", "order", "spec", "over", "alias")
        over = self._named(node)
        function, condition = node.this, None
        if isinstance(function, exp.Filter):
            only(function, "this", "expression")
            only(function.args["expression"], "this")
            function, condition = function.this, reader.condition(function.args["expression"].this)
        window = read_function(function, reader, condition)
        partition = tuple([reader.read(one) for one in over.args.get("partition_by") or ()])
        order = _order(over.args.get("order"), reader)
        frame = _frame(node, over.args.get("spec"), ordered=bool(order))
        if window.kind not in _OF_MANY and window.condition is not None:
            raise UnsupportedSQL(f"{window.kind.value} has no FILTER. Put the condition into CASE.")
        frame = frame if window.kind in _FRAMED else None
        return AnswerWindow(
            window.kind,
            window.argument,
            partition,
            order,
            frame,
            window.number,
            window.default,
            window.condition,
        )

    def _named(self, node: exp.Window) -> exp.Expr:
        """Return what OVER says, or what WINDOW says under the name that OVER gives."""
        alias = node.args.get("alias")
        if alias is None:
            return node
        if node.args.get("partition_by") or node.args.get("order") or node.args.get("spec"):
            raise UnsupportedSQL(f"{shown(node)!r} adds to a named window. Write all of it into OVER (...).")
        for one in self.select.args.get("windows") or ():
            if isinstance(one.this, exp.Identifier) and fold(one.name) == fold(alias.name):
                only(one, "this", "partition_by", "order", "spec", "over")
                self._used.add(fold(one.name))
                found: exp.Expr = one
                return found
        raise UnsupportedSQL(f"There is no WINDOW {shown(alias.name)!r}. Write what it says into OVER (...).")


def read_function(node: exp.Expr, reader: Reader, condition: Expression | None) -> AnswerWindow:
    """Return the function of a window, or of rows of an answer that are added up."""
    node = bare(node)
    if isinstance(node, exp.Count | exp.CountIf):
        return _counted(node, reader, condition)
    kind = _KINDS.get(type(node))
    if isinstance(node, exp.Anonymous) and str(node.this).upper() == "MEAN" and len(node.expressions) == 1:
        return _added(WindowKind.MEAN, node.expressions[0], reader, condition)
    if kind is None:
        raise UnsupportedSQL(
            f"{shown(node)!r} is not understood of answers. Write SUM, AVG, COUNT, MIN or MAX, or RANK() OVER."
        )
    if kind in _POSITIONS:
        only(node)
        return AnswerWindow(kind, None, condition=condition)
    if kind is WindowKind.NTILE:
        only(node, "this")
        return AnswerWindow(kind, None, number=_whole(node.this, "NTILE", least=1), condition=condition)
    if kind in (WindowKind.LAG, WindowKind.LEAD, WindowKind.NTH):
        return _looked_up(kind, node, reader, condition)
    only(node, "this")
    return _added(kind, node.this, reader, condition)


def _counted(node: exp.Expr, reader: Reader, condition: Expression | None) -> AnswerWindow:
    """Read COUNT and COUNT_IF of rows of an answer."""
    if isinstance(node, exp.CountIf):
        only(node, "this")
        if condition is not None:
            raise UnsupportedSQL(f"{shown(node)!r} has two conditions. Write COUNT(*) FILTER (WHERE ... AND ...).")
        return AnswerWindow(WindowKind.COUNT, None, condition=reader.condition(node.this))
    only(node, "this", "big_int")
    if node.this is None or isinstance(node.this, exp.Star):
        return AnswerWindow(WindowKind.COUNT, None, condition=condition)
    if isinstance(node.this, exp.Distinct):
        raise UnsupportedSQL(
            f"{shown(node)!r} counts values of an answer. Write COUNT(*) around a SELECT DISTINCT in brackets."
        )
    return AnswerWindow(WindowKind.COUNT, reader.read(node.this), condition=condition)


def _added(kind: WindowKind, node: exp.Expr, reader: Reader, condition: Expression | None) -> AnswerWindow:
    """Read a function of one column of an answer."""
    if isinstance(node, exp.Distinct | exp.Order):
        raise UnsupportedSQL(reason(type(node).__name__, ""))
    argument = reader.read(node)
    if kind in _ADDED and not argument.type.numeric:
        raise UnsupportedSQL(f"{kind.value} of {shown(node)!r} needs numbers, and got {argument.type.value}.")
    return AnswerWindow(kind, argument, condition=condition)


def _looked_up(kind: WindowKind, node: exp.Expr, reader: Reader, condition: Expression | None) -> AnswerWindow:
    """Read LAG, LEAD and NTH_VALUE."""
    only(node, "this", "offset", *(() if kind is WindowKind.NTH else ("default",)))
    argument, offset, default = reader.read(node.this), node.args.get("offset"), node.args.get("default")
    number = 1 if offset is None else _whole(offset, kind.value, least=1 if kind is WindowKind.NTH else 0)
    value: Value = None
    if default is not None:
        constant = reader.read(default)
        fits = constant.type is argument.type or (constant.type.numeric and argument.type is Type.REAL)
        if not isinstance(constant, Literal) or not (fits or constant.value is None):
            raise UnsupportedSQL(
                f"{shown(default)!r} is no default for {kind.value}. Write a constant of the type of its argument, or "
                "COALESCE around it."
            )
        value = constant.value
    return AnswerWindow(kind, argument, number=number, default=value, condition=condition)


def _whole(node: exp.Expr, word: str, *, least: int) -> int:
    """Return a whole number that is written out."""
    node = bare(node)
    text = node.name if isinstance(node, exp.Literal) and not node.is_string else ""
    if not (text.isdecimal() and text.isascii()) or len(text) > 6 or not least <= int(text) <= LONGEST_FRAME:
        raise UnsupportedSQL(f"{word} takes a whole number from {least} to {LONGEST_FRAME}, written out: 1, 2, 3.")
    return int(text)


def _order(clause: exp.Expr | None, reader: Reader) -> tuple[Order, ...]:
    """Return the terms of ORDER BY inside OVER."""
    if clause is None:
        return ()
    only(clause, "expressions")
    found = []
    for term in clause.expressions:
        only(term, "this", "desc")
        found.append(Order(reader.read(term.this), bool(term.args.get("desc"))))
    return tuple(found)


def _frame(node: exp.Expr, spec: exp.Expr | None, *, ordered: bool) -> tuple[int | None, int | None] | None:
    """Return which rows beside a row its window sees."""
    if spec is None:
        return None if ordered else (None, None)
    only(spec, "kind", "start", "start_side", "end", "end_side")
    low = _side(spec.args.get("start"), spec.args.get("start_side"))
    high = _side(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"))
    kind = str(spec.args.get("kind")).upper()  # sqlglot keeps the letters as they were written
    if kind == "RANGE" and low is None and high in (0, None):
        return (None, None) if high is None or not ordered else None
    if kind != "ROWS":
        raise UnsupportedSQL(
            f"The frame of {shown(node)!r} is not understood. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW."
        )
    return low, high


def _side(end: object, side: object) -> int | None:
    """Return an end of a frame: a place beside the row, or None for the end of the partition."""
    if end == "CURRENT ROW":
        return 0
    if end == "UNBOUNDED":
        return None
    rows = _whole(end if isinstance(end, exp.Expr) else exp.Null(), "A frame", least=0)
    return -rows if str(side).upper() == "PRECEDING" else rows
