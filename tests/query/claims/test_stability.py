"""Removing or changing one unit moves the sums by no more than the form's bound, whatever the tables and the request.

Tables, neighbors and requests are made at random with hostile values; every sum is compared with the slow reference,
and the change between neighbors with the bound that the noise is scaled to.
"""

# ruff: noqa: S311 - a seed makes the same case every time
from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.frames import Type
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.expression.typing_rules import column
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import (
    WEIGHT,
    Cell,
    EachRow,
    Form,
    Groups,
    HistogramRequest,
    NormWeights,
    One,
    Paired,
    RowWeights,
    Steps,
    SumRequest,
    Sums,
    Units,
    UnitTotal,
)
from discreet.query.plan.row_sources import FilterRows, Project, PublicJoin, RowSource, Scan
from tests.conftest import Rounds
from tests.query.random_requests import Tables, World, cells_of, form_of, keys_of, neighbor, rows_of, scale_of, world
from tests.query.reference_engine import ReferenceEngine

Vector = dict[Any, int]


def largest(cell: Cell) -> int:
    """Return the most that one row can add to a cell, before its weight, or a whole unit where it is clipped."""
    if isinstance(cell, UnitTotal):
        return max(abs(cell.low), abs(cell.high))
    if isinstance(cell, Steps):
        return max(abs(cell.offset), abs(cell.offset + cell.scale.steps)) ** cell.power
    if isinstance(cell, Paired):
        return largest(cell.first) ** cell.powers[0] * largest(cell.second) ** cell.powers[1]
    return 1


def assert_within(form: Form, change: Vector, bound: int, *, weighted: bool = True, copies: int = 1) -> None:
    """Check a change against a bound; changing a unit is removing one and adding one."""
    moved = [abs(value) for value in change.values() if value]
    if isinstance(form, EachRow):
        assert sum(moved) <= copies * bound
        return
    rows = form.rows * WEIGHT * bound if weighted else bound  # type: ignore[attr-defined]
    if isinstance(form, RowWeights):
        assert sum(moved) <= copies * rows
    elif isinstance(form, NormWeights):
        assert sum(value**2 for value in moved) <= (copies * rows) ** 2
    else:
        assert isinstance(form, Groups)
        assert len({key for key, value in change.items() if value}) <= copies * form.groups
        assert all(value <= copies * rows for value in moved)
        assert sum(moved) <= copies * form.groups * rows
        assert sum(value**2 for value in moved) <= copies**2 * form.groups * rows**2


def difference(one: Mapping[Any, int], two: Mapping[Any, int]) -> Vector:
    return {key: one.get(key, 0) - two.get(key, 0) for key in one.keys() | two.keys()}


def by_key(sums: Sums, cell: int) -> Vector:
    assert len(set(sums.keys)) == len(sums.keys)
    return dict(zip(sums.keys, sums.cells[cell], strict=True))


def places(histogram: Mapping[Any, tuple[Any, Any]]) -> Vector:
    return {
        (key, int(place)): int(weight)
        for key, (positions, weights) in histogram.items()
        for place, weight in zip(positions, weights, strict=True)
    }


