"""Policies over CSV files, files with hostile cells, and the exact sums before noise."""

from __future__ import annotations

import csv
import gzip
import io
import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from discreet.ledger import MemoryLedger
from discreet.query import Session
from discreet.query.csv_files.copies import CsvTable, temporary_copy
from discreet.query.csv_files.reader import UnreadableFile
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.engines.duckdb.source import csv_select
from discreet.query.plan.request import SumRequest
from discreet.query.policy import terms_of
from discreet.query.policy.csv_format import CsvFormat
from discreet.query.policy.declarations import Policy, Source, SourceKind
from discreet.query.policy.file import read_policy
from discreet.query.pricing.price import read_price
from discreet.query.session.opening import with_source

POLICY = """[data]
source = "data"
lineage = "people"
version = "{version}"
{csv}
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 100
ledger = "ledger.sqlite"
[analysts]
ana = {{}}
[tables.t]
unit = "uid"
rows = {rows}
groups = 1
rows_per_group = 1
[tables.t.columns]
uid = {{type = "text"}}
k = {{type = "text"}}
x = {{type = "real", min = 0, max = 10}}
"""
HEADER = ["uid", "k", "x"]
COUNT = "SELECT COUNT(*) AS n FROM t"
PEOPLE = "SELECT COUNT(DISTINCT uid) AS n FROM t"
SUM = "SELECT SUM(x) AS s FROM t"
ENDS = ("\n", "\r\n", "\r")
HOSTILE = (
    "", " ", "a", "5", "-1", "1e999", "nan", "é", "\u2028", "\x85", "\x0b", "\x1c", "\ufeff", "NULL", "=1+1", "#", "\\",
    "\n", "\r", "\r\n", "\n\n", ",", ";", "\t", '"', '""', '"\n', '\n"', "'", "x\np1,b,5", "x\r\np2,b,5\r\n",
    'x"\np3,b,5\n"', "\rp4,b,5\r", "p5,b,5", "x" * 3000 + "\n" + "p6,b,5\n" * 200, "\0", "😀",
)  # fmt: skip


def written(
    folder: Path, content: bytes, *, name: str = "t.csv", csv: str = "", rows: int = 2, version: str = "1"
) -> Path:
    """Write one table and its policy; return the path of the policy."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "data" / name).parent.mkdir(exist_ok=True)
    (folder / "data" / name).write_bytes(content)
    policy = folder / "policy.toml"
    policy.write_text(POLICY.format(csv=csv, rows=rows, version=version), encoding="utf-8")
    return policy


def opened(policy: Path) -> Session:
    return Session.open(policy, analyst="ana")


class Prices:
    """A policy with many tables, and what its questions ask of an engine before noise.

    `asked` maps a table and a question to the request and to how far one person may move its integer.
    """

    def __init__(self, folder: Path, *, rows: int, tables: int = 1) -> None:
        path = written(folder, b"uid,k,x\n", rows=rows)
        head, table = path.read_text(encoding="utf-8").split("[tables.t]")
        self.names = [f"t{place}" for place in range(tables)]
        more = (f"[tables.{name}]{table.replace('[tables.t.', f'[tables.{name}.')}" for name in self.names)
        path.write_text(head + "".join(more), encoding="utf-8")
        for name in self.names:
            (folder / "data" / f"{name}.csv").write_bytes(b"uid,k,x\n")
        policy, engine = with_source(read_policy(path))
        self.policy: Policy = replace(policy, ledger=None)
        session = Session(self.policy, analyst="ana", engine=engine, ledger=MemoryLedger(terms_of(self.policy)))
        self.asked: dict[tuple[str, str], tuple[SumRequest, int]] = {}
        for name, sql in product(self.names, (COUNT, PEOPLE, SUM)):
            made = session._charging.priced(sql.replace("FROM t", f"FROM {name}"), read_price(epsilon=1))
            (measure,) = made.measures
            self.asked[name, sql] = made.request(), measure.bounding.total * measure.norms.one
        session.close()

    def sums(self, folder: Path, csv: CsvFormat) -> dict[tuple[str, str], int]:
        """Return the integers that would get noise, of the tables that are there."""
        engine = DuckDBEngine(replace(self.policy, source=Source(SourceKind.CSV, folder, csv)), threads=1)
        try:
            return {
                (name, sql): int(engine.run(request).cells[0][0])
                for (name, sql), (request, _) in self.asked.items()
                if engine.has(name)
            }
        finally:
            engine.close()


def read_alone(path: Path, form: CsvFormat, connection: Any) -> list[tuple[str | None, ...]] | None:
    """Return the rows of a file as the engine's view has them, None where the file is refused."""
    table = CsvTable("t", (path,), form, "1", path.parent)
    try:
        copy = temporary_copy(path.parent, table)
    except UnreadableFile:
        return None
    rows: list[tuple[str | None, ...]] = connection.execute(
        csv_select(copy, numeric={"x"}, decimal=form.decimal)
    ).fetchall()
    copy.path.unlink()
    return rows


