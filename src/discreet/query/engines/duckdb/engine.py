"""The embedded engine: requests run on DuckDB, over a database file, Parquet, CSV or data frames.

A bounded table is made once, with a bounded number of rows of each unit, and then read by every query as it is.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet._optional import optional
from discreet.errors import ParameterError, PolicyError, QueryFailed, UnknownName
from discreet.query.csv_files import Copy, open_copies
from discreet.query.engines.duckdb.group_keys import salt_of
from discreet.query.engines.duckdb.rows import block
from discreet.query.engines.duckdb.source import MADE, PURPOSE, Resources, StoredTable, connect, lock, open_tables
from discreet.query.engines.duckdb.statements import (
    PACKED_BITS,
    SumStatement,
    histogram_statement,
    statement,
    values_statement,
)
from discreet.query.engines.duckdb.text import NAMES, indented, quoted, type_of
from discreet.query.engines.duckdb.units import Tables, unfit_columns, unit_of
from discreet.query.expression import Type, Value
from discreet.query.plan import Engine, HistogramRequest, Request, RowSource, SumRequest, Sums, ValuesRequest
from discreet.query.policy import LARGEST_DOMAIN, Policy, SourceKind

_Result = TypeVar("_Result")
_MOST_RENDERED = 64  # statements that wait to be run
_LONGEST_RENDERED = 1 << 16  # characters; a longer one is written again when it is run, and holds no memory until then
_LARGEST_DICTIONARY = 1 << 14
_FAILED = "the engine gave no answer; the price is spent. Ask the curator to look at the source"
_UNOPENED = "the source cannot be opened; check that the path names readable data of the stated kind"


class DuckDBEngine(Engine):
    """Sums of bounded rows by DuckDB, in this process; it reads the source and can reach nothing else.

    `threads` and `memory` (bytes) change speed only. What does not fit into memory is spilled into a folder that only
    this user can read, and that goes with the engine.
    """

    def __init__(
        self,
        policy: Policy,
        frames: Mapping[str, Any] | None = None,
        *,
        threads: int | None = None,
        memory: int | None = None,
        header_only: bool = False,
        fit: Callable[[Policy, Engine], Policy] | None = None,
    ) -> None:
        """Open the source that a policy names; frames are given by the names of their tables.

        CSV files are converted here if there is no copy of them yet. With `header_only` they are not, and have columns
        but no row, which is what a policy is completed from. `fit` completes the policy when the columns are known, and
        before anything is converted.
        """
        self._error = optional("duckdb", extra="sql", purpose=PURPOSE).Error
        self._folder = Path(tempfile.mkdtemp(prefix="discreet-"))
        copies: dict[str, Copy] = {}
        self._gone = weakref.finalize(self, _leave, self._folder, copies)
        self._lock = threading.RLock()
        self._connection = connect(Resources(threads, memory, self._folder))
        self._bounded: dict[str, StoredTable] = {}
        self._domains: set[str] = set()
        self._rendered: OrderedDict[int, tuple[object, SumStatement]] = OrderedDict()
        self._salt = salt_of(policy.lineage)
        converts = policy.source.kind is SourceKind.CSV and not header_only
        self._tables = Tables(policy, {}, self._bounded)
        try:
            if fit is not None or not converts:
                reached = self._open(policy, frames, None)
            if fit is not None:
                policy = fit(policy, self)
            if converts:
                copies |= open_copies(policy, self._folder)
                reached = self._open(policy, frames, copies)
            lock(self._connection, reached)
        except BaseException:
            self.close()
            raise
        self._tables = replace(self._tables, policy=policy)

    def _open(self, policy: Policy, frames: Mapping[str, Any] | None, copies: Mapping[str, Copy] | None) -> list[Path]:
        """Open the tables and return the files that they are in."""
        opened = self._outcome(lambda: open_tables(self._connection, policy, frames, copies))
        if opened is None:
            raise PolicyError([(None, _UNOPENED)])
        tables, reached = opened
        self._tables = Tables(policy, tables, self._bounded)
        return reached

    @property
    def policy(self) -> Policy:
        """The policy, as it was completed."""
        return self._tables.policy

    def schema(self, table: str) -> Mapping[str, Type]:
        """Return the columns of a table that can be queried, and their types; those of CSV files are texts."""
        kinds = {name: type_of(stated) for name, stated in self._tables.of(table).columns.items()}
        return {name: kind for name, kind in kinds.items() if kind is not None}

    def unfit(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table whose type cannot name a unit, and DuckDB's name of it."""
        return unfit_columns(self._tables.of(table))

    def text(self, request: Request) -> str:
        """Return the statement that `run` or `histogram` executes; it is kept until then."""
        made = self._statement(request)
        if len(made.text) + sum(len(domain.text) for domain in made.domains) <= _LONGEST_RENDERED:
            self._rendered[id(request)] = request, made
        if len(self._rendered) > _MOST_RENDERED:
            self._rendered.popitem(last=False)
        return made.text

    def run(self, request: SumRequest | ValuesRequest) -> Sums:
        """Return the exact sums, one group for no keys, also over no rows."""
        asked = self._statement(request)
        listed = self._fetched(asked, lambda result: result.fetchall())
        width = 1 if asked.code is not None else len(asked.keys)
        keys = [_key(asked, row[:width]) for row in listed]
        if not asked.keys and not listed:
            return Sums([()], [[0] for _ in asked.cells])
        cells: list[list[int]] = []
        for factors in asked.cells:
            columns = range(width, width + len(factors))
            cells.append([sum(f * (row[c] or 0) for f, c in zip(factors, columns, strict=True)) for row in listed])
            width += len(factors)
        return Sums(keys, cells)

    def histogram(self, request: HistogramRequest) -> dict[tuple[Value, ...], tuple[Any, Any]]:
        """Return the occupied positions of every group with rows, and their weights."""
        asked = self._statement(request)
        columns = list(self._fetched(asked, lambda result: result.fetchnumpy()).values())
        if not asked.keys:
            places, weights = (np.ma.getdata(one)[~np.ma.getmaskarray(columns[-2])] for one in columns[-2:])
            order = np.argsort(places)
            return {(): (places[order].astype(np.int64), weights[order].astype(np.int64))}
        kinds = [Type.INTEGER] if asked.code is not None else [key.expression.type for key in asked.keys]
        listed = map(_listed, columns, kinds)
        keys = [_key(asked, key) for key in zip(*listed, strict=True)]
        return {key: _histogram(*arrays) for key, *arrays in zip(keys, *columns[len(kinds) :], strict=True)}

    def rows(self, source: RowSource, columns: Sequence[str]) -> dict[str, Any]:
        """Return columns of rows as arrays, masked where a value is NULL, with the unit under the name "unit"."""
        below = block(self._tables, source, frozenset(columns), None).nested()
        items = [f"{below.columns[name]} AS c_{index}" for index, name in enumerate(columns)]
        text = below.select([*items, f"{below.unit or 'NULL'} AS unit"])
        arrays = self._answered(lambda: self._connection.execute(text).fetchnumpy())
        *values, unit = arrays.values()
        answer = dict(zip(columns, values, strict=True))
        return answer | {"unit": np.arange(len(unit)) if below.unit is None else np.ma.getdata(unit)}

    def bound(self, table: str, rows: int) -> str:
        """Make, once, a table with at most `rows` rows of each unit, and return its name for `SumRequest.bounded`."""
        handle = f"{table}, {rows} rows a unit"
        with self._lock:
            if handle not in self._bounded:
                name = f"{MADE}.bounded_{len(self._bounded) + 1}"
                made = bounded_table(self._tables, table, rows, name=name, salt=self._salt)
                self._bounded[handle] = self._answered(lambda: self._made(made))
        return handle

    def unique_violated(self, table: str, columns: Sequence[str]) -> bool:
        """Say whether two rows of a public table agree on columns that are declared unique; NULL agrees with none."""
        if table not in self._tables.policy.public:
            raise UnknownName(f"the policy has no public table {table!r}")
        texts = [f"{self._tables.read(table, name, 't')} AS {quoted(name)}" for name in columns]
        there = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in columns)
        names = ", ".join(quoted(name) for name in columns)
        counted = (
            f"SELECT count(*) FROM (SELECT {names} FROM (SELECT {', '.join(texts)} "
            f"FROM {self._tables.of(table).name} AS t) WHERE {there} GROUP BY {names} HAVING count(*) > 1)"
        )
        return bool(self._answered(lambda: self._connection.execute(counted).fetchall())[0][0])

    def public_rows(self, table: str, columns: tuple[str, ...]) -> tuple[tuple[Value, ...], ...] | None:
        """Return columns of a public table, each row once, in order, NULL last; None where they are too many."""
        if table not in self._tables.policy.public:
            raise UnknownName(f"the policy has no public table {table!r}")
        read = ", ".join(f"{self._tables.read(table, one, 't')} AS v{place}" for place, one in enumerate(columns))
        names = ", ".join(f"v{place} NULLS LAST" for place in range(len(columns)))
        rows = f"SELECT DISTINCT * FROM (SELECT {read} FROM {self._tables.of(table).name} AS t)"
        listed = f"{rows} ORDER BY {names} LIMIT {LARGEST_DOMAIN + 2}"
        found = self._outcome(lambda: self._connection.execute(listed).fetchall())
        return None if found is None or len(found) > LARGEST_DOMAIN + 1 else tuple(found)

    def close(self) -> None:
        """Let go of the database and of everything spilled."""
        with self._lock:
            self._connection.close()
            self._gone()

    def _made(self, table: BoundedTable) -> StoredTable:
        """Make a bounded table; texts with few values are kept as numbers, by which groups are found faster."""
        dictionaries: dict[str, str] = {}
        counts = self._connection.execute(table.distinct).fetchall()[0] if table.texts else ()
        for column, count in zip(table.texts, counts, strict=True):
            if 1 <= count <= _LARGEST_DICTIONARY:
                dictionaries[column], text = table.dictionary(column)
                self._connection.execute(f"DROP TYPE IF EXISTS {dictionaries[column]}")  # of an attempt that was ended
                self._connection.execute(text)
        self._connection.execute(table.made_with(dictionaries))
        return StoredTable(table.name, table.stored)

    def _statement(self, request: Request) -> SumStatement:
        """Return the statement of a request, and forget it where it was kept: a request is run once."""
        kept, made = self._rendered.pop(id(request), (None, None))
        if kept is request and made is not None:
            return made
        if isinstance(request, SumRequest):
            return statement(self._tables, request, self._salt)
        if isinstance(request, ValuesRequest):
            return values_statement(self._tables, request, self._salt)
        return histogram_statement(self._tables, request, self._salt)

    def _fetched(self, asked: SumStatement, fetch: Callable[[Any], _Result]) -> _Result:
        """Make the tables of public domains that a statement joins, and run it."""

        def run() -> _Result:
            for domain in asked.domains:
                if domain.name not in self._domains:
                    self._connection.execute(domain.text)
                    self._domains.add(domain.name)
            return fetch(self._connection.execute(asked.text))

        return self._answered(run)

    def _answered(self, call: Callable[[], _Result]) -> _Result:
        """Return what a call gives; where DuckDB fails, say the same whatever the reason."""
        result = self._outcome(call)
        if result is None:
            raise QueryFailed(_FAILED)
        return result

    def _outcome(self, call: Callable[[], _Result]) -> _Result | None:
        """Return what a call gives, or None where DuckDB raised: its message may show data, so it is let go here.

        The call runs in a thread of its own, so that an interrupt of this one ends the query at once.
        """
        results: list[_Result] = []
        problems: list[BaseException] = []
        done = threading.Event()

        def work() -> None:
            try:
                results.append(call())
            except self._error:
                pass
            except BaseException as problem:
                problems.append(problem)
            finally:
                done.set()

        with self._lock:
            thread = threading.Thread(target=work, daemon=True)
            try:
                thread.start()
                done.wait()
            except BaseException:
                while not done.wait(0.05):
                    self._connection.interrupt()
                raise
        for problem in problems:
            raise problem
        return results[0] if results else None


