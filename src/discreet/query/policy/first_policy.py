"""A first policy, from the schema alone: every table and column is named, every decision is left as a question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path

from discreet.errors import ParameterError
from discreet.query.expression import Type
from discreet.query.policy.check import Schema
from discreet.query.policy.csv_format import USUAL, CsvFormat
from discreet.query.policy.declarations import Source, SourceKind
from discreet.query.policy.source import find_source
from discreet.query.policy.toml_lines import header, key_in_toml, text_in_toml

_OPENING = """\
# A policy: what is private, what is public, how much may be learned, and by whom.
# It was written from the names and types of the columns; no row was read.
# Answer the questions: remove the "# " before a line and put your decision in place of the dots.
# `discreet check` lists what is still missing. Every key is explained in the reference, "The policy file".
"""
_PROTECT = """
[protect]
# What do you call one of those who are protected? The word stands on every answer.
# unit = {word}
"""
_BUDGET = """
[budget]
# What is the budget counted in: "zcdp" (rho, delta; for many answers), "approx" (epsilon, delta), "pure" (epsilon)?
# Or "gaussian" (mu, or epsilon and delta; with reserve = ... for keys that are not public), the least noise for counts?
# notion = "zcdp"
# How much may be learned about one {person} in all, by everybody together and for good? (or: epsilon = ...)
# rho = ...
# How likely may a failure be? Far below one in the number of people; 0 if no answer may show keys that are not public.
# delta = ...
ledger = "ledger.sqlite"
# Where is a copy of the ledger's last state kept, so that an old ledger put back is noticed? (optional)
# anchor = "..."
# May an answer that one analyst paid for be shown to the others?
shared_answers = false

[analysts]
# Who may ask? Nothing in the braces: only the total limits them. A share is a part of the budget.
# ana = {{}}
# ben = {{share = 0.25}}
"""
_COLUMNS = {
    Type.TEXT: ('values = ["...", "..."]', "text; are all its values known to everybody? list them"),
    Type.INTEGER: ("min = ..., max = ...", "integer; which range, known without the data? public = true: all are keys"),
    Type.REAL: ("min = ..., max = ...", "real; which range, known without the data?"),
    Type.DATE: ("min = ..., max = ..., public = true", "date; may every day of a range be a key?"),
    Type.BOOLEAN: ('type = "boolean", public = true', "boolean; may true and false be keys?"),
    Type.TIMESTAMP: (
        "min = ..., max = ...",
        "timestamp; between which days? Their months, weeks and days may then be keys",
    ),
}
_UNTYPED = ('type = "..."', "text, integer, real, boolean, date or timestamp? then values, or min and max")


def skeleton(
    source: str | PathLike[str],
    unit: str,
    schema: Schema,
    *,
    kind: SourceKind | None = None,
    csv: CsvFormat = USUAL,
) -> str:
    """Return a commented policy for a source, with the unit of protection named by a column, or "row".

    `source` is written as given, to be read relative to the policy file. `kind` is found from the path if left out; it
    matters for CSV files, which have no types, and `csv` says how these are written.

    >>> text = skeleton(
    ...     "visits.duckdb",
    ...     "patient_id",
    ...     {"visits": {"patient_id": Type.INTEGER, "cost": Type.REAL}},
    ... )
    >>> [line for line in text.splitlines() if "patient_id" in line or "cost" in line]
    ['unit = "patient_id"', '# patient_id is the unit of protection (integer)', '#
        cost = {min = ..., max = ...}...]
    """
    if not schema:
        raise ParameterError("the source has no table", parameter="schema")
    holders = [name for name, columns in schema.items() if unit == "row" or _spelled(unit, columns)]
    if not holders:
        names = ", ".join(sorted({column for columns in schema.values() for column in columns})[:20])
        raise ParameterError(f"no table has a column {key_in_toml(unit)}; columns are: {names}", parameter="unit")
    found = find_source(fspath(source), Path())
    typed = (kind or (found.kind if isinstance(found, Source) else None)) is not SourceKind.CSV
    word = "row" if unit == "row" else re.sub(r"[ _-]*(?:id|key)$", "", unit, flags=re.IGNORECASE)
    word = word if len(word) > 1 else "person"  # of pid, or id
    parts = [_OPENING, _data(fspath(source)), "" if typed else _csv(csv), _PROTECT.format(word=text_in_toml(word))]
    parts.append(_BUDGET.format(person=key_in_toml(word)))
    for name in schema:
        parts.append("\n" + "\n".join(_table(name, unit, schema, holders, typed)) + "\n")
    return "".join(parts)


def _data(source: str) -> str:
    return f"""