def a_format(source: random.Random) -> CsvFormat:
    delimiter, quote = source.choice(",,,;\t|"), source.choice('"""\'')
    return CsvFormat(delimiter, quote, source.choice(".,"), source.choice(["utf-8", "utf-8", "utf-16", "iso8859-1"]))


def a_record(source: random.Random, unit: str | None = None) -> list[str]:
    cells = [
        "".join(source.choices(HOSTILE, k=source.choice([1, 1, 2, 3]))) for _ in range(source.choice([2, 2, 1, 4]))
    ]
    return [source.choice(HOSTILE) if unit is None else unit, *cells]


def texts_of(source: random.Random, records: list[list[str]], form: CsvFormat) -> list[str]:
    """Return a header and records as Python's writer has them, which quotes its own line end and may quote no other."""
    end = source.choice(ENDS)
    return [one_text(source, record, form, end) for record in [HEADER, *records]]


def one_text(source: random.Random, record: list[str], form: CsvFormat, end: str) -> str:
    """Return one record, now and then with a blank line behind it."""
    text, quoting = io.StringIO(newline=""), source.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    options = {"delimiter": form.delimiter, "quotechar": form.quote, "lineterminator": end, "quoting": quoting}
    csv.writer(text, **options).writerow(record)  # type: ignore[arg-type]
    return text.getvalue() + (end if source.random() < 0.1 else "")


def broken(source: random.Random, text: str, form: CsvFormat) -> str:
    """Return a text with a few characters put in or taken out."""
    for _ in range(source.choice([1, 1, 2, 5])):
        place = source.randrange(len(text) + 1)
        text = text[:place] + source.choice([form.quote, form.delimiter, *ENDS, "a", "\0", ""]) + text[place + 1 :]
    return text


def stored(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, 1) if path.name.endswith(".gz") else content)


def oracle(content: bytes, form: CsvFormat) -> list[list[str]] | None:
    """Return the records behind the header as Python's csv module gives them, None where it refuses."""
    with io.TextIOWrapper(io.BytesIO(content), encoding=form.codec, newline="") as stream:
        try:
            read = list(csv.reader(stream, strict=True, delimiter=form.delimiter, quotechar=form.quote))
        except (csv.Error, UnicodeError):
            return None
    return [record for record in read if record][1:]


def doubtful(content: bytes, form: CsvFormat) -> bool:
    """Say whether a file has NUL, or records that end with a carriage return alone and others that do not."""
    text = content.decode(form.codec)
    with io.StringIO(text, newline="") as stream:
        lines = list(stream)
    reader = csv.reader(lines, strict=True, delimiter=form.delimiter, quotechar=form.quote)
    ends = {lines[reader.line_num - 1][-1] for record in reader if record}
    return "\0" in text or {"\r", "\n"} <= ends
