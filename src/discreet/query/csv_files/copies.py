"""The private copy of a CSV table: where it lies, what it belongs to, and when a source has left it behind.

A copy is a Parquet file, and beside it a note that says what it was made from: the version of the policy, the format,
and the places, sizes and times of the source's files. The note is written last and replaced as a whole, so that a copy
without one was never finished. What the files say is not hashed: a fingerprint of private rows would tell of them.

The answers in a ledger are those of a table's name and a version, whatever the source. So a note belongs to a name,
keeps what every version was made from when its copy is long gone, and is never removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from discreet.errors import PolicyError
from discreet.query.csv_files.conversion import write_records
from discreet.query.csv_files.reader import Fault, UnreadableFile, header_of
from discreet.query.policy import CsvFormat
from discreet.randomness import bits

_FORM = 2  # of the copies and notes
_MOST_VERSIONS = 10_000  # of one table that a note remembers, 140 bytes each; one more is refused, since none may go
_OWNER_ONLY, _OWNER_FOLDER = 0o600, 0o700


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table of CSV files, and what its copy is bound to."""

    name: str
    files: tuple[Path, ...]
    stated: CsvFormat
    version: str
    source: Path

    @property
    def key(self) -> str:
        """What its note and copies are called by: its name alone, as two sources of one name would share answers."""
        return _fingerprint(self.name)[:24]

    def state(self, folder: Path) -> list[list[Any]]:
        """Return place, size and time of every file of the source; places are seen from the folder of the copies."""
        found = []
        for file in self.files:
            try:
                place, seen = _place(file, folder), file.stat()
            except OSError as problem:
                raise PolicyError([(None, f"the CSV file {file.name!r} cannot be read: {problem.strerror}")]) from None
            found.append([place, seen.st_size, seen.st_mtime_ns])
        return found


@dataclass(frozen=True, slots=True)
class Copy:
    """A complete copy: its file, the names of its columns, and a descriptor that keeps it from being removed."""

    path: Path
    columns: tuple[str, ...]
    descriptor: int | None = None

    def release(self) -> None:
        """Let go of the copy; a later conversion may remove it."""
        if self.descriptor is not None:
            with suppress(OSError):
                os.close(self.descriptor)


class Outdated(Exception):
    """A copy was made for this version, but from another state of the source; or nobody can tell any more."""


def ledger_folder(ledger: Path) -> Path:
    """Return the folder beside a ledger in which the copies lie, made for its owner only."""
    place = ledger.resolve()
    folder = place.with_name(place.name + ".copies")
    problem = None
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=_OWNER_FOLDER)
        seen = folder.lstat()
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o077:
            problem = "it must be a folder that belongs to this user and that nobody else may enter (mode 700)"
    except OSError as error:
        problem = str(error.strerror)
    if problem is not None:
        words = f"the copies of the CSV files cannot be kept in {folder.name!r} beside the ledger: {problem}"
        raise PolicyError([(None, f"{words}. Remove it, or name a ledger in another folder")])
    return folder


def current_copy(folder: Path, table: CsvTable) -> Copy:
    """Return the copy of a table, made now if there is none for this version.

    Raise `Outdated` where there is one and the source was changed since, `UnreadableFile` where the source is not CSV.
    """
    found = _held(folder, table)
    if found is not None:
        return found
    with _exclusively(folder, table.key):
        return _held(folder, table) or _convert(folder, table, anew=False)


def convert_anew(folder: Path, table: CsvTable) -> None:
    """Replace the copy of a table, whatever it was made from; one that a session reads is removed by a later call."""
    with _exclusively(folder, table.key):
        _convert(folder, table, anew=True).release()


def temporary_copy(folder: Path, table: CsvTable) -> Copy:
    """Return a copy in a folder that only this process uses, and removes; for a policy whose ledger is in memory."""
    path, names, _ = _converted(folder, table, durable=False)
    return Copy(path, tuple(names))


def forget_others(folder: Path, source: Path, kept: Iterable[str]) -> None:
    """Remove the copies of tables of a source that its policy no longer names, unless a session reads them."""
    place = _place(source, folder)
    for key in {path.stem for path in folder.glob("*.json")} - set(kept):
        with _exclusively(folder, key):
            note = _note(folder, key)
            if note is not None and note.get("source") == place:
                _sweep(folder, key, keep=None)


