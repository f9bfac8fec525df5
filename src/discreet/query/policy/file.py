"""Read a policy file: TOML in, a `Policy` out, or every mistake at once with its line and what to write instead."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.privacy import Relation
from discreet.query.policy.budget import notion_of, read_analysts, read_budget
from discreet.query.policy.csv_format import read_format
from discreet.query.policy.declarations import Policy, Source, SourceKind
from discreet.query.policy.source import find_source
from discreet.query.policy.tables import check_links, check_names, read_public, read_tables, read_views
from discreet.query.policy.toml_lines import Place, find_lines, header
from discreet.query.policy.toml_section import Problems, Section, meant

SECTIONS = ("data", "protect", "budget", "analysts", "tables", "public", "views")
_LARGEST_FILE = 16 * 2**20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_LINEAGE_WHY = "a name for the people in the data, for good: the budget belongs to it"
_VERSION_WHY = "which state of the data this is; a new version makes asking again a new release"


def read_policy(path: str | PathLike[str]) -> Policy:
    """Return the policy in a file; paths in it are relative to the folder of the file."""
    place = Path(path)
    return parse_policy(_content(place), folder=place.parent, file=fspath(path))


def parse_policy(text: str, *, folder: str | PathLike[str], file: str = "policy.toml") -> Policy:
    r"""Return the policy that a text states; `file` names it in messages.

    >>> parse_policy("[data]\nsorce = 'x'", folder=".")
    Traceback (most recent call last):
    ...
    discreet.errors.PolicyError: policy.toml, line 1: [data]: source is missing. Add
        the line `source = ...
    policy.toml, line 2: [data] sorce: unknown key. Did you mean source? Known here:
        source, lineage, version...
    """
    try:
        entries = _toml(text, file)
        lines = find_lines(text.replace("\r\n", "\n"))
        problems = Problems(lines)
        policy = _policy(Section((), entries, problems), Path(folder).absolute(), lines, file)
    except RecursionError:
        raise PolicyError([(None, "is nested too deeply. Remove brackets.")], file=file) from None
    if problems.listed():
        raise PolicyError(problems.listed(), file=file) from None
    assert policy is not None  # noqa: S101 - whatever is missing was noted
    return policy


def _policy(top: Section, folder: Path, lines: dict[Place, int], file: str) -> Policy | None:
    """Read every section, so that every mistake is found; None where anything is missing."""
    _refuse_unknown_sections(top)
    data, budget_section = top.beneath("data"), top.beneath("budget")
    source = _source(data, folder)
    lineage = data.text("lineage", line='lineage = "hospital-2026"', why=_LINEAGE_WHY)
    version = data.text("version", line='version = "2026-11-01"', why=_VERSION_WHY)
    unit = _unit_word(top.beneath("protect"))
    needs_type = source is not None and source.kind is SourceKind.CSV
    private, public = top.beneath("tables"), top.beneath("public")
    public_tables = read_public(public, needs_type=needs_type)
    tables = check_links(private, public, read_tables(private, needs_type=needs_type))
    check_names(private, public)
    views = read_views(top.beneath("views"), private, public)
    counted = any(table.people is not None for table in tables.values())
    budget = read_budget(budget_section, Relation.CHANGE_ONE if counted else Relation.ADD_REMOVE)
    ledger, anchor = _ledger(budget_section, source, folder)
    shared = budget_section.flag("shared_answers")
    analysts = read_analysts(top.beneath("analysts"), notion_of(budget_section), budget)
    if source is None or lineage is None or version is None or unit is None or budget is None:
        return None
    return Policy(
        source=source,
        lineage=lineage,
        version=version,
        unit=unit,
        tables=tables,
        public=public_tables,
        budget=budget,
        analysts=analysts,
        views=views,
        shared_answers=bool(shared),
        ledger=ledger,
        anchor=anchor,
        file=file,
        lines=lines,
    )


def _refuse_unknown_sections(top: Section) -> None:
    known = ", ".join(header((one,)) for one in SECTIONS)
    for key in top.entries:
        if key not in SECTIONS:
            hint = meant(key, SECTIONS)
            top.problems.add((key,), f"{header((key,))}: there is no such section. {hint}A policy has {known}.")


def _source(data: Section, folder: Path) -> Source | None:
    data.only(("source", "lineage", "version", "csv"))
    why = "a DuckDB file, a folder of Parquet files or a folder of CSV files, beside this file"
    written = data.text("source", line='source = "data.duckdb"', why=why)
    if written is None:
        return None
    found = find_source(written, folder)
    if isinstance(found, str):
        return data.complain(found, "source")
    stated = read_format(data.beneath("csv"))
    if "csv" in data and found.kind is not SourceKind.CSV:
        data.complain("a delimiter is for CSV files, and the source has none. Remove it", "csv")
    return replace(found, csv=stated)


def _unit_word(protect: Section) -> str | None:
    protect.only(("unit",))
    why = "the word for who is protected; it stands on every answer"
    return protect.text("unit", line='unit = "patient"', why=why)


def _ledger(budget: Section, source: Source | None, folder: Path) -> tuple[Path | None, Path | None]:
    """Return where the ledger and its anchor are kept; neither may be the data or the other."""
    why = "the file that keeps what was spent, beside this file"
    written = budget.text("ledger", line='ledger = "ledger.sqlite"', why=why)
    ledger = None if written is None else _file_path(budget, "ledger", folder / written)
    anchor = None
    if "anchor" in budget:
        written = budget.text("anchor", line='anchor = "/safe/place/ledger.anchor"', why="kept apart from the ledger")
        anchor = None if written is None else _file_path(budget, "anchor", folder / written)
    if anchor is not None and ledger is not None and realpath(anchor) == realpath(ledger):
        budget.complain("is the ledger itself. Write another file, best on another disk", "anchor")
    for key, path in (("ledger", ledger), ("anchor", anchor)):
        if path is not None and source is not None and source.path and realpath(path) == realpath(source.path):
            budget.complain("is the data itself. Write another file", key)
    return ledger, anchor


def _file_path(section: Section, key: str, path: Path) -> Path | None:
    """Return a path at which a file can be kept."""
    try:
        if path.is_dir():
            return section.complain("is a folder. Write the path of a file in it", key)
        if path.parent.is_dir():
            return path
        section.complain("is in a folder that does not exist. Make the folder, or write another path", key)
    except (OSError, ValueError):
        section.complain("is not the path of a file. Write, for example, `ledger.sqlite`", key)
    return None


def _content(path: Path) -> str:
    """Read the text of a file, or say why it cannot be read."""

    def refuse(words: str) -> PolicyError:
        return PolicyError([(None, words)], file=str(path))

    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise refuse("there is no such file. `discreet init` writes a first one.") from None
    except IsADirectoryError:
        raise refuse("is a folder. Name the policy file in it.") from None
    except (OSError, ValueError):
        raise refuse("cannot be read. Check its name and who may read it.") from None
    if len(content) > _LARGEST_FILE:
        raise refuse("is larger than 16 MiB, which no policy is. Name another file.")
    if content.startswith((_UTF8_MARK, *_UTF16)):
        raise refuse("begins with a byte order mark. Save it as UTF-8 without one.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise PolicyError([(line, "is not UTF-8 here. Save the file as UTF-8.")], file=str(path)) from None


def _toml(text: str, file: str) -> dict[str, Any]:
    """Parse TOML with decimals as they are written; a mistake of syntax hides all others, so it comes alone."""
    if not text.strip():
        raise PolicyError([(None, "is empty. `discreet init` writes a first policy.")], file=file)
    try:
        text.encode("utf-8")
        return tomllib.loads(text, parse_float=_decimal)
    except tomllib.TOMLDecodeError as problem:
        words = re.sub(r"\s*\(at (?:line \d+, column \d+|end of document)\)\s*$", "", str(problem))
        at = re.search(r"at line (\d+), column (\d+)", str(problem))
        line = int(at[1]) if at else text.count("\n") + 1
        column = f" at column {at[2]}" if at else ""
        printable = "".join(one if one.isprintable() else "?" for one in words)
        raise PolicyError([(line, f"is not TOML{column}: {printable}. {_SYNTAX}.")], file=file) from None
    except UnicodeEncodeError:
        raise PolicyError([(None, "contains half a character. Save the file as UTF-8.")], file=file) from None
    except ValueError:  # an integer of thousands of digits, or a date that no calendar has
        raise PolicyError(
            [(None, "contains a number or a date that cannot be read. Write a smaller one.")], file=file
        ) from None


_SYNTAX = 'Texts, and names with spaces or accents, stand in "quotes"; a key stands once in its section'


def _decimal(written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation:  # an exponent beyond what a Decimal holds
        return Decimal("nan")
