"""A session: one analyst, one policy, one ledger; SQL in, private answers out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn, Self

from discreet.errors import NotCopyable, ParameterError
from discreet.laws.number import Number
from discreet.ledger import Balance, Charge, Ledger, MemoryLedger, SqliteLedger
from discreet.privacy import Guarantee
from discreet.query.answer import (
    Answer,
    Rounding,
    check_rounding,
    finished,
    guarantee_together,
    put_together,
)
from discreet.query.engines import evaluate
from discreet.query.plan import Engine, written
from discreet.query.policy import Policy, TableTypes, open_ledger, read_policy, terms_of
from discreet.query.pricing import Explanation, PricedQuery, ReleasedTable, explain, explained_together, read_price
from discreet.query.reading import views_of
from discreet.query.session.charging import Charging
from discreet.query.session.grants import grant
from discreet.query.session.opening import policy_of_frames, with_source
from discreet.query.session.suggest import suggest
from discreet.query.session.suggestion import Suggestion
from discreet.query.session.top import TopAnswer, top
from discreet.query.session.watch import Watch


class Session:
    """Ask SQL about private tables within a durable budget.

    Privacy. All answers of all sessions over one ledger together keep the policy's budget for one unit of protection,
        for analysts who choose each question in view of all earlier answers.
        Proof: every answer is charged in the ledger before data is read, at the guarantee that `PricedQuery.release`
        keeps; the ledger admits charges up to the budget (see `Ledger`). A stored answer handed out again is
        post-processing. What fails after the charge stays charged.
    """

    def __init__(self, policy: Policy, *, analyst: str, engine: Engine, ledger: Ledger) -> None:
        self._charging = Charging(policy, analyst=analyst, engine=engine, ledger=ledger)
        self.policy, self.analyst = policy, analyst

    @classmethod
    def open(cls, path: str | Path, *, analyst: str) -> Self:
        """Open the tables, the ledger and the policy of a policy file."""
        policy, engine = with_source(read_policy(Path(path)))
        return cls(policy, analyst=analyst, engine=engine, ledger=open_ledger(policy))

    @classmethod
    def from_frames(
        cls,
        *,
        unit: str | Mapping[str, str],
        budget: Guarantee,
        rows: int | None = None,
        groups: int | None = None,
        rows_per_group: int | None = None,
        outer_rows: int | None = None,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        public: Mapping[str, Any] | None = None,
        analyst: str = "analyst",
        unit_name: str = "person",
        ledger: str | Path | None = None,
        lineage: str | None = None,
        version: str = "1",
        **frames: Any,
    ) -> Self:
        """Open a session on data frames: pandas, Polars or Arrow tables by name.

        Types follow from `columns` and from kinds of columns, never from values: numbers are reals unless they are
        declared as {"type": "integer"}.

        Args:
            unit: the column that names the person, "row", or one of these for each table.
            budget: what may be spent in all, such as PureDP(3), ZCDP(0.5, delta=1e-6) or GaussianDP(1).
            rows: the most rows of one unit that count; `groups` and `rows_per_group` may be given instead, or too.
            groups: the most groups of one unit that count.
            rows_per_group: the most rows of one unit that count in each of its groups.
            outer_rows: the most rows of one unit that there can be, for `bias=True`.
            columns: what is public about them, as in a policy: {"cost": {"min": 0, "max": 500}}. "visits.cost" is the
                column of one table, "cost" that of every private table that has one.
            public: frames that everybody may see, each with its unique columns: {"regions": (frame, ["region"])}.
            analyst: who asks, as the ledger writes it.
            unit_name: the word for who is protected.
            ledger: a file for the ledger; without one it is kept in memory until the session ends.
            lineage: names the people in the data for good; needed with `ledger`.
            version: of the data, as declared.
            frames: the private tables.
        """
        given = {
            "rows": rows, "groups": groups, "rows_per_group": rows_per_group, "outer_rows": outer_rows,
            "columns": columns, "public": public, "analyst": analyst, "unit_name": unit_name, "ledger": ledger,
            "lineage": lineage, "version": version,
        }  # fmt: skip
        policy, engine = policy_of_frames(frames, unit=unit, budget=budget, **given)  # type: ignore[arg-type]
        return cls(policy, analyst=analyst, engine=engine, ledger=open_ledger(policy))

    def explain(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        rows_expected: int | None = None,
        confidence: float = 0.95,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        rows: int | None = None,
        groups: int | None = None,
        rows_per_group: int | None = None,
        sums: Mapping[str, Any] | None = None,
        bias: bool = False,
    ) -> Explanation:
        """Say what a query would cost and how exact it would be; reads no data and spends nothing.

        `rows_expected` is about how many rows a group has, for the widths of means. The other arguments are those of
        `sql`.
        """
        price = read_price(epsilon=epsilon, delta=delta, rho=rho, mu=mu, share=share, error=error)
        limits = {"rows": rows, "groups": groups, "rows_per_group": rows_per_group}
        given: dict[str, Any] = {"bounds": bounds, "keys": keys, "sums": sums, "limits": limits, "bias": bias}
        parts, union = self._charging.statement(sql, price, rows_expected=rows_expected, **given)
        guarantee = guarantee_together(parts) if union is not None else parts[0].guarantee
        fits = self.ledger.fits(self.analyst, guarantee)
        common: dict[str, Any] = {"policy": self.policy, "rows_expected": rows_expected, "confidence": confidence}
        told = [explain(made, self.engine, fits=fits, **common) for made in parts]
        return told[0] if union is None else explained_together(told, guarantee, fits)

    def sql(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        rows_expected: int | None = None,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        rows: int | None = None,
        groups: int | None = None,
        rows_per_group: int | None = None,
        sums: Mapping[str, Any] | None = None,
        bias: bool = False,
        rounding: Rounding = Rounding.NONE,
        idempotency: str | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """Answer a query: charged first, then run, then noised, then stored. The same question again is free.

        While the same question is being answered elsewhere, this call waits for that answer. After `timeout` seconds it
        raises `WaitedTooLong`, and nothing was spent.

        The same question that is asked at the same time, in another thread or process, is charged once: all but one
        wait and get the same answer. If the one that pays ends without an answer, the next pays, and the answer says so
        (`record.lost`).

        Several SELECTs with UNION between them are as many releases, each at an equal part of the price.

        Args:
            sql: one SELECT with aggregates.
            epsilon: the price, alone or with `delta`.
            delta: the chance of naming a rare key, where keys are not public.
            rho: the price under a budget of zCDP.
            mu: the price under a Gaussian budget.
            share: the price as a part of the budget.
            error: the half-width wanted at 95 %: the cheapest price for it.
            rows_expected: about how many rows a group has, for `error=` of a mean.
            bounds: ranges to clip columns to instead of the policy's, such as {"cost": (0, 500)}.
            keys: public values of keys that the policy does not state, such as {"region": ["north", "south"]}.
            rows: the most rows of one unit that count, in place of the policy's; any is safe, being enforced.
            groups: the most groups in which one unit counts, in place of the policy's.
            rows_per_group: the most rows of one unit that count in each of its groups, in place of the policy's.
            sums: ranges to clip what one unit adds to a group, such as {"revenue": (0, 50_000)}, instead of its rows.
            bias: buy how much bounding cuts, up to the policy's `outer_rows`; the intervals then include it.
            rounding: `Rounding.INTEGER`, `Rounding.NONNEGATIVE` or both: whole counts, and none below 0, at no cost.
            idempotency: a name for this request; the ledger binds it to the query, so that a retry is never another.
            timeout: seconds to wait while the same question is answered elsewhere; 600 if left out.
        """
        charging = self._charging
        check_rounding(rounding)
        price = read_price(epsilon=epsilon, delta=delta, rho=rho, mu=mu, share=share, error=error)
        limits = {"rows": rows, "groups": groups, "rows_per_group": rows_per_group}
        given: dict[str, Any] = {"bounds": bounds, "keys": keys, "sums": sums, "limits": limits, "bias": bias}
        parts, union = charging.statement(sql, price, rows_expected=rows_expected, **given)
        for made in parts:
            charging.check(made)
        if union is None:
            return self._answer(parts[0], sql, rounding, idempotency, timeout)
        charging.check_together(parts)
        if idempotency is not None and not (isinstance(idempotency, str) and idempotency):
            raise ParameterError(
                "idempotency must be a text that is not empty. Nothing was spent.", parameter="idempotency"
            )
        # the first part has the name itself, so that it is bound to this request like any other
        names = [idempotency, *(idempotency and f"{idempotency} ({place})" for place in range(2, len(parts) + 1))]
        answers = [self._answer(made, sql, rounding, name, timeout) for made, name in zip(parts, names, strict=True)]
        charging.last = guarantee_together(parts)
        return put_together(union, answers, sql)

    def _answer(
        self, made: PricedQuery, sql: str, rounding: Rounding, idempotency: str | None, timeout: float | None
    ) -> Answer:
        """Charge a priced query, run it or take up its stored answer, and finish it."""
        charging, policy = self._charging, self.policy

        def work(_: Charge) -> tuple[ReleasedTable, str]:
            released = made.release(charging.engine)
            return released, released.to_json(made.query)

        request = charging.request(made.guarantee, made.digest, written(made.query), made.words(), idempotency)
        released, text, record = charging.once(request, work, timeout=timeout)
        if released is None and text is not None:
            released = ReleasedTable.from_json(text, made.query)
        shaped = finished(made, released, evaluate, rounding)
        return Answer(made, released, shaped, record, policy.unit, policy.lineage, sql, policy.budget)

    def top(
        self,
        sql: str,
        *,
        k: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        bounds: Mapping[str, Any] | None = None,
        rows: int | None = None,
        groups: int | None = None,
        rows_per_group: int | None = None,
        sums: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> TopAnswer:
        """Return the `k` keys with the largest COUNT or SUM, by report noisy max: the keys only, at one price.

        The other arguments are those of `sql`: the same question that is asked at the same time is charged once.
        """
        limits = {"rows": rows, "groups": groups, "rows_per_group": rows_per_group}
        price = read_price(epsilon=epsilon, rho=rho, mu=mu, share=share, accepts=("epsilon", "rho", "mu", "share"))
        made = self._charging.priced(sql, price, bounds=bounds, keys=keys, sums=sums, limits=limits)
        self._charging.check(made)
        return top(self._charging, made, k, timeout)

    def suggest(
        self,
        of: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        share: Number | None = None,
        columns: Sequence[str] | None = None,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        multiple: float = 4,
        timeout: float | None = None,
    ) -> Suggestion:
        """Find bounds at a small price, by private quantiles: of rows, groups, values and sums of one unit.

        Of a query it suggests the arguments for it: `session.sql(query, rho=..., **suggestion.arguments)`; of a table
        lines of the policy. The bounds are for an answer at `multiple` times the price of the suggestion.

        Args:
            of: a private table, or one SELECT with aggregates.
            epsilon: the price of the whole suggestion, charged once and recorded; asked again it is free.
            rho: the price under a budget of zCDP.
            mu: the price under a Gaussian budget.
            share: the price as a part of the budget.
            columns: which columns of a table; each takes a part of the price.
            bounds: ranges to clip columns to instead of the policy's, as for `sql`.
            keys: public values of keys, as for `sql`.
            multiple: how many times the price the answer may cost.
            timeout: seconds to wait while the same is being looked for elsewhere, as for `sql`.
        """
        price = read_price(epsilon=epsilon, rho=rho, mu=mu, share=share, accepts=("epsilon", "rho", "mu", "share"))
        given: dict[str, Any] = {"columns": columns, "bounds": bounds, "keys": keys}
        return suggest(self._charging, of, price, **given, multiple=multiple, timeout=timeout)

    def watch(
        self,
        threshold: Number,
        *,
        epsilon: Number | None = None,
        share: Number | None = None,
        hits: int = 1,
        answer_epsilon: Number | None = None,
        gap: bool = False,
    ) -> Watch:
        """Watch counts for one above a threshold, paying for hits only: the sparse vector technique.

        The whole price is charged at the first question; see `Watch`. `answer_epsilon` buys noisy counts of the hits
        besides, and `gap=True` lets a hit tell by how much it is above, at no further price.
        """
        price = read_price(epsilon=epsilon, share=share, accepts=("epsilon", "share"))
        return Watch(self, threshold, price, hits, answer_epsilon, gap)

    @contextmanager
    def grant(
        self, table: str, columns: Sequence[str], guarantee: Guarantee, *, purpose: str = "grant"
    ) -> Iterator[Mapping[str, Any]]:
        """Hand rows to a mechanism that keeps a guarantee: charged first, recorded, never shown.

        The one door by which other rooms reach rows. The caller must keep `guarantee`: what leaves the block must keep
        it for one unit. The rows come as arrays by column, with the unit of each under "unit".
        """
        yield grant(self._charging, table, columns, guarantee, purpose)

    def bound(self, table: str) -> None:
        """Make a bounded copy of a table once, with at most the policy's `rows` of each unit; later queries read it.

        Worth it where many queries are expected: each then costs little more than a plain query.
        """
        self._charging.bound(table)

    def rehearse(self, sql: str, *, size: int = 10_000, **price: Any) -> Answer:
        """Run a query on generated tables of `size` rows each: no private row is read and nothing is spent."""
        from discreet.query.engines.duckdb import rehearsal

        with rehearsal(self.policy, size=size) as (policy, engine):
            ledger = MemoryLedger(terms_of(policy))
            answer = type(self)(policy, analyst=self.analyst, engine=engine, ledger=ledger).sql(sql, **price)
            return answer.as_rehearsal()

    @property
    def balance(self) -> SessionBalance:
        """What was spent, what is left of `policy.budget`, and about how many more answers like the last one fit."""
        last, found = self._charging.last, self.ledger.balance(self.analyst)
        more = None if last is None else self.ledger.fits(self.analyst, last)
        return SessionBalance(**{one.name: getattr(found, one.name) for one in fields(found)}, last=last, more=more)

    @property
    def engine(self) -> Engine:
        """The engine, for other parts of this room; what it returns is private."""
        return self._charging.engine

    @property
    def ledger(self) -> Ledger:
        """The ledger: everything that was asked of this data."""
        return self._charging.ledger

    def tables(self) -> TableTypes:
        """Return the tables and columns that can be asked about, with their types.

        Printed, it also says which columns of frames are read as texts because no type is declared for them.
        """
        return TableTypes(self.policy, views_of(self.policy))

    def close(self) -> None:
        """Close the database and the ledger's file; a later question raises an error and costs nothing."""
        self._charging.closed = True
        self.engine.close()
        if isinstance(self.ledger, SqliteLedger):
            self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session(analyst={self.analyst!r}, lineage={self.policy.lineage!r}, budget={self.policy.budget!r})"

    def _repr_html_(self) -> str:
        return self.balance._repr_html_()

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("a Session cannot be copied or pickled; open the policy again in the other process")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBalance(Balance):
    """The balance of a ledger for the analyst of a session; about `more` answers at the cost of the last one fit."""

    last: Guarantee | None
    more: int | None

    def facts(self) -> list[tuple[str, str]]:
        """Return names and words, with how many more answers fit."""
        found = Balance.facts(self)
        if self.more is None:
            return found
        return [*found, ("like the last one", f"about {self.more:,} more answers at its cost fit")]
