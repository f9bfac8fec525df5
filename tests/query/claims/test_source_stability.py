"""Rows from several tables along the unit equal the slow reference, and one unit moves sums by no more than the bound.

Whatever is joined, counted for each unit or put together, in whatever nesting. Neighbors differ in one unit in every
table that names units.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import EachRow, Form, Groups, ValuesRequest
from discreet.query.plan.row_sources import RowSource
from tests.conftest import Rounds
from tests.query.claims.test_stability import Case, by_key, difference
from tests.query.expressions import Maker
from tests.query.random_requests import form_of, keys_of
from tests.query.random_sources import KINDS, sources_of, without_a_unit
from tests.query.reference_engine import ReferenceEngine


class SourceCase(Case):
    """A world with one unit in several tables, its neighbor, and the engines on both."""

    def __init__(self, seed: int, *, links: int, rows: int, change: bool) -> None:
        super().__init__(seed, links=links, by_row=False, rows=rows, change=change)
        self.pair = [self.world.tables, without_a_unit(self.source, self.world, change=change)]

    def form(self, rows: RowSource) -> Form:
        """Return a form; where no unit has two rows, often the one that weighs nothing."""
        return EachRow() if rows.single and self.source.random() < 0.6 else form_of(self.source, by_row=False)

    def check_single(self, rows: RowSource) -> None:
        for reference in self.references if rows.single else []:
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
        moved = difference(one, two)
        bound = 1 if isinstance(form, EachRow) else most
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


@pytest.mark.parametrize("kind", KINDS[2:])
def test_one_unit_moves_sums_over_joined_rows_by_no_more_than_the_bound(kind: str, rounds: Rounds) -> None:
    @settings(
        max_examples=rounds(sample=14, full=6_000),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=CASES, depth=st.integers(1, 3), keys=st.integers(0, 2), asked=st.sampled_from(["sums", "places", "values"])
    )
    def check(case: dict[str, Any], depth: int, keys: int, asked: str) -> None:
        with SourceCase(**case) as made:
            for _ in range(3):
                rows = sources_of(made.source, depth, kind)
                named = keys_of(made.source, keys, False)
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
    for seed in range(240):
        kind = KINDS[2 + seed % 6]
        case = SourceCase(seed, links=seed % 3, rows=24, change=False)
        source = sources_of(case.source, 1 + seed % 2, kind)
        made = [list(ReferenceEngine(case.world.policy, case.world.read(one)).made(source)) for one in case.pair]
        rows[kind] += len(made[0])
        moved[kind] += len(made[0]) != len(made[1])
    assert all(rows[kind] > 100 for kind in KINDS[2:]), rows
    assert all(moved[kind] >= 10 for kind in KINDS[2:]), moved
