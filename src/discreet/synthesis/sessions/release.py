"""One release on a session's table: refused or priced first, charged, made, stored, handed out; in this order."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.display import Progress, definition_list, listener
from discreet.errors import ConflictingParameters, DiscreetError, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.ledger import Charge
from discreet.ledger.contract import guarantee_to_plain
from discreet.privacy import Guarantee, Relation
from discreet.privacy.guarantees import in_words, with_notion
from discreet.query.answer import data_of
from discreet.query.plan import rows_of_one_unit, table_named
from discreet.query.policy import MOST_PEOPLE, TablePolicy, UnitIsRow
from discreet.query.pricing import nothing_spent, price_under, read_price
from discreet.statistics.measurement import Source
from discreet.synthesis.base import Neighbors, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records
from discreet.synthesis.methods import Make
from discreet.synthesis.sessions.domain import check_domain, packed
from discreet.synthesis.sessions.in_words import plan_lines
from discreet.synthesis.sessions.stored import from_text, in_full, to_text
from discreet.synthesis.workloads import Workload

if TYPE_CHECKING:
    from discreet.query import Record, Session

Run = Callable[[Records, Charge], SyntheticRelease]
_FORMAT = "discreet synthesis 2"


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A release that could be made: everything about it is public, nothing is charged and no data is read.

    Printed, it says the method, the guarantee, the plan and how many times it fits into what is left of the budget.
    """

    session: Session
    table: TablePolicy
    made: Synthesizer

    @property
    def guarantee(self) -> Guarantee:
        """What the ledger will be charged."""
        return self.made.guarantee

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters of the method."""
        return self.made.plan

    @property
    def fits(self) -> int:
        """How many such releases fit into what is left of the budget."""
        return self.session.ledger.fits(self.session.analyst, self.guarantee)

    def lines(self) -> list[tuple[str, str]]:
        """Return what is to be known about it, each with its name."""
        queries = f"{len(self.made.workload):,}: {self.made.workload.description}"
        return [
            ("method", self.made.name),
            ("table", f"{self.table.name} ({', '.join(self.columns)})"),
            ("queries", queries),
            ("cost", with_notion(self.guarantee)),
            ("fits", f"{self.fits:,} times into what is left of the budget"),
            *((f"plan: {name}", words) for name, words in plan_lines(self.plan)),
            *([] if self.made.foreseen is None else [("error", self.made.foreseen)]),
        ]

    def __repr__(self) -> str:
        queries = f"{len(self.made.workload):,} queries"
        return f"Prepared({self.made.name}, {self.table.name}, {queries}, {in_words(self.guarantee)})"

    def __str__(self) -> str:
        lines = self.lines()
        margin = max(len(name) for name, _ in lines) + 2
        return "\n".join(f"{name:<{margin}}{words}" for name, words in lines)

    def _repr_html_(self) -> str:
        """Return the lines for a notebook."""
        return definition_list(self.lines())

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.made.workload.domain.names

    @property
    def digest(self) -> str:
        """SHA-256 of the queries, the method with its parameters, the guarantee, the unit and the stated version."""
        parts = [
            _FORMAT,
            self.made.name,
            self.table.name,
            repr(self.table.unit),
            guarantee_to_plain(self.guarantee),
            in_full(self.made),
            self.session.policy.version,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def description(self) -> str:
        """What the ledger writes down."""
        names = ", ".join(self.columns)
        return f"synthesis by {self.made.name}: {self.table.name} ({names}), {len(self.made.workload):,} queries"

    def release(
        self,
        *,
        progress: Progress | None = None,
        run: Run | None = None,
        charged: Callable[[Charge], None] | None = None,
    ) -> SyntheticRelease:
        """Charge and release, or hand out what was released before for the same digest; see `released`."""
        from discreet.query.session import grant_once

        tell = told(progress)  # before anything is charged
        made, text, record = grant_once(
            self.session, self.table.name, self.columns, self.guarantee,
            digest=self.digest, description=self.description,
            releases=(f"{self.made.name}: {len(self.made.workload):,} counting queries",),
            work=self.work(run or (lambda records, _: self.made(records, progress=tell))), charged=charged,
        )  # fmt: skip
        found = from_text(text, self.made) if made is None and text is not None else made
        return replace(noted(found, record), source=self._source(record), identity=self._identity(record))

    def _source(self, record: Record) -> Source:
        """Return which records were measured: of a unit with several rows, those that this release has kept."""
        policy, by_rows = self.session.policy, isinstance(self.table.unit, UnitIsRow)
        kept = "" if by_rows else f"kept in release {record.entry_hash}"
        return Source(data_of(policy.lineage, record), policy.version, f"records of {self.table.name}", kept)

    def _identity(self, record: Record) -> tuple[str, int, str]:
        return data_of(self.session.policy.lineage, record), record.number, record.entry_hash

    def work(self, run: Run) -> Callable[[Mapping[str, Any], Charge], tuple[SyntheticRelease, str | None]]:
        """Return what is done with the rows, given what is done with the records."""
        made, table = self.made, self.table

        def done(rows: Mapping[str, Any], charge: Charge) -> tuple[SyntheticRelease, str | None]:
            release = run(packed(made.workload.domain, table, rows, made.allowance.neighbors.rows), charge)
            return release, to_text(release)

        return done


def released(session: Session, table: str, workload: Workload, make: Make, **given: Any) -> SyntheticRelease:
    """Release a workload of a session's table: charged first, then read, then stored; the same again is free.

    Privacy. What is returned keeps the guarantee that the ledger was charged, for one unit of the policy.
        Proof: everything in `Prepared` depends on the policy, the workload and the call. The charge is durable before
        rows are read. The rows that are kept are a random function of the table under which neighbors stay neighbors
        in the sense of `Neighbors` (see `bounded`), and mixtures of releases that keep a guarantee keep it; entries are
        mapped to codes one by one, and no entry is an error. The synthesizer keeps its guarantee on the records. A
        failure is one constant message and leaves the charge. A stored release that is handed out again is
        post-processing of the one that was paid for.
    """
    progress = given.pop("progress", None)
    return prepare(session, table, workload, make, **given).release(progress=progress)


def prepare(
    session: Session,
    table: str,
    workload: Workload,
    make: Make,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
    share: Number | None = None,
    people: int | None = None,
) -> Prepared:
    """Return a release that could be made at a price, or refuse it; nothing is charged and no data is read."""
    from discreet.query.session import check_session

    check_session(session)
    if not isinstance(workload, Workload):
        raise ParameterError(
            f"a Workload is needed, not {type(workload).__name__}: make one with queries(domain, [...]), "
            "marginals(domain, ways=2) or conjunctions(domain), the domain with domain_of(session, table). Nothing was "
            "spent.",
            parameter="workload",
        )
    stated_table = table_named(session.policy, table)
    check_domain(workload.domain, stated_table)
    given = read_price(
        epsilon=epsilon, delta=delta, rho=rho, mu=mu, share=share, accepts=("epsilon", "rho", "mu", "share")
    )
    price = price_under(session.policy.budget, given)
    neighbors = neighbors_of(session, stated_table, people)
    try:
        made = make(workload, neighbors, price)
    except DiscreetError as problem:
        raise nothing_spent(problem) from None
    return Prepared(session, stated_table, made)


def neighbors_of(session: Session, table: TablePolicy, people: int | None) -> Neighbors:
    """Return who is protected: the policy's relation, its rows of one unit, and a public number of records."""
    rows = rows_of_one_unit(table)
    exact = table.people if rows == 1 else None
    if people is not None and (
        isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= MOST_PEOPLE
    ):
        raise ParameterError(
            f"people= must be a whole number of records, from 1 to {MOST_PEOPLE:,}, that you may tell everybody. "
            "Nothing was spent.",
            parameter="people",
        )
    if exact is not None and people is not None and people != exact:
        raise ConflictingParameters(
            f"the policy declares how many people {table.name} has: leave people= out. Nothing was spent.",
            parameter="people",
        )
    known = exact if exact is not None else people
    if known is None:
        raise MissingParameter(
            f"say about how many records {table.name} has: people=, a number that you may tell everybody, never one "
            f"that was counted in the private table{_or_declare(table, rows)}. Nothing was spent.",
            parameter="people",
        )
    # where another table has the public number of people, a unit that is changed may have had no row here, or have
    # none now
    counted = session.policy.relation is Relation.ADD_REMOVE or table.people is not None
    return Neighbors(session.policy.relation, known, rows, everyone=counted)


def _or_declare(table: TablePolicy, rows: int) -> str:
    if rows == 1 and (table.people is None or isinstance(table.unit, UnitIsRow)):
        return "; or let the curator declare people = ... in the policy"
    return f" (a unit may have {rows} of them)"


def told(progress: Progress | None) -> Progress:
    """Return a progress whose own mistakes, such as a closed terminal, cost nobody a release that is paid for."""
    call = listener(progress)

    def tell(done: int, total: int | None) -> None:
        with contextlib.suppress(Exception):
            call(done, total)

    return tell


def noted(release: SyntheticRelease, record: Record) -> SyntheticRelease:
    """Return a release that says where the ledger keeps it."""
    kept = {"number": record.number, "entry": record.entry_hash, "replayed": record.replayed}
    return replace(release, evidence={**release.evidence, "record": kept})
