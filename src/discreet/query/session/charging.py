"""Where a session charges, reads, stores and hands out: the steps between a question and its answer, in their order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from discreet.errors import (
    BudgetExceeded,
    MissingParameter,
    NotCopyable,
    ParameterError,
    PolicyError,
    QueryFailed,
    QueryRefused,
    ReleaseSuperseded,
    UnknownName,
    UnsupportedSQL,
)
from discreet.ledger import Charge, Ledger, Stored
from discreet.ledger import Request as LedgerRequest
from discreet.ledger.contract import GRANTED
from discreet.privacy import Guarantee, Price
from discreet.privacy.guarantees import in_words
from discreet.query.answer import Record, guarantee_together
from discreet.query.engines import check_written, evaluate
from discreet.query.expression import Value
from discreet.query.plan import (
    LARGEST_BOUND,
    Engine,
    PublicJoin,
    QueryPlan,
    UnionOfAnswers,
    needs_groups,
    stated_limits,
)
from discreet.query.policy import Policy, TablePolicy, UnitIsRow, UnitLimits
from discreet.query.pricing import PricedQuery, fresh_digest, nothing_spent, one_of, priced, shown_unchanged
from discreet.query.reading import read_answers, read_query

TIMEOUT = 600.0  # seconds that a question waits for the same question in flight, unless `timeout` is given
_LONGEST_WAIT = 366 * 86_400.0

FAILED = (
    "the engine gave no answer. Whether it does can depend on the data, so the price stays spent and this session asks "
    "it nothing more: tell the curator, and open another session to ask again, at the price of a new release."
)

UNBOUNDED = (
    "the engine made no bounded table. Whether it does can depend on the data, so this session asks it nothing more. "
    "Nothing was spent."
)


class Charging:
    """What an analyst asks of one engine, charged in one ledger; a `Session` has one.

    Every release takes the same steps: what can be refused is refused; the charge is durable; data is read; the answer
    is stored; only then it is returned.
    """

    def __init__(self, policy: Policy, *, analyst: str, engine: Engine, ledger: Ledger) -> None:
        if analyst not in policy.analysts:
            names = ", ".join(policy.analysts)
            raise UnknownName(
                f"{analyst!r} is not among the analysts of the policy ({names}). The curator adds a line under "
                "[analysts]."
            )
        self.policy, self.analyst, self.engine, self.ledger = policy, analyst, engine, ledger
        self.last: Guarantee | None = None  # the cost of the last release
        self.closed = False
        self._failed = False
        self._bounded: dict[str, tuple[str, int]] = {}
        self._unique: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._listed: dict[tuple[str, tuple[str, ...]], tuple[tuple[Value, ...], ...] | None] = {}
        self._lock = threading.RLock()

    @cached_property
    def opening(self) -> str:
        """The hash of the first entry of the ledger, which no other ledger has."""
        return next(iter(self.ledger.entries())).hash

    def priced(
        self,
        sql: str,
        price: Price,
        *,
        rows_expected: int | None = None,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        sums: Mapping[str, Any] | None = None,
        limits: Mapping[str, int | None] | None = None,
        bias: bool = False,
    ) -> PricedQuery:
        """Read and price a query; no data is touched. With bounds of its own it does not ask a bounded table."""
        query = self.read(sql, bounds=bounds, keys=keys, sums=sums)
        return self.priced_plan(query, price, rows_expected=rows_expected, limits=limits, bias=bias)

    def priced_plan(
        self,
        query: QueryPlan,
        price: Price,
        *,
        rows_expected: int | None = None,
        limits: Mapping[str, int | None] | None = None,
        bias: bool = False,
    ) -> PricedQuery:
        """Price a query that was read."""
        for step in query.finish:
            check_written(step.computed)
        stated = _limits(**(limits or {}))
        if not isinstance(bias, bool):
            raise ParameterError("bias must be True or False. Nothing was spent.", parameter="bias")
        if bias and query.totals:
            raise UnsupportedSQL(
                "bias=True says how much is cut of each group, and ROLLUP, CUBE and GROUPING SETS add groups up. Ask "
                "with bias=True by the groups, or leave it out. Nothing was spent."
            )
        handle, rows = self._bounded.get(query.aggregation.table, (None, None))
        if handle is not None and (
            needs_groups(query.aggregation) or not query.aggregation.source.plain or stated != UnitLimits() or bias
        ):
            handle, rows = None, None
        options: dict[str, Any] = {"rows_expected": rows_expected, "bounded": handle, "bounded_rows": rows}
        made = priced(query, self.policy, price, limits=stated, bias=bias, **options)
        if bias and shown_unchanged(query).isdisjoint(made.cuts):
            raise UnsupportedSQL(
                "bias=True says how much is cut of a COUNT or SUM that the answer shows as it is, and this one shows "
                "only what is computed. Select the COUNT or SUM beside it, or leave bias= out. Nothing was spent."
            )
        return made

    def statement(
        self,
        sql: str,
        price: Price,
        *,
        rows_expected: int | None = None,
        limits: Any = None,
        bias: bool = False,
        **stated: Mapping[str, Any] | None,
    ) -> tuple[list[PricedQuery], UnionOfAnswers | None]:
        """Read and price a query, or several with UNION between them, each at an equal part of the price."""
        plan = read_answers(sql, self.policy, evaluate=_image, public_rows=self._public_rows, **stated)
        options: dict[str, Any] = {"rows_expected": rows_expected, "limits": limits, "bias": bias}
        if not isinstance(plan, UnionOfAnswers):
            return [self.priced_plan(plan, price, **options)], None
        check_written(plan.step.computed)
        each = one_of(price, len(plan.parts))
        return [self.priced_plan(one, each, **options) for one in plan.parts], plan

    def check_together(self, made: Sequence[PricedQuery]) -> None:
        """Refuse several releases that the budget does not allow together, before the first is charged.

        What is stored already costs nothing; the answers are looked up where there is no room for all.
        """
        if self.ledger.fits(self.analyst, guarantee_together(made)):
            return
        mine = (entry.fields for entry in self.ledger.entries() if entry.kind.value == "answer")
        known = {fields["digest"] for fields in mine if fields["analyst"] == self.analyst}
        new = [one for one in made if one.digest not in known]
        if new and not self.ledger.fits(self.analyst, guarantee_together(new)):
            raise BudgetExceeded(
                f"the {len(made)} SELECTs of this UNION cost {in_words(guarantee_together(new))} together, for which "
                "there is no room. Nothing was spent."
            )

    def read(self, sql: str, **stated: Mapping[str, Any] | None) -> QueryPlan:
        """Read a query, with the ranges and keys that are stated beside it."""
        return read_query(sql, self.policy, evaluate=_image, public_rows=self._public_rows, **stated)

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("a session cannot be copied or pickled; open the policy again in the other process")

    def refuse_after_failure(self) -> None:
        """Refuse to ask an engine that failed, since failures depend on the data and one is enough, or was closed."""
        if self.closed:
            raise QueryRefused("this session is closed: open another one to ask. Nothing was spent.")
        if self._failed:
            raise QueryRefused(
                "the engine failed before in this session. Whether it does can depend on the data, so nothing more is "
                "asked of it: tell the curator, and open another session. Nothing was spent."
            )

    def check(self, made: PricedQuery) -> None:
        """Refuse, before the charge, what the engine cannot say, and a public table whose declared key is not unique.

        Only public data is read. The engine keeps the statements until they are run.
        """
        self.refuse_after_failure()
        for request in made.requests:
            self.engine.text(request)
        for rows in made.query.aggregation.source.steps():
            if isinstance(rows, PublicJoin):
                self._check_unique(rows.table, tuple(sorted(column for _, column in rows.keys)))

    def _public_rows(self, table: str, columns: tuple[str, ...]) -> tuple[tuple[Value, ...], ...] | None:
        """Return columns of a public table, read once."""
        if (table, columns) not in self._listed:
            self.refuse_after_failure()
            self._listed[table, columns] = self.engine.public_rows(table, columns)
        return self._listed[table, columns]

    def _check_unique(self, table: str, columns: tuple[str, ...]) -> None:
        if (table, columns) not in self._unique:
            self._unique[table, columns] = not self.engine.unique_violated(table, columns)
        if not self._unique[table, columns]:
            words = (
                f"two rows of the public table {table} agree on {', '.join(columns)}, which is declared unique. "
                "Correct the table or the declaration. Nothing was spent."
            )
            raise PolicyError([(None, words)], file=self.policy.file)

    def once(
        self,
        request: LedgerRequest,
        work: Callable[[Charge], tuple[Any, str | None]],
        *,
        charged: Callable[[Charge], None] | None = None,
        timeout: float | None = None,
    ) -> tuple[Any, str | None, Record]:
        """Charge a release and run it, or return the text that was stored for the same digest.

        Whoever asks the same at the same time waits here, and then finds the answer, or pays where none was stored.
        `work` keeps the guarantee that is charged. The text that it returns is stored; where that is None, the same
        request is charged again. `charged` is called with the charge before rows are read. Whatever they raise becomes
        one constant message.
        """
        with self.ledger.turn_at(request, timeout=checked_timeout(timeout)):
            self.refuse_after_failure()  # this session may have ended while it waited
            found = self.ledger.obtain(request)
            if isinstance(found, Stored):
                return None, found.answer, replace(_record(found, replayed=True), opening=self.opening)
            if charged is not None:
                self.guarded(lambda: [charged(found)], found)
            made, text = self.guarded(lambda: work(found), found)
            record = replace(self.ended(found, text), opening=self.opening)
            self.last = request.cost
            return made, text, record

    def charge(self, cost: Guarantee, description: str, releases: tuple[str, ...]) -> Charge:
        """Charge a release that is never replayed."""
        found = self.ledger.obtain(self.request(cost, fresh_digest(), description, releases))
        if isinstance(found, Stored):
            raise AssertionError("a fresh digest has no stored answer")
        self.last = cost
        return found

    def request(
        self, cost: Guarantee, digest: str, description: str, releases: tuple[str, ...], idempotency: str | None = None
    ) -> LedgerRequest:
        """Return what the ledger is asked for a release."""
        return LedgerRequest(
            analyst=self.analyst,
            cost=cost,
            digest=digest,
            description=description,
            releases=releases,
            idempotency=idempotency,
        )

    def guarded(self, work: Callable[[], Any], charge: Charge) -> Any:
        """Run what reads data; whatever goes wrong becomes one constant message, and the price stays spent."""
        found = _outcome(work)
        if isinstance(found, ReleaseSuperseded):  # it says what the ledger says, and the release goes on elsewhere
            raise ReleaseSuperseded(str(found))
        if found is None:
            self._failed = True
            self.ledger.note(charge, "failed")
            raise QueryFailed(FAILED)
        return found

    def ended(self, charge: Charge, text: str | None) -> Record:
        """Keep the text of a release, or the word that it was made."""
        if text is None:
            self.ledger.note(charge, GRANTED)
            return Record(charge.number, charge.entry_hash, charge.analyst, replayed=False)
        return _record(self.ledger.store(charge, text), replayed=False)

    def bound(self, name: str) -> None:
        """Ask the engine for a bounded table, once; a failure, which can depend on the data, ends the session."""
        table = private_table(self.policy, name)
        if isinstance(table.unit, UnitIsRow):
            raise ParameterError(f"every row of {name} is a unit of its own: there is nothing to bound")
        rows = table.limits.rows
        if rows is None:
            raise MissingParameter(f"a bounded table needs rows = ... under [tables.{table.name}]", parameter="rows")
        with self._lock:
            if table.name in self._bounded:
                return
            self.refuse_after_failure()
            made: str | None = _outcome(lambda: self.engine.bound(table.name, rows))
            if made is None:
                self._failed = True
                raise QueryFailed(UNBOUNDED)
            self._bounded[table.name] = made, rows


def private_table(policy: Policy, name: str) -> TablePolicy:
    """Return the private table of a name, in any capitals."""
    for one in policy.tables.values():
        if one.name.lower() == str(name).lower():
            return one
    raise UnknownName(f"there is no private table {str(name)[:80]!r}; there are {', '.join(policy.tables)}")


def checked_timeout(timeout: float | None) -> float:
    """Return how many seconds a question waits for the same question in flight; `TIMEOUT` unless it is given."""
    if timeout is None:
        return TIMEOUT
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or not 0 <= timeout <= _LONGEST_WAIT:
        raise ParameterError(
            "timeout= must be a number of seconds from 0 to a year: how long to wait while the same question is being "
            "answered elsewhere. Nothing was spent.",
            parameter="timeout",
        )
    return float(timeout)


def _record(kept: Stored, *, replayed: bool) -> Record:
    return Record(kept.number, kept.entry_hash, kept.analyst, replayed, lost=kept.lost)


def _outcome(work: Callable[[], Any]) -> Any:
    """Return what work gives, or None where it raised: an engine's words may carry data, so none of them goes on."""
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except ReleaseSuperseded as over:
        return ReleaseSuperseded(*over.args)
    except BaseException:
        return None


def _limits(rows: int | None = None, groups: int | None = None, rows_per_group: int | None = None) -> UnitLimits:
    """Return the bounds of a unit that a question states; refused ones cost nothing."""
    try:
        found = stated_limits(rows, groups, rows_per_group, most=LARGEST_BOUND)
    except ParameterError as problem:
        raise nothing_spent(problem) from None
    if (found.groups or 1) * (found.rows_per_group or 1) > LARGEST_BOUND:
        raise ParameterError(
            f"groups times rows_per_group must be at most {LARGEST_BOUND}. Nothing was spent.", parameter="groups"
        )
    return found


def _image(expression: Any, columns: Mapping[str, list[Any]]) -> list[Any]:
    """Compute a key over public values, in an empty database."""
    types = {column.name: column.type for column in expression.columns()}
    return evaluate([expression], columns, types)[0]
