"""Rows from several tables along the unit equal the slow reference, and one unit moves sums by no more than the bound.

Whatever is joined, counted for each unit or put together, in whatever nesting. Neighbors differ in one unit in every
table that names units. Every request is made of a world and of four neighbors: of all by the slow reference, of the
world and of one neighbor by the engine too, which must say the same. That is 5,040 neighbors in `make test`, and
420,000 in `make soak`.
"""

# ruff: noqa: S311 - a seed makes the same case every time
from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import EachRow, Form, Groups, ValuesRequest
from discreet.query.plan.row_sources import (
    FilterRows,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    UnionAll,
)
from tests.conftest import Rounds
from tests.query.claims.test_stability import Case, by_key, difference
from tests.query.expressions import Maker
from tests.query.random_requests import form_of, keys_of
from tests.query.random_sources import NEW, neighbors_of, sources_of
from tests.query.reference_engine import ReferenceEngine

NEIGHBORS, REQUESTS = 4, 12  # of a world


class SourceCase(Case):
    """A world with one unit in several tables, its neighbors, and the engines on it and on one of them."""

    def __init__(self, seed: int, *, links: int, rows: int, change: bool) -> None:
        super().__init__(seed, links=links, by_row=False, rows=rows, change=change)
        first, *self.others = neighbors_of(self.source, self.world, NEIGHBORS, change=change)
        self.pair = [self.world.tables, first]

    def form(self, rows: RowSource) -> Form:
        """Return a form; where no unit has two rows, often the one that weighs nothing."""
        return EachRow() if rows.single and self.source.random() < 0.6 else form_of(self.source, by_row=False)

    def check_single(self, rows: RowSource) -> None:
        for reference in (*self.references, *self.more) if rows.single else ():
            counts = Counter(unit for unit, _ in reference.made(rows))
            assert not counts or max(counts.values()) == 1

    def check_values(self, rows: RowSource, keys: tuple[Key, ...]) -> None:
        """Check the number of different values: equal to the reference, moved by no more pairs than a unit brings."""
        most = self.source.choice([1, 2, 5, 70])
        form: EachRow | Groups = EachRow() if rows.single and self.source.random() < 0.5 else Groups(most, 1)
        request = ValuesRequest(rows, keys, form, Maker(self.source).any(1))
        answers = [engine.run(request) for engine in self.engines]
        expected = [by_key(reference.run(request), 0) for reference in self.references]
        one, two = (by_key(answer, 0) for answer in answers)
        assert [one, two] == expected, self.engines[0].text(request)
        bound = 1 if isinstance(form, EachRow) else most
        for other in (two, *(by_key(reference.run(request), 0) for reference in self.more)):
            moved = difference(one, other)
            if self.change:
                assert sum(value for value in moved.values() if value > 0) <= bound
                assert -sum(value for value in moved.values() if value < 0) <= bound
            else:
                assert all(value >= 0 for value in moved.values())
                assert sum(moved.values()) <= bound


ASKED = ("sums", "places", "values")
CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "links": st.sampled_from([0, 0, 1, 2]),
        "rows": st.integers(0, 24),
        "change": st.booleans(),
    }
)


@pytest.mark.parametrize("kind", NEW)
def test_one_unit_moves_sums_over_joined_rows_by_no_more_than_the_bound(kind: str, rounds: Rounds) -> None:
    @settings(
        max_examples=rounds(sample=720, full=60_000) // (NEIGHBORS * REQUESTS),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=CASES)
    def check(case: dict[str, Any]) -> None:
        with SourceCase(**case) as made:
            for _ in range(REQUESTS):
                rows = sources_of(made.source, made.source.randint(1, 3), kind)
                named = keys_of(made.source, made.source.randint(0, 2), False)
                asked = made.source.choice(ASKED)
                made.check_single(rows)
                if asked == "values":
                    made.check_values(rows, named)
                else:
                    check_form = made.check if asked == "sums" else made.check_histogram
                    check_form(rows, named, made.form(rows))

    check()


def test_the_cases_reach_rows_of_every_kind_and_move_them() -> None:
    """Guard the guard: the cases above are not all trivial."""
    moved: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    for seed in range(80 * len(NEW)):
        kind = NEW[seed % len(NEW)]
        case = SourceCase(seed, links=seed % 3, rows=24, change=False)
        source = sources_of(case.source, 1 + seed % 2, kind)
        tables = (*case.pair, *case.others)
        made = [list(ReferenceEngine(case.world.policy, case.world.read(one)).made(source)) for one in tables]
        rows[kind] += len(made[0])
        moved[kind] += any(len(made[0]) != len(other) for other in made[1:])
    assert all(rows[kind] > 100 for kind in NEW), rows
    assert all(moved[kind] >= 25 for kind in NEW), moved


def test_every_kind_of_rows_stands_on_every_other_in_the_cases() -> None:
    """Guard the guard: each two kinds of rows are met, one directly on the other, among as many as `make test` has."""
    source = random.Random(5)
    met: Counter[tuple[str, str]] = Counter()
    for _ in range(5_040 // NEIGHBORS // len(NEW)):
        for kind in NEW:
            met.update(_stacked(sources_of(source, source.randint(1, 3), kind)))
    assert len(met) == len(NEW) ** 2, {(one, two) for one in NEW for two in NEW} - met.keys()
    assert min(met.values()) >= 5, met


def _stacked(rows: RowSource) -> Iterator[tuple[str, str]]:
    """Yield every two kinds of rows of which one stands on the other; filters and projections between do not count."""
    for one in rows.steps():
        for two in map(_next, one.sources):
            if _kind(one) in NEW and _kind(two) in NEW:
                yield _kind(one), _kind(two)


def _next(rows: RowSource) -> RowSource:
    return _next(rows.sources[0]) if isinstance(rows, FilterRows | Project) else rows


def _kind(rows: RowSource) -> str:
    named = {PublicJoin: "public", PerUnit: "per unit", UnionAll: "union"}
    return rows.kind.value if isinstance(rows, PrivateJoin) else named.get(type(rows), "")