class Case:
    """A world, its neighbor, and the engines on both; `others` are neighbors that the slow reference alone looks at."""

    others: Sequence[Tables] = ()

    def __init__(self, seed: int, *, links: int, by_row: bool, rows: int, change: bool) -> None:
        self.source = random.Random(seed)
        self.by_row, self.change = by_row, change
        self.world: World = world(self.source, links=links, by_row=by_row, rows=rows)
        self.pair: list[Tables] = [self.world.tables, neighbor(self.source, self.world, change=change)]

    def __enter__(self) -> Case:
        policy = self.world.policy
        self.engines = [DuckDBEngine(policy, self.world.frames(tables), threads=1) for tables in self.pair]
        self.references = [ReferenceEngine(policy, self.world.read(tables)) for tables in self.pair]
        self.more = [ReferenceEngine(policy, self.world.read(tables)) for tables in self.others]
        return self

    def __exit__(self, *_: object) -> None:
        for engine in self.engines:
            engine.close()

    def check(self, source: RowSource, keys: tuple[Key, ...], form: Form) -> None:
        request = SumRequest(source, keys, form, cells_of(self.source, form))
        answers = [engine.run(request) for engine in self.engines]
        expected = [reference.run(request) for reference in self.references]
        more = [reference.run(request) for reference in self.more]
        for index, cell in enumerate(request.cells):
            one, two = (by_key(answer, index) for answer in answers)
            assert [one, two] == [by_key(sums, index) for sums in expected], self.engines[0].text(request)
            weighted = not isinstance(cell, Units | UnitTotal)
            for other in (two, *(by_key(sums, index) for sums in more)):
                assert_within(form, difference(one, other), largest(cell), weighted=weighted, copies=1 + self.change)

    def check_histogram(self, source: RowSource, keys: tuple[Key, ...], form: Form) -> None:
        request = HistogramRequest(source, keys, form, column("x", Type.REAL), scale_of(self.source))
        answers = [engine.histogram(request) for engine in self.engines]
        for answer, reference in zip(answers, self.references, strict=True):
            expected = reference.histogram(request)
            assert answer.keys() == expected.keys()
            assert places(answer) == places(expected), self.engines[0].text(request)
            assert all((positions[1:] > positions[:-1]).all() for positions, _ in answer.values())
        first, *others = map(places, (*answers, *(reference.histogram(request) for reference in self.more)))
        for other in others:
            change = difference(first, other)
            if isinstance(form, EachRow | RowWeights):
                assert_within(form, change, 1, copies=1 + self.change)
            elif isinstance(form, Groups):
                totals: Vector = {}
                for (key, _), value in change.items():
                    totals[key] = totals.get(key, 0) + abs(value)
                assert_within(form, totals, 1, copies=1 + self.change)

    def check_cut(self, source: RowSource, keys: tuple[Key, ...]) -> None:
        """Check what bounding takes away: sums under an outer bound, less those that are bounded."""
        outer = self.source.choice([3, 5, 100])
        number, scale = column("x", Type.REAL), scale_of(self.source)
        inner = self.source.choice([One(), Steps(number, scale, offset=scale.start)])
        form: Form = self.source.choice([RowWeights(2), NormWeights(2), Groups(2, 2)])
        clipped = isinstance(form, Groups) and self.source.random() < 0.5
        own: Cell = UnitTotal(inner, -7, 9) if clipped else inner
        heavier = WEIGHT if clipped else 1
        vectors = []
        for engine in self.engines:
            wide, narrow = (
                by_key(engine.run(SumRequest(source, keys, bound, (cell,))), 0)
                for bound, cell in ((RowWeights(outer), inner), (form, own))
            )
            vectors.append(
                {key: wide.get(key, 0) - heavier * narrow.get(key, 0) for key in wide.keys() | narrow.keys()}
            )
        moved = [abs(value) for value in difference(*vectors).values()]
        copies, whole = 1 + self.change, outer * WEIGHT * largest(inner)
        if isinstance(form, RowWeights):
            assert sum(moved) <= copies * whole
        elif isinstance(form, Groups):
            assert sum(moved) <= copies * (whole + 2 * (9 * WEIGHT if clipped else 2 * WEIGHT * largest(inner)))
        else:
            most = whole + 2 * WEIGHT * largest(inner)
            assert sum(value**2 for value in moved) <= (copies * most) ** 2

    def check_bounded(self, source: RowSource, keys: tuple[Key, ...]) -> None:
        rows = self.source.choice([1, 2, 5])
        cells = cells_of(self.source, RowWeights(1))
        handles = [engine.bound("events", rows) for engine in self.engines]
        assert handles[0] == handles[1]
        request = SumRequest(source, keys, EachRow(), cells, handles[0])
        answers = [engine.run(request) for engine in self.engines]
        for index, cell in enumerate(cells):
            change = difference(*(by_key(answer, index) for answer in answers))
            assert sum(map(abs, change.values())) <= (1 + self.change) * rows * largest(cell)


KINDS = ("sums", "sums", "sums", "histogram", "bounded", "cut")
CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "links": st.sampled_from([0, 0, 0, 1, 2]),
        "by_row": st.sampled_from([False, False, False, True]),
        "rows": st.integers(0, 40),
        "change": st.booleans(),
    }
)


def test_one_unit_moves_the_sums_by_no_more_than_the_bound(rounds: Rounds) -> None:
    @settings(
        max_examples=rounds(sample=60, full=5_000),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=CASES, steps=st.integers(0, 3), keys=st.integers(0, 3), kind=st.sampled_from(KINDS))
    def check(case: dict[str, Any], steps: int, keys: int, kind: str) -> None:
        with Case(**case) as made:
            for _ in range(2):
                source, joined = rows_of(made.source, steps)
                named = keys_of(made.source, keys, joined)
                form = form_of(made.source, made.by_row)
                if kind in ("bounded", "cut") and not made.by_row:
                    (made.check_bounded if kind == "bounded" else made.check_cut)(source, named)
                else:
                    (made.check_histogram if kind == "histogram" else made.check)(source, named, form)

    check()


def test_the_cases_reach_every_kind_of_rows_and_form() -> None:
    """Guard the guard: the cases above are not all trivial."""
    seen: set[type] = set()
    moved = 0
    for seed in range(120):
        source = random.Random(seed)
        rows, _ = rows_of(source, 3)
        while not isinstance(rows, Scan):
            assert isinstance(rows, FilterRows | Project | PublicJoin)
            seen.add(type(rows))
            rows = rows.source
        form = form_of(source, by_row=seed % 4 == 0)
        seen.add(type(form))
        case = Case(seed, links=0, by_row=seed % 4 == 0, rows=30, change=False)
        keys = keys_of(case.source, 1, False)
        request = SumRequest(Scan("events"), keys, form, (One(),))
        policy = case.world.policy
        sums = [by_key(ReferenceEngine(policy, case.world.read(tables)).run(request), 0) for tables in case.pair]
        moved += any(difference(*sums).values())
    assert {FilterRows, Project, PublicJoin, EachRow, RowWeights, NormWeights, Groups} <= seen
    assert moved > 60
