"""The private and public tables of a policy: whose rows they are, how much of one unit is let through."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from discreet.query.policy.columns import read_columns
from discreet.query.policy.declarations import (
    PublicTable,
    TablePolicy,
    Unit,
    UnitColumn,
    UnitIsRow,
    UnitLimits,
    UnitLink,
)
from discreet.query.policy.toml_lines import header, key_in_toml
from discreet.query.policy.toml_section import Section, kind, meant

LARGEST_BOUND = 10**9
_VIEW = 'sales = "SELECT ... FROM orders JOIN customers ON ..."'
MOST_PEOPLE = 10**15
_TABLE_KEYS = ("unit", "rows", "groups", "rows_per_group", "outer_rows", "people", "columns")
_PUBLIC_KEYS = ("unique", "columns")
_UNIT_LINE = 'unit = "patient_id"'
_UNIT_WHY = (
    'the column that names the unit; or "row" if every row is a unit of its own; or "visit_id -> visits.visit_id", if '
    "visit_id is unique there; a table that everybody may see goes under [public.NAME] instead"
)
_NAME = r'\s*("(?:[^"]|"")+"|(?:(?!->)[^".\s])(?:(?:(?!->)[^".])*(?:(?!->)[^".\s]))?)\s*'
_COLUMN = re.compile(_NAME)
_LINK = re.compile(rf"{_NAME}->{_NAME}\.{_NAME}")
_LONGEST_UNIT = 300


def read_tables(section: Section, *, needs_type: bool) -> dict[str, TablePolicy]:
    """Return the private tables; links between them are checked by `check_links`."""
    if not section.entries:
        section.problems.add((), 'no private table is named. Add `[tables.NAME]` with a line `unit = "..."`')
    found = {}
    for one in section.sections(inline=False, example="[tables.visits]"):
        name = str(one.place[-1])
        one.only(_TABLE_KEYS)
        unit = _unit(one)
        limits = _limits(one, unit)
        columns = read_columns(one.beneath("columns"), needs_type=needs_type)
        people = one.whole("people", most=MOST_PEOPLE)
        if unit is not None:
            found[name] = TablePolicy(name, unit, columns, limits, people)
    return found


def read_public(section: Section, *, needs_type: bool) -> dict[str, PublicTable]:
    """Return the public tables."""
    found = {}
    for one in section.sections(inline=False, example="[public.regions]"):
        name = str(one.place[-1])
        one.only(_PUBLIC_KEYS)
        columns = read_columns(one.beneath("columns"), needs_type=needs_type)
        found[name] = PublicTable(name, columns, _unique(one))
    return found


def check_names(tables: Section, public: Section) -> None:
    """Refuse a table that is both private and public."""
    private = {name.casefold(): name for name in tables.entries}
    for name in public.entries:
        if name.casefold() in private:
            words = f"is also a private table, {header((*tables.place, private[name.casefold()]))}. Keep one of the two"
            public.complain(words, name)


def read_views(section: Section, *others: Section) -> dict[str, str]:
    """Return the SELECTs of views by name; a name that a table has is refused."""
    taken = {name.casefold(): other for other in others for name in other.entries}
    found = {}
    for name, given in section.entries.items():
        if not isinstance(given, str) or not given.strip():
            section.complain(f"must be a SELECT in quotes, not {kind(given)}. Write `{_VIEW}`", name)
        elif name.casefold() in taken:
            section.complain(f"is also a table, {header((*taken[name.casefold()].place, name))}. Rename the view", name)
        else:
            found[name] = given
    if len({name.casefold() for name in found}) < len(found):
        section.complain("two views have names that differ only in capitals. Rename one", next(iter(found)))
    return found


def check_links(tables: Section, public: Section, read: Mapping[str, TablePolicy]) -> dict[str, TablePolicy]:
    """Return the tables with links to the names as they are written, and note links that lead nowhere."""
    names = {name.casefold(): name for name in tables.entries}
    found = {}
    for name, table in read.items():
        unit = table.unit
        if isinstance(unit, UnitLink):
            target = names.get(unit.table.casefold())
            if target is None:
                words = _no_target(unit.table, public, list(tables.entries))
                tables.problems.add((*tables.place, name, "unit"), f"{header((*tables.place, name))} unit: {words}")
                continue
            unit = UnitLink(unit.column, target, unit.key)
        found[name] = replace(table, unit=unit)
    _refuse_cycles(tables, found)
    return found


def _no_target(name: str, public: Section, private: list[str]) -> str:
    if name.casefold() in {one.casefold() for one in public.entries}:
        return f"the link leads to {key_in_toml(name)}, a public table, which has no units. Link to a private table"
    near = meant(name, private)
    remedy = f"{near}Add {header(('tables', name))}, or link to another private table"
    return f"the link leads to {key_in_toml(name)}, which is not a table of this policy. {remedy}"


def _refuse_cycles(tables: Section, read: Mapping[str, TablePolicy]) -> None:
    """Note every circle of links once, at the first table in it."""
    settled: set[str] = set()
    for start in read:
        path: list[str] = []
        name: str | None = start
        while name is not None and name not in settled and name not in path:
            path.append(name)
            unit = read[name].unit if name in read else None
            name = unit.table if isinstance(unit, UnitLink) else None
        if name is not None and name in path:
            circle = " -> ".join(key_in_toml(one) for one in [*path[path.index(name) :], name])
            words = (
                f"the links go round in a circle, {circle}, and never reach a unit. Name a unit column in one of them"
            )
            tables.problems.add((*tables.place, name, "unit"), f"{header((*tables.place, name))} unit: {words}")
        settled |= set(path)


def _unit(section: Section) -> Unit | None:
    text = section.text("unit", line=_UNIT_LINE, why=_UNIT_WHY)
    if text is None:
        return None
    if text == "row":
        return UnitIsRow()
    column, link = (None, None) if len(text) > _LONGEST_UNIT else (_COLUMN.fullmatch(text), _LINK.fullmatch(text))
    if column:
        return UnitColumn(_unquoted(column[1]))
    if link:
        return UnitLink(_unquoted(link[1]), _unquoted(link[2]), _unquoted(link[3]))
    if text.count("->") > 1:
        words = "a link has one step. Link to the next table only; that table says itself where its unit is"
    else:
        words = f'is not understood. Write `{_UNIT_LINE}` ({_UNIT_WHY}); names with dots or quotes stand in "..."'
    return section.complain(words, "unit")


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _limits(section: Section, unit: Unit | None) -> UnitLimits:
    """Return the bounds of one unit, which are never defaulted and mean nothing where a row is a unit."""
    bounds = {key: section.whole(key, most=LARGEST_BOUND) for key in ("rows", "groups", "rows_per_group", "outer_rows")}
    given = [key for key in bounds if key in section]
    if isinstance(unit, UnitIsRow):
        for key in given:
            section.complain(
                "every row is a unit of its own, so there is nothing to bound. Remove the line, or name a unit column",
                key,
            )
        return UnitLimits()
    pair = [key for key in ("groups", "rows_per_group") if key in section]
    if len(pair) == 1:
        other = "rows_per_group" if pair == ["groups"] else "groups"
        section.missing(other, f"{other} = ...", "groups and rows_per_group bound a unit together: your decision")
    elif not {"rows", *pair} & set(given) and unit is not None:
        why = "the most rows of one unit that count: your decision; or groups = ... and rows_per_group = ..."
        section.missing("rows", "rows = ...", why)
    groups, rows = bounds["groups"], bounds["rows_per_group"]
    if groups and rows and groups * rows > LARGEST_BOUND:
        section.complain(
            f"groups times rows_per_group must be at most {LARGEST_BOUND}. Write smaller numbers", "groups"
        )
    return UnitLimits(bounds["rows"], groups, rows, bounds["outer_rows"])


def _unique(section: Section) -> tuple[frozenset[str], ...]:
    """Read a column, a list of columns that together are one key, or a list of such lists."""
    if "unique" not in section:
        return ()
    given = section.entries["unique"]
    keys = [[given]] if isinstance(given, str) else given
    if isinstance(keys, list) and keys and all(isinstance(part, str) for part in keys):
        keys = [keys]
    example = (
        'Write `unique = "region"`, or `unique = ["year", "region"]` for one key of two columns, or a list of such'
    )
    if not isinstance(keys, list):
        section.complain(f"must name columns, not {kind(given)}. {example}", "unique")
        return ()
    found: list[frozenset[str]] = []
    for key in keys:
        if not isinstance(key, list) or not key or not all(isinstance(part, str) and part.strip() for part in key):
            section.complain(f"a key is a list of names of columns. {example}", "unique")
        elif len({part.casefold() for part in key}) < len(key):
            section.complain("a key names a column twice. Remove one", "unique")
        elif frozenset(key) in found:
            section.complain("a key is listed twice. Remove one", "unique")
        else:
            found.append(frozenset(key))
    if not keys:
        section.complain(f"is empty. Remove the line, or name a key. {example}", "unique")
    return tuple(found)