def _leave(folder: Path, copies: Mapping[str, Copy]) -> None:
    """Remove what was spilled, and let go of the copies of CSV files."""
    for copy in copies.values():
        copy.release()
    shutil.rmtree(folder, ignore_errors=True)


def _key(asked: SumStatement, values: Sequence[Any]) -> tuple[Value, ...]:
    """Return the key of a group; one number may stand for the places of all keys in their domains."""
    if not asked.keys:
        return ()
    if asked.code is None:
        return tuple(values)
    place, key = int(values[0]), []
    for stated, size in zip(reversed(asked.keys), reversed(asked.code), strict=True):
        place, index = divmod(place, size)
        key.append((stated.domain or ())[index])
    return tuple(reversed(key))


def _histogram(first: Any, weights: Any = None) -> tuple[Any, Any]:
    """Return positions and weights of a group, from lists of both, or from one of rows that hold both in a number."""
    if weights is not None:
        return first.astype(np.int64), weights.astype(np.int64)
    packed = np.sort(first)
    places, each = packed >> PACKED_BITS, packed & ((1 << PACKED_BITS) - 1)
    starts = np.flatnonzero(places[1:] != places[:-1]) + 1
    starts = np.concatenate([[0], starts]) if places.size else starts
    return places[starts], np.add.reduceat(each, starts) if places.size else each


