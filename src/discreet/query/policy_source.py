"""Where the private tables of a policy are: what kind of source a path is, seen from names alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet.query.policy import Source, SourceKind

SUFFIXES = {SourceKind.PARQUET: (".parquet", ".pq"), SourceKind.CSV: (".csv", ".csv.gz")}
_REMEDY = "Write the path of a DuckDB file, of a folder of Parquet files or of a folder of CSV files"


def find_source(written: str, folder: Path) -> Source | str:
    """Return the source a path stands for, relative to a folder, or words for why it is none; no content is read."""
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
    """Yield every table that is wanted and there, with its files: NAME.parquet, or those of a folder NAME."""
    for name in wanted:
        if Path(name).name != name:
            continue
        files = [path / (name + suffix) for suffix in SUFFIXES[kind] if (path / (name + suffix)).is_file()]
        if not files and (path / name).is_dir():
            files = sorted(file for file in (path / name).iterdir() if file.name.endswith(SUFFIXES[kind]))
        if files:
            yield name, [file.resolve() for file in files]


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
