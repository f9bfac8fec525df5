"""SQL text to a tree: one SELECT statement of bounded length, depth and size, or a refusal.

Nothing here knows a table or a column. The tree is sqlglot's, in DuckDB's dialect; whoever reads it accepts only what
is listed, and every argument of a node that was not looked at is refused by `only`. How nodes and names are looked at
is here too, for all who read the tree.
"""

from __future__ import annotations

import difflib
import logging
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from discreet._optional import unusable
from discreet.errors import UnknownName, UnsupportedSQL

try:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError
    from sqlglot.tokens import Token, TokenType
except Exception as error:  # a package that is broken raises anything
    raise unusable("sqlglot", error, extra="sql", purpose="reading SQL") from None

from discreet.query.reading.refusals import ROWS, reason, statement_reason

LONGEST_TEXT = 50_000
MOST_TOKENS = 12_000
DEEPEST_BRACKETS = 30
DEEPEST_TREE = 100
MOST_SELECTS = 20
MOST_ITEMS = 500
SHOWN = 80

_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END)
_CLAUSES = ("with", "from", "where", "group", "having", "order", "limit")
_OF_ANSWERS = ("distinct", "windows", "qualify", "offset")
_EMPTY: tuple[object, ...] = (None, False, "")
_CHAINS: tuple[tuple[type[exp.Expr], ...], ...] = ((exp.And,), (exp.Or,), (exp.Add, exp.Sub), (exp.DPipe,))
# Aggregates that sqlglot knows by name alone: those that are understood, and those that are refused as aggregates.
_NAMED_AGGREGATES = ("MEAN", "STD", "VAR", "PRODUCT", "ENTROPY", "HISTOGRAM", "FAVG", "FSUM", "RESERVOIR_QUANTILE")
_Named = TypeVar("_Named")
_OTHER_DIALECTS = [
    (
        re.compile(r"\bDIFFERENTIAL_PRIVACY\b", re.IGNORECASE),
        "The price is no clause: pass epsilon=, or rho=, with the query.",
    ),
    (re.compile(r"\bSELECT\s+TOP\b", re.IGNORECASE), "TOP is not understood: write ORDER BY and LIMIT 5 at the end."),
    (re.compile("`"), 'Names are quoted by double quotes, not backticks: write "name".'),
    (re.compile(r"\[\s*\w"), 'Names are quoted by double quotes, not brackets: write "name".'),
]


def parse(sql: str) -> exp.Select:
    """Return the tree of the one SELECT statement that the text consists of.

    >>> parse("select count(*) from visits -- all of them").sql()
    'SELECT COUNT(*) FROM visits /* all of them */'
    """
    found = parse_answers(sql)
    if not isinstance(found, exp.Select):
        raise UnsupportedSQL(statement_reason(found))
    return found


def parse_answers(sql: str) -> exp.Select | exp.Union:
    """Return the tree of the one statement that the text consists of: a SELECT, or several with UNION between them.

    >>> type(parse_answers("select count(*) from a union all select 1 from b")).__name__
    'Union'
    """
    if not isinstance(sql, str):
        raise UnsupportedSQL(f"A query is a text, not {type(sql).__name__}: write it as a string of SQL.")
    _check_text(sql)
    try:
        with _QUIETLY:
            _check_tokens(sqlglot.tokenize(sql, read="duckdb"))
            trees = [tree for tree in sqlglot.parse(sql, dialect="duckdb") if not isinstance(tree, exp.Semicolon)]
    except UnsupportedSQL:
        raise
    except RecursionError:
        raise too_deep() from None
    except Exception as error:  # sqlglot's own errors, and whatever odd text makes it stumble over
        raise UnsupportedSQL(_misread(error, sql)) from None
    statements = [tree for tree in trees if tree is not None]
    if not statements:
        raise UnsupportedSQL("The query is empty. Write a SELECT, such as SELECT COUNT(*) FROM table.")
    if len(statements) > 1:
        raise UnsupportedSQL(f"There are {len(statements)} statements in this text. Ask them one at a time.")
    return _selection(statements[0])


def only(node: exp.Expr, *understood: str) -> None:
    """Refuse a node that carries an argument other than those understood."""
    for name, value in node.args.items():
        present = bool(value) if isinstance(value, list) else value not in _EMPTY
        if present and name.rstrip("_") not in understood:
            clause = name.rstrip("_").replace("_", " ").upper()
            raise UnsupportedSQL(
                reason(f"{type(node).__name__}.{name.rstrip('_')}", f"{clause} is not understood in {shown(node)!r}.")
            )


def clauses(select: exp.Select, *, answers: bool = False) -> dict[str, exp.Expr | None]:
    """Return the clauses of a SELECT that are understood, by name; refuse one that has others.

    Some are understood of `answers` alone.
    """
    known = (*_CLAUSES, *_OF_ANSWERS) if answers else _CLAUSES
    only(select, *known, "expressions", "joins")
    return {name: part(select, name) for name in known}


