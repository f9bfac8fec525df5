"""A mechanism with the query before it, on all small tables: neighbors follow from the relation alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb
from typing import Any

from discreet.errors import MissingParameter, ParameterError
from discreet.laws import Law
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, Relation
from discreet.privacy.numbers import whole

_MOST_PAIRS = 20_000
Table = tuple[Any, ...]


class OnTables(Mechanism):
    """The release mechanism(query(table)) for every table of at most `people` people, each with one of `rows`.

    A sensitivity, `monotone=True`, a bound on the keys of a person and a public number of rows are statements about
    the query, and a mechanism cannot check them: its own neighbors keep them. Here the neighbors are all pairs of
    tables that one person's data sets apart, so that a statement which is false on such a table is refuted by the
    exact audit. Let a row hold all that one person may have, None included for a person without data.

    Privacy. A verdict `KEPT` is a proof for tables of this size and these rows, and for no others.
    Cost. One law for each table: (people + len(rows)) over people of them, and len(rows) pairs for each.

    >>> from discreet.audit import audit
    >>> from discreet.mechanisms import NoisyMax
    >>> choice = NoisyMax(epsilon=1, sensitivity=1, monotone=True)
    >>> counts = lambda table: [table.count("a"), table.count("b")]
    >>> audit(OnTables(choice, query=counts, rows=["a", "b"], people=3)).refuted
    False
    >>> lead = lambda table: [
    ...     table.count("a") - table.count("b"),
    ...     table.count("b") - table.count("a"),
    ... ]
    >>> audit(OnTables(choice, query=lead, rows=["a", "b"], people=3)).refuted
    True
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        query: Callable[[Table], Any],
        rows: Sequence[Any],
        people: int,
        relation: Relation | None = None,
    ) -> None:
        if not isinstance(mechanism, Mechanism) or not callable(query):
            raise ParameterError(
                "OnTables takes a mechanism of discreet, and query=, a function of a tuple of rows", parameter="query"
            )
        self._mechanism, self._query = mechanism, query
        self._rows, self._people = list(rows), whole(people, name="people")
        self.relation = _stated_relation(mechanism, relation)
        tables = comb(self._people + len(self._rows), self._people)
        if not self._rows or tables * len(self._rows) ** 2 > _MOST_PAIRS:
            raise ParameterError(
                f"rows= must list at least one row, and all tables together must have at most {_MOST_PAIRS:,} "
                "neighbors: state fewer rows or people",
                parameter="rows",
            )

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism, for the relation that the tables have."""
        return self._mechanism.guarantee.under(self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the guarantee."""
        return PrivacyLoss.from_guarantee(self.guarantee)

    def law(self, value: Table) -> Law[Any]:
        """Return the law of the release on a table."""
        return self._mechanism.law(self._query(value))

    def __call__(self, value: Table) -> Any:
        """Release one answer."""
        return self._mechanism(self._query(value))

    def release(self, value: Table) -> Any:
        """Run once from the start on a table."""
        return self._mechanism.release(self._query(value))

    def outcome(self, value: Table) -> Any:
        """Run once and write the release as the law does."""
        return self._mechanism.outcome(self._query(value))

    def wire(self, value: Table) -> Any:
        """Run once and return what leaves."""
        return self._mechanism.wire(self._query(value))

    def __repr__(self) -> str:
        return f"OnTables({self._mechanism!r}, {len(self._rows)} rows, people={self._people})"

    def neighbors(self) -> Iterator[tuple[Table, Table]]:
        """Yield every pair of tables that differ in one person: one more row, or one row changed."""
        for people in range(self._people):
            for others in combinations_with_replacement(self._rows, people):
                if self.relation is Relation.ADD_REMOVE:
                    yield from ((others, (*others, row)) for row in self._rows)
                else:
                    for place, row in enumerate(self._rows):
                        yield from (((*others, row), (*others, other)) for other in self._rows[place + 1 :])


def _stated_relation(mechanism: Any, stated: Relation | None) -> Relation:
    """Return the relation of the mechanism, or the one stated where the mechanism has no relation."""
    own = getattr(mechanism, "relation", Relation.UNSTATED)
    if stated not in (None, Relation.ADD_REMOVE, Relation.CHANGE_ONE):
        raise ParameterError("relation= must be Relation.ADD_REMOVE or Relation.CHANGE_ONE", parameter="relation")
    if own is not Relation.UNSTATED:
        if stated not in (None, own):
            raise ParameterError(f"the mechanism is for {own.value!r}: leave relation= out", parameter="relation")
        return own
    if stated is None:
        raise MissingParameter(
            "the mechanism does not state who is a neighbor: write relation=Relation.ADD_REMOVE or Relation.CHANGE_ONE",
            parameter="relation",
        )
    return stated