[data]
source = {text_in_toml(source, longest=None)}
# What are the people in this data called, for good? New rows or corrections do not renew a budget: never change it.
# lineage = "..."
# Which state of the data is this? After a change of version, asking again is a new release.
# version = "..."
"""


def _csv(stated: CsvFormat) -> str:
    """Return how the files are written; what is usual stays a comment."""
    lines = ["", "[data.csv]", "# How are the CSV files written? What is left out is as RFC 4180 has it, in UTF-8."]
    for name, value in asdict(stated).items():
        usual = "# " if value == getattr(USUAL, name) else ""
        lines.append(f"{usual}{name} = {text_in_toml(value)}")
    return "\n".join(lines) + "\n"


def _table(name: str, unit: str, schema: Schema, holders: list[str], typed: bool) -> Iterator[str]:
    yield header(("tables", name))
    if unit == "row":
        yield 'unit = "row"'
    elif name in holders:
        yield f"unit = {text_in_toml(_in_unit(_spelled(unit, schema[name])), longest=None)}"
        yield "# At most how many rows of one unit may count in an answer? (or: groups = ... and rows_per_group = ...)"
        yield "# rows = ..."
        yield "# Which number of rows does surely nobody exceed? What bounding cuts is measured up to there. (optional)"
        yield "# outer_rows = ..."
    else:
        yield from _whose(name, unit, schema, holders)
    yield "# Does everybody know how many units there are? Then neighbors change one unit, in every table. (optional)"
    yield "# people = ..."
    yield ""
    yield header(("tables", name, "columns"))
    for column, type_ in schema[name].items():
        yield _column(column, type_ if typed else None, column == _spelled(unit, schema[name]))


def _whose(name: str, unit: str, schema: Schema, holders: list[str]) -> Iterator[str]:
    """Ask for the unit of a table without the unit's column, with the links that names suggest."""
    public = f"{header(('public', name))} and {header(('public', name, 'columns'))}"
    yield f"# If everybody may see this table, write {public} instead, without unit, rows and people."
    yield f"# There is no column {key_in_toml(unit)} here. Else, whose rows are these? (A link leads to a unique key.)"
    for other in holders:
        for column in schema[name]:
            key = _spelled(column, schema[other])
            if key is not None and schema[other][key] is schema[name][column]:
                link = f"{_in_unit(column)} -> {_in_unit(other)}.{_in_unit(key)}"
                yield f"# unit = {text_in_toml(link, longest=None)}"
    yield "# unit = ..."
    yield "# rows = ..."


def _column(name: str, type_: Type | None, is_unit: bool) -> str:
    if is_unit and type_ is None:
        return f'# {text_key(name)} = {{type = "..."}}  # the unit of protection: integer (7 is 007), or text?'
    if is_unit:
        return f"# {key_in_toml(name)} is the unit of protection{f' ({type_.value})' if type_ else ''}"
    declaration, question = _COLUMNS[type_] if type_ else _UNTYPED
    return f"# {text_key(name)} = {{{declaration}}}  # {question}"


def text_key(name: str) -> str:
    """Write the name of a column as a key, in full."""
    short = key_in_toml(name)
    return short if not short.startswith('"') else text_in_toml(name, longest=None)


def _in_unit(name: str | None) -> str:
    """Write a name for the unit of a table: in quotes where it could be misread."""
    name = name or ""
    plain = name != "row" and name == name.strip() and name and not set(name) & set('".') and "->" not in name
    return name if plain else '"' + name.replace('"', '""') + '"'


def _spelled(name: str, columns: Mapping[str, object]) -> str | None:
    if name in columns:
        return name
    return next((one for one in columns if one.casefold() == name.casefold()), None)
