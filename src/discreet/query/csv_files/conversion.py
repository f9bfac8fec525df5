"""Write the records of CSV files into one Parquet file: texts only, in batches, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from discreet._optional import optional
from discreet.query.csv_files.reader import CsvRecords, Fault, UnreadableFile
from discreet.query.policy import CsvFormat

PURPOSE = "converting CSV files"
_BATCH = 2**23  # characters that are held before they are written
_CELL = 16  # characters that a cell counts for besides its own, so that very short ones do not pile up


def stored_name(place: int) -> str:
    """Return the name of a column of the copy: its place, since a name of the source may be anything."""
    return f"c{place}"


def write_records(target: BinaryIO, files: Sequence[Path], names: Sequence[str], stated: CsvFormat) -> None:
    """Write every record behind the headers: a short one is filled with NULLs, surplus cells are left out.

    An empty cell is NULL, with quotes around it or without: Python's reader does not tell them apart.
    """
    arrow = optional("pyarrow", extra="sql", purpose=PURPOSE)
    parquet = optional("pyarrow.parquet", extra="sql", purpose=PURPOSE)
    schema = arrow.schema([(stored_name(place), arrow.string()) for place in range(len(names))])
    with parquet.ParquetWriter(target, schema) as writer:
        for file in files:
            for cells in _batches(file, list(names), stated):
                writer.write_table(_table(cells, schema))


def _batches(file: Path, names: list[str], stated: CsvFormat) -> Iterator[list[str]]:
    """Yield the cells of many records, one after the other; each record has as many as there are names."""
    records = CsvRecords(file, stated)
    cells: list[str] = []  # one list, since very many short ones keep the garbage collector busy
    width, written, header = len(names), 0, True
    for record in records:
        if header:
            header = False
            if record != names:  # it was read a moment ago: the file is being changed
                raise UnreadableFile(file, Fault("its first line changed while it was read"))
            continue
        if len(record) != width:
            record = (record + [""] * (width - len(record)))[:width]  # noqa: PLW2901 - the same record, made to fit
        cells += record
        if records.characters - written + _CELL * len(cells) > _BATCH:
            yield cells
            cells, written = [], records.characters
    if cells:
        yield cells


def _table(cells: list[str], schema: Any) -> Any:
    """Return records as an Arrow table, empty cells as NULL."""
    arrow, compute = (optional(name, extra="sql", purpose=PURPOSE) for name in ("pyarrow", "pyarrow.compute"))
    nothing = arrow.scalar(None, arrow.string())
    columns = []
    for place in range(len(schema)):
        texts = arrow.array(cells[place :: len(schema)], arrow.string())
        columns.append(compute.if_else(compute.equal(texts, ""), nothing, texts))
    return arrow.Table.from_arrays(columns, schema=schema)