def continues(node: exp.Expr, left: exp.Expr) -> bool:
    """Say whether the left side of an operator is one more link of a chain such as a AND b AND c, or a + b - c.

    A chain is as deep as its deepest link, however long it is.
    """
    family = next((kinds for kinds in _CHAINS if type(node) in kinds), ())
    return type(left) in family and node.this is left


def part(node: exp.Expr, name: str) -> exp.Expr | None:
    """Return an argument of a node, whichever way this version of sqlglot spells it."""
    value = node.args.get(name)
    found = value if value is not None else node.args.get(f"{name}_")
    return found if isinstance(found, exp.Expr) else None


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that AND joins, from the left to the right."""
    found: list[exp.Expr] = []
    pending = [] if node is None else [node]
    while pending:
        one = bare(pending.pop())
        if isinstance(one, exp.And):
            only(one, "this", "expression")
            pending += [one.args["expression"], one.this]
        else:
            found.append(one)
    return found


def bare(node: exp.Expr) -> exp.Expr:
    """Return a node without the brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node adds up rows, in a way that is understood or not."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in _NAMED_AGGREGATES
    if isinstance(node, exp.Grouping | exp.GroupingId):  # says which keys a row adds up, and adds up nothing
        return False
    return isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate stands somewhere in a node, subqueries aside; the function of a window is none."""
    if isinstance(node, exp.Window):
        function = node.this.this if isinstance(node.this, exp.Filter) else node.this
        inner = [*function.iter_expressions(), *(one for one in node.iter_expressions() if one is not node.this)]
        inner += [node.this.args["expression"]] if function is not node.this else []
        return any(has_aggregate(one) for one in inner if not isinstance(one, exp.Query))
    if is_aggregate(node):
        return True
    return any(has_aggregate(child) for child in node.iter_expressions() if not isinstance(child, exp.Query))


def fold(name: str) -> str:
    """Return a name as it is compared: Latin capitals do not matter, look-alike letters of other alphabets do."""
    return name.lower() if name.isascii() else "".join(sign.lower() if sign.isascii() else sign for sign in name)


def look_up(name: str, among: Mapping[str, _Named]) -> _Named | None:
    """Return what has this name, spelled exactly or else in other capitals, unless that is ambiguous."""
    if name in among:
        return among[name]
    found = [value for key, value in among.items() if fold(key) == fold(name)]
    return found[0] if len(found) == 1 else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the sentence that names the likeliest spelling, or all names."""
    names = sorted(set(known))
    near = difflib.get_close_matches(fold(name), [fold(key) for key in names], n=1)
    for key in names:
        if near and fold(key) == near[0]:
            return f"Did you mean {key!r}?"
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"Known: {listed}." if listed else "There are none."


def items(select: exp.Select, columns: Sequence[exp.Expr] | None) -> list[tuple[str | None, exp.Expr]]:
    """Return the items of a SELECT with the names given to them; * stands for all columns, where there are some."""
    found: list[tuple[str | None, exp.Expr]] = []
    check_number(select)
    for written in select.expressions:
        if isinstance(written, exp.Star) and columns is not None:
            only(written)
            found.extend((None, column) for column in columns)
        elif columns is not None and isinstance(written, exp.Column) and isinstance(written.this, exp.Star):
            found.extend((None, column) for column in _of_table(written, columns))
        else:
            found.append(named_item(written))
    if not found:
        raise UnsupportedSQL(ROWS)
    return found