def _listed(column: Any, kind: Type) -> list[Any]:
    """Return a column as Python values, None for NULL."""
    precision = {Type.DATE: "datetime64[D]", Type.TIMESTAMP: "datetime64[us]"}.get(kind)
    values: list[Any] = (column if precision is None else column.astype(precision)).tolist()
    if kind is Type.TEXT:  # NULL among texts that are kept as numbers comes as NaN
        return [value if isinstance(value, str) else None for value in values]
    return values


@dataclass(frozen=True, slots=True)
class BoundedTable:
    """How a bounded table is made from a private one: its columns, and the statements."""

    name: str
    columns: Mapping[str, Type]
    everything: str  # the rows as they are read: their unit, and their columns as x_1, x_2, ...
    rows: int
    salt: int

    @property
    def distinct(self) -> str:
        """The statement that counts the values of every text column, so that few are kept as numbers."""
        counts = ", ".join(f"count(DISTINCT {self._own(name)})" for name in self.texts)
        return f"SELECT {counts} FROM (\n{indented(self.everything)}\n)"

    @property
    def texts(self) -> list[str]:
        """The text columns."""
        return [name for name, kind in self.columns.items() if kind is Type.TEXT]

    @property
    def stored(self) -> dict[str, str]:
        """The columns with the names of their types; which texts are kept as numbers is not shown."""
        return {name: NAMES[kind] for name, kind in self.columns.items()}

    def dictionary(self, column: str) -> tuple[str, str]:
        """Return the name of the type that holds the values of a text column, and the statement that makes it."""
        own = self._own(column)
        name = f"{self.name}_{own}"
        values = f"SELECT DISTINCT {own} AS value FROM (\n{indented(self.everything)}\n) WHERE {own} IS NOT NULL"
        return name, f"CREATE TYPE {name} AS ENUM ({values} ORDER BY value)"

    def made_with(self, dictionaries: Mapping[str, str]) -> str:
        """Return the statement that makes the table; columns in `dictionaries` are kept as numbers.

        Stability. Removing a unit removes at most `rows` rows and changes no other.
            Proof: a unit with more rows keeps the first of them by (hash, columns), an order that rests on the contents
            of its own rows; rows that tie in it are equal, so it does not matter which of them stays. The two zeros of
            reals, which compare as equal, are told apart by their sign.
        """
        names = [self._own(name) for name in self.columns]
        listed = ", ".join(names) or "1"
        signs = [f"signbit({self._own(name)})" for name, kind in self.columns.items() if kind is Type.REAL]
        compared = [f"{name} NULLS LAST" for name in [*names, *signs]]
        order = ", ".join([f"hash({', '.join([str(self.salt), *names])})", *compared])
        kept = ", ".join(
            f"CAST({self._own(name)} AS {dictionaries[name]}) AS {quoted(name)}"
            if name in dictionaries
            else f"{self._own(name)} AS {quoted(name)}"
            for name in self.columns
        )
        return f"""CREATE TABLE {self.name} AS
WITH rows AS NOT MATERIALIZED (
{indented(self.everything)}
),
many AS (
    SELECT unit FROM rows GROUP BY unit HAVING count(*) > {self.rows}
),
kept AS (
    SELECT {listed} FROM rows ANTI JOIN many USING (unit)
    UNION ALL
    SELECT {listed} FROM rows SEMI JOIN many USING (unit)
    QUALIFY row_number() OVER (PARTITION BY unit ORDER BY {order}) <= {self.rows}
)
SELECT {kept or "1"} FROM kept"""

    def _own(self, column: str) -> str:
        """Return what a column is called while the table is made."""
        return f"x_{list(self.columns).index(column) + 1}"


def bounded_table(tables: Tables, table: str, rows: int, *, name: str, salt: int) -> BoundedTable:
    """Return how to make a table with at most `rows` rows of each unit of a private one."""
    if table not in tables.policy.tables:
        raise UnknownName(f"the policy has no private table {table!r}")
    text, unit = unit_of(tables, table)
    if unit is None or not 1 <= rows <= 1 << 40:
        raise ParameterError("a table is bounded where its unit is named by a column, to 1 row of a unit or more")
    stored = tables.of(table).columns
    columns = {column: tables.type_of(table, column) for column in stored if type_of(stored[column]) is not None}
    items = [f"{tables.read(table, column, 't')} AS x_{place}" for place, column in enumerate(columns, 1)]
    listed = ", ".join([*items, f"{unit.text} AS unit"])
    everything = f"SELECT {listed}\nFROM {text}\nWHERE {unit.text} IS NOT NULL"
    return BoundedTable(name, columns, everything, rows, salt)