def _convert(folder: Path, table: CsvTable, *, anew: bool) -> Copy:
    """Write the copy, then the note; the caller holds the lock of the table."""
    note = _note(folder, table.key)
    if note is None and not anew:
        raise Outdated(table.name)
    known, version = dict((note or {}).get("known", {})), _fingerprint(table.version)
    if version not in known and len(known) >= _MOST_VERSIONS:
        words = f"{_MOST_VERSIONS} versions of {table.name!r} were converted beside this ledger, the most it keeps"
        raise PolicyError([(None, f"{words}. Name a version that was used before, or begin a new ledger")])
    _sweep(folder, table.key, keep=(note or {}).get("copy"))
    path, names, state = _converted(folder, table, durable=True)
    binding = _binding(table, state)
    if not anew and known.get(version, binding) != binding:  # changed since it was looked at
        path.unlink()
        raise Outdated(table.name)
    known[version] = binding
    made = {"version": table.version, "columns": names, "copy": path.name, "size": path.stat().st_size}
    fresh = {"form": _FORM, "source": _place(table.source, folder), "known": known, **made}
    _write(folder / f"{table.key}.json", lambda file: file.write(json.dumps(fresh).encode()), durable=True)
    _sweep(folder, table.key, keep=path.name)
    return Copy(path, tuple(names), _hold(path))


def _converted(folder: Path, table: CsvTable, *, durable: bool) -> tuple[Path, list[str], list[list[Any]]]:
    """Write the copy alone; return its path, its columns and the state of the source that it was made from."""
    names = header_of(table.name, table.files, table.stated)
    before = table.state(folder)
    path = folder / f"{table.key}-{_fresh_name()}.copy"  # no name of a source: the ledger may lie in one
    _write(path, lambda file: write_records(file, table.files, names, table.stated), durable=durable)
    if table.state(folder) != before:
        path.unlink()
        raise UnreadableFile(table.files[0], Fault("the source was changed while it was read"))
    return path, names, before


def _held(folder: Path, table: CsvTable) -> Copy | None:
    """Return the copy that the note names, held; None where one is to be made for this version."""
    while True:
        note = _note(folder, table.key)
        if note is None:
            raise Outdated(table.name)
        made_from = note.get("known", {}).get(_fingerprint(table.version))
        if made_from is None:
            return None
        if made_from != _binding(table, table.state(folder)):
            raise Outdated(table.name)
        if note["version"] != table.version:
            return None
        path = folder / note["copy"]
        descriptor = _hold(path)
        if descriptor is not None and path.exists() and os.fstat(descriptor).st_size == note["size"]:
            return Copy(path, tuple(note["columns"]), descriptor)
        if descriptor is not None:
            os.close(descriptor)
        if _note(folder, table.key) == note:  # nobody replaced it meanwhile: the copy is gone or damaged
            return None


def _binding(table: CsvTable, state: list[list[Any]]) -> str:
    """Return what the copy of a version belongs to, in few characters however many files there are."""
    return _fingerprint(json.dumps([asdict(table.stated), state], sort_keys=True))


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _place(path: Path, folder: Path) -> str:
    """Return where a path leads, seen from a folder: links are followed, and all may be moved together."""
    return os.path.relpath(path.resolve(), folder.resolve())


def _note(folder: Path, key: str) -> dict[str, Any] | None:
    """Return a note, an empty one where none was written, None where one was and it cannot be understood."""
    try:
        found = json.loads((folder / f"{key}.json").read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        return None
    parts = {"form": int, "source": str, "known": dict, "version": str, "columns": list, "copy": str, "size": int}
    whole = isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in parts.items())
    return found if whole and found["form"] == _FORM else None


def _hold(path: Path) -> int | None:
    """Return a descriptor with a shared lock on a copy, None where it is gone or being removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _sweep(folder: Path, key: str, *, keep: str | None) -> None:
    """Remove the copies of a table that nobody reads, and what a crash left; the caller holds the lock of the table."""
    for path in folder.iterdir():
        if path.name.startswith(f"{key}-") and path.name != keep:
            descriptor = _hold(path)
            if descriptor is None:
                continue
            try:
                with suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
            finally:
                os.close(descriptor)


def _fresh_name() -> str:
    """Return a name that no other file has."""
    return f"{bits(64):016x}"


def _write(path: Path, write: Callable[[BinaryIO], object], *, durable: bool) -> None:
    """Write a file for its owner only: under another name, synchronized where it is to last, then renamed."""
    fresh = path.with_name(f"{path.stem}-{_fresh_name()}.part")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    if durable:
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _exclusively(folder: Path, key: str) -> Iterator[None]:
    """Wait for, and hold, the lock of a table; the system frees it when its holder dies."""
    descriptor = os.open(folder / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
