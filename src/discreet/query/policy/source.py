"""Where the private tables of a policy are: what kind of source a path is, seen from names alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet.errors import PolicyError
from discreet.query.policy.declarations import Source, SourceKind

SUFFIXES = {SourceKind.PARQUET: (".parquet", ".pq"), SourceKind.CSV: (".csv", ".csv.gz")}
_REMEDY = "Write the path of a DuckDB file, of a folder of Parquet files or of a folder of CSV files"


def find_source(written: str, folder: Path) -> Source | str:
    """Return the source at a path, relative to a folder, or words for why there is none; no content is read."""
    path = folder / written
    try:
        if path.is_file():
            kind = _kind_of(path.name)
            if kind is not None:
                return f"is one {kind.value} file, and a table is a file in a folder. Write the folder"
            return Source(SourceKind.DUCKDB, path)
        if path.is_dir():
            return _of_folder(path)
    except (OSError, ValueError):
        return f"cannot be looked up. {_REMEDY}"
    return f"there is no such file or folder beside the policy file. {_REMEDY}"


def table_files(path: Path, kind: SourceKind, wanted: Sequence[str]) -> Iterator[tuple[str, list[Path]]]:
    """Yield every table that is wanted and there, with its files: NAME.parquet, or those of a folder NAME.

    Raises:
        PolicyError: where two files, or a file and a folder, are one table: its rows would count twice, or be left out.
    """
    here = _stems(path, kind)
    for name in wanted:
        if Path(name).name != name:
            continue
        files = [file for file in here.get(name, []) if not file.is_dir()]
        inner = _stems(path / name, kind) if (path / name).is_dir() else {}
        for alike in [files, *inner.values()]:
            if len(alike) > 1:
                _refuse(name, alike[0].name, alike[1].name)
        if files and inner:
            _refuse(name, files[0].name, f"{name}/")
        found = files or sorted(file for alike in inner.values() for file in alike)
        if found:
            yield name, [file.resolve() for file in found]


def table_names(path: Path, kind: SourceKind) -> list[str]:
    """Return the tables of a folder: the names of its files and of its folders of files, without endings."""
    folders = [entry.name for entry in path.iterdir() if entry.is_dir() and _stems(entry, kind)]
    files = [stem for stem, alike in _stems(path, kind).items() if not all(file.is_dir() for file in alike)]
    return sorted({*files, *folders})


def _stems(folder: Path, kind: SourceKind) -> dict[str, list[Path]]:
    """Return the files of a kind in a folder by their names without the ending, in capitals or not."""
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        ending = next((one for one in SUFFIXES[kind] if file.name.lower().endswith(one)), None)
        if ending is not None:
            found.setdefault(file.name[: -len(ending)], []).append(file)
    return found


def _refuse(table: str, one: str, other: str) -> None:
    words = f"{one!r} and {other!r} are both the table {table!r}, and its rows would be read twice or in part"
    raise PolicyError([(None, f"{words}. Remove one of them from the source.")])


def _kind_of(name: str) -> SourceKind | None:
    return next((kind for kind, endings in SUFFIXES.items() if name.lower().endswith(endings)), None)


def _of_folder(path: Path) -> Source | str:
    """Look at the names in a folder and in the folders in it."""
    kinds = set()
    for entry in os.scandir(path):
        inner = list(os.scandir(entry.path)) if entry.is_dir() else [entry]
        kinds |= {kind for one in inner if (kind := _kind_of(one.name)) is not None}
    if len(kinds) == 1:
        return Source(kinds.pop(), path)
    if kinds:
        return "is a folder with both Parquet and CSV files. Keep one kind in it"
    return f"is a folder without a .parquet or .csv file. {_REMEDY}"
