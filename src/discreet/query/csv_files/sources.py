"""The copies of a policy's CSV tables: opened for a session, made anew for the curator; never a record in a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from discreet.errors import PolicyError
from discreet.query.csv_files.copies import (
    Copy,
    CsvTable,
    Outdated,
    convert_anew,
    current_copy,
    forget_others,
    ledger_folder,
    temporary_copy,
)
from discreet.query.csv_files.reader import Fault, UnreadableFile
from discreet.query.policy import Policy, SourceKind, table_files


class SourceRefused(PolicyError):
    """Files of the source are not what the policy says; found by reading them, before anything could be charged."""


def csv_tables(policy: Policy) -> list[CsvTable]:
    """Return the tables of CSV files that a policy names and that are there."""
    path = policy.source.path
    if policy.source.kind is not SourceKind.CSV or path is None:
        return []
    found = table_files(path, SourceKind.CSV, [*policy.tables, *policy.public])
    return [CsvTable(name, tuple(files), policy.source.csv, policy.version, path) for name, files in found]


def open_copies(policy: Policy, scratch: Path) -> dict[str, Copy]:
    """Return a copy of every CSV table of a policy, beside its ledger, or in `scratch` where that is in memory.

    Which file is refused is all that is told: which record it is, and why, the curator sees from `discreet check`.
    """
    copies: dict[str, Copy] = {}
    tables = csv_tables(policy)
    folder = scratch.resolve() if policy.ledger is None or not tables else ledger_folder(policy.ledger)
    obtain = temporary_copy if policy.ledger is None else current_copy
    try:
        for table in tables:
            copies[table.name] = _opened(policy, folder, table, obtain)
    except BaseException:
        for copy in copies.values():
            copy.release()
        raise
    return copies


def convert_source(policy: Policy) -> None:
    """Make the copies of all CSV tables anew; refuse a source that is not CSV, with the record and the reason."""
    tables = csv_tables(policy)
    if not tables or policy.ledger is None:
        return
    folder, faults = ledger_folder(policy.ledger), []
    for table in tables:
        fault = _fault(policy, lambda table=table: convert_anew(folder, table))  # type: ignore[misc]
        if fault is not None:
            place = policy.lines.get(("tables", table.name)) or policy.lines.get(("public", table.name))
            faults.append((place, f"the CSV file {_where(policy, fault[0])!r}: {fault[1].words()}."))
    if faults:
        raise SourceRefused(faults, file=policy.file)
    forget_others(folder, tables[0].source, [table.key for table in tables])


def _opened(policy: Policy, folder: Path, table: CsvTable, obtain: Callable[[Path, CsvTable], Copy]) -> Copy:
    """Return one copy, or refuse in words that hold nothing of a record."""
    command = f"`discreet check {policy.file}`"
    found: list[Copy] = []
    try:
        fault = _fault(policy, lambda: found.append(obtain(folder, table)))
    except Outdated:
        words = f"the CSV files of {table.name!r}, or [data.csv], changed since they were converted for this version"
        remedy = f"Write a new `version` under [data] if the data changed, then run {command}"
        raise PolicyError([(None, f"{words}. {remedy}. Nothing was spent.")], file=policy.file) from None
    if fault is not None:
        words = f"the CSV file {fault[0].name!r} of {table.name!r} cannot be read as it is declared"
        raise SourceRefused([(None, f"{words}. Run {command}, which says where. Nothing was spent.")], file=policy.file)
    return found[0]


def _fault(policy: Policy, call: Callable[[], object]) -> tuple[Path, Fault] | None:
    """Return what is wrong with a file, without the exception, whose frames hold records."""
    try:
        call()
        return None
    except UnreadableFile as problem:
        return problem.file, problem.fault
    except OSError as problem:
        words = f"the copy of the CSV files cannot be kept beside the ledger: {problem.strerror}. Nothing was spent."
    raise PolicyError([(None, words)], file=policy.file)


def _where(policy: Policy, file: Path) -> str:
    """Return the path of a file of the source, from the source on."""
    source = policy.source.path
    inside = source is not None and file.is_relative_to(source.resolve())
    return str(file.relative_to(source.resolve())) if inside and source is not None else file.name