def _of_table(written: exp.Column, columns: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return the columns that table.* stands for."""
    only(written, "this", "table")
    only(written.this)
    tables = [column.table for column in columns if isinstance(column, exp.Column)]
    found = [one for one, table in zip(columns, tables, strict=True) if fold(table) == fold(written.table)]
    if not found:
        near = did_you_mean(written.table, [table for table in tables if table])
        raise UnknownName(f"There is no table {shown(written.table)!r} in this FROM. {near}")
    return found


def check_number(select: exp.Select) -> None:
    """Refuse a SELECT of very many items."""
    if len(select.expressions) > MOST_ITEMS:
        raise UnsupportedSQL(f"A SELECT has at most {MOST_ITEMS} items, and this one more. Ask in several queries.")


def named_item(written: exp.Expr) -> tuple[str | None, exp.Expr]:
    """Return the name that AS gives to an item of a SELECT, and the item without brackets."""
    if not isinstance(written, exp.Alias):
        return None, bare(written)
    only(written, "this", "alias")
    name = written.alias
    if not name or name.startswith("#") or not isinstance(written.args.get("alias"), exp.Identifier):
        raise UnsupportedSQL(f"{shown(written)!r} gives no usable name. Write AS and a name of letters, digits and _.")
    return name, bare(written.this)


def table_alias(node: exp.Expr) -> str:
    """Return the name a table has in the query, if one is given."""
    alias = part(node, "alias")
    if alias is None:
        return ""
    only(alias, "this")
    return alias.name


def table_name(node: exp.Table) -> str:
    """Return the name of a table as a policy writes it, with the schema before it where the query does."""
    return f"{node.db}.{node.name}" if node.db else node.name


def claim(name: str, taken: set[str]) -> None:
    """Add the name of a column to those that are taken, or refuse it."""
    if fold(name) in taken:
        raise UnsupportedSQL(f"Two columns are called {shown(name)!r}. Write AS and another name behind one of them.")
    taken.add(fold(name))


def shown(node: exp.Expr | str) -> str:
    """Return the text of a node on one line, cut short."""
    try:
        text = (
            node
            if isinstance(node, str)
            else node.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE)
        )
    except Exception:  # a tree that cannot be written is named by its kind
        text = type(node).__name__
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."


def _check_text(sql: str) -> None:
    """Refuse texts that are too long or hold signs which no query needs."""
    if len(sql) > LONGEST_TEXT:
        raise UnsupportedSQL(
            f"The query is {len(sql)} characters long, and at most {LONGEST_TEXT} are read. Long lists of values "
            "belong into a public table that the query joins."
        )
    for sign in sql:
        if (not sign.isprintable() and sign not in " \t\r\n" and not sign.isspace()) or "\ud800" <= sign <= "\udfff":
            raise UnsupportedSQL(
                f"The query holds the invisible character U+{ord(sign):04X}. Remove it, and write the query with "
                "visible characters, spaces and line ends."
            )


def _check_tokens(tokens: list[Token]) -> None:
    """Refuse too many tokens, deep brackets, and numbers that run into a word, which would be read as an alias."""
    if len(tokens) > MOST_TOKENS:
        raise UnsupportedSQL(
            f"The query has {len(tokens)} words and signs, and at most {MOST_TOKENS} are read. Long lists of values "
            "belong into a public table that the query joins."
        )
    depth = 0
    previous: Token | None = None
    before: TokenType | None = None
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > DEEPEST_BRACKETS:
            raise too_deep()
        if previous is not None and token.token_type is TokenType.VAR and token.start == previous.end + 1:
            number = shown(previous.text + token.text)
            raise UnsupportedSQL(f"{number!r} is not a number here. Write numbers in decimal, such as 31 or 1e3.")
        if token.token_type is TokenType.DOT and before in (TokenType.FROM, TokenType.JOIN):
            raise UnsupportedSQL("A dot before the name of a table leaves out its schema. Write the bare name.")
        previous = token if token.token_type is TokenType.NUMBER else None
        before = token.token_type


def _selection(tree: exp.Expr) -> exp.Select | exp.Union:
    """Return the SELECT inside any outer brackets, and check how deep and how large it is."""
    while isinstance(tree, exp.Subquery):
        only(tree, "this")
        tree = tree.this
    if not isinstance(tree, exp.Select | exp.Union):
        raise UnsupportedSQL(statement_reason(tree))
    waiting: list[tuple[exp.Expr, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth >= DEEPEST_TREE:
            raise too_deep()
        waiting += [(child, depth if continues(node, child) else depth + 1) for child in node.iter_expressions()]
    if sum(1 for _ in tree.find_all(exp.Select)) > MOST_SELECTS:
        raise UnsupportedSQL(f"At most {MOST_SELECTS} SELECTs are read in one query. Ask in several queries.")
    return tree


def too_deep() -> UnsupportedSQL:
    """Return the refusal of nesting that no readable query has."""
    return UnsupportedSQL(
        f"The query is nested too deeply: at most {DEEPEST_BRACKETS} brackets and {DEEPEST_TREE} operations within "
        "each other are read. Split it into several queries."
    )


def _misread(error: Exception, sql: str) -> str:
    """Say where the text stopped making sense, without repeating much of it, and what other dialects' words become."""
    where = ""
    for found in getattr(error, "errors", []) if isinstance(error, SqlglotError) else []:
        near = shown(str(found.get("highlight") or ""))
        where = f" at line {found.get('line')}, column {found.get('col')}" + (f", near {near!r}" if near else "")
        break
    remedy = next(
        (words for sign, words in _OTHER_DIALECTS if sign.search(sql)), "Check its brackets, quotes and commas."
    )
    return f"This text is not a query that can be read{where}. {remedy}"


class _Quiet(logging.Filter):
    """Keeps sqlglot from logging what it could not read, in the thread that reads a query: the refusal says it."""

    def __init__(self) -> None:
        super().__init__()
        self.state = threading.local()

    def filter(self, _record: logging.LogRecord) -> bool:
        """Drop what is logged while a query is read."""
        return not getattr(self.state, "reading", False)

    def __enter__(self) -> None:
        self.state.reading = True

    def __exit__(self, *_: object) -> None:
        self.state.reading = False


_QUIETLY = _Quiet()
logging.getLogger("sqlglot").addFilter(_QUIETLY)
