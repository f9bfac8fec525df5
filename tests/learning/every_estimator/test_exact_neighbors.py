"""What one person moves, exactly: on hostile tables, for every estimator, and nothing else moves at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.learning.exact import CHUNK
from discreet.privacy import Relation
from tests.conftest import Rounds
from tests.learning.every_estimator import faulty
from tests.learning.every_estimator.estimators import CLASSIFIERS, PRIVATE, REGRESSIONS, SCIKIT, configured
from tests.learning.every_estimator.transcripts import Outcome, outcome, same

FEATURES = (1, 3, 9)  # beyond 8, some estimators release dimensions first
CELLS: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    -float("inf"),
    -0.0,
    0.0,
    1e308,
    -1.7976931348623157e308,
    5e-324,
    -1e-310,
    10.0,
    -10.0,
    10.000000000000002,
    1.0,
    -1.0,
)
OBJECTS: tuple[Any, ...] = (2**63, -(2**70) - 1, 10**400, 2**53 + 1, True, None, "x", "7", 3)
LABELS: tuple[Any, ...] = (0, 1, 2, 0, 1, 2, 7, -1, 1.0, 2.5, float("nan"), None, "1", True, 2**70, float("inf"))


class Tables:
    """Random tables as hostile as a seed makes them: rows in an array, or as lists of Python objects."""

    def __init__(self, name: str, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.objects = bool(self.random.random() < 0.3)
        self.features = int(self.random.choice(FEATURES))
        self.name = name

    def row(self) -> list[Any]:
        """Draw a row: of ordinary numbers mostly, of anything sometimes."""
        cells: list[Any] = self.random.uniform(-12, 12, self.features).tolist()
        kind = self.random.random()
        odd = 0.0 if kind < 0.5 else 0.1 if kind < 0.8 else 1.0
        pool = CELLS + OBJECTS if self.objects else CELLS
        return [pool[self.random.integers(len(pool))] if self.random.random() < odd else cell for cell in cells]

    def label(self) -> Any:
        """Draw a label, or a number to be predicted."""
        if self.name in CLASSIFIERS:
            return LABELS[self.random.integers(len(LABELS) if self.objects else 8)]
        if self.name in REGRESSIONS and self.random.random() < 0.8:
            return float(self.random.uniform(-12, 12))
        pool = CELLS + OBJECTS if self.objects else CELLS
        return pool[self.random.integers(len(pool))]

    def rows(self, count: int) -> list[tuple[list[Any], Any]]:
        """Draw rows with labels; some stand there twice."""
        drawn = [(self.row(), self.label()) for _ in range(count)]
        return [drawn[self.random.integers(count)] if self.random.random() < 0.1 else one for one in drawn]

    def fitted(self, rows: list[tuple[list[Any], Any]], relation: Relation, seed: int, people: int) -> Outcome:
        """Return what a fit of these rows shows, with answers that a seed fixed."""
        table: Any = [cells for cells, _ in rows]
        beside: Any = [label for _, label in rows]
        if not self.objects:
            table = np.array(table, dtype=np.float64).reshape(len(rows), self.features)
            beside = np.array(beside)
        elif not rows:
            table = np.empty((0, self.features), dtype=object)  # an empty list would not say how many columns it has
        return outcome(configured(self.name, relation=relation, people=people), table, beside, seed)


def alike(first: Outcome, second: Outcome) -> None:
    """Compare everything that two fits show but their exact sums."""
    assert first.raised == second.raised is None
    assert first.warned == second.warned
    assert same(first.shown, second.shown)
    assert len(first.releases) == len(second.releases) > 0
    for one, other in zip(first.releases, second.releases, strict=True):
        assert one.sums.shape == other.sums.shape
        assert (one.share, one.squared, one.l1) == (other.share, other.squared, other.l1)
        assert one.law == other.law


def moved(first: Outcome, second: Outcome) -> list[Any]:
    """Return by how much the exact sums of two fits differ, after a look at whether they keep what was stated."""
    alike(first, second)
    differences = []
    for one, other in zip(first.releases, second.releases, strict=True):
        difference = one.sums - other.sums
        assert sum(step * step for step in difference.ravel().tolist()) <= one.squared
        assert one.l1 is None or sum(abs(step) for step in difference.ravel().tolist()) <= one.l1
        differences.append(difference)
    return differences


def a_person_more_or_less(tables: Tables, rows: list[tuple[list[Any], Any]], seed: int, people: int) -> bool:
    """Check that a row moves the sums by what it contributes alone; say whether it contributes at all."""
    place = int(tables.random.integers(len(rows)))
    table, without, alone, nobody = (
        tables.fitted(some, Relation.ADD_REMOVE, seed, people)
        for some in (rows, rows[:place] + rows[place + 1 :], rows[place : place + 1], [])
    )
    contributions = moved(alone, nobody)
    for difference, contribution, empty in zip(moved(table, without), contributions, nobody.releases, strict=True):
        assert np.array_equal(difference, contribution)
        assert not empty.sums.any()
    return any(contribution.any() for contribution in contributions)


def a_row_replaced(tables: Tables, rows: list[tuple[list[Any], Any]], seed: int, people: int) -> bool:
    """Check that another row in the place of one moves the sums by at most what was stated."""
    place = int(tables.random.integers(len(rows)))
    other = [*rows[:place], *tables.rows(1), *rows[place + 1 :]]
    first, second = (tables.fitted(some, Relation.CHANGE_ONE, seed, people) for some in (rows, other))
    return any(difference.any() for difference in moved(first, second))


@pytest.mark.theorem(
    "AdaSSP.privacy",
    "AdditiveClassifier.privacy",
    "AdditiveRegressor.privacy",
    "CategoricalNB.privacy",
    "DecisionTreeClassifier.privacy",
    "GaussianNB.privacy",
    "KMeans.privacy",
    "LinearRegression.privacy",
    "LogisticRegression.privacy",
    "NearestCentroid.privacy",
    "PCA.privacy",
    "RandomForestClassifier.privacy",
    "Ridge.privacy",
    "StandardScaler.privacy",
)
@pytest.mark.parametrize("name", PRIVATE)
def test_one_person_moves_the_sums_by_their_own_contribution_and_nothing_else(name: str, rounds: Rounds) -> None:
    count, counted = rounds(sample=200, full=10_000), 0
    for seed in range(count):
        tables = Tables(name, seed)
        rows = tables.rows(int(tables.random.integers(1, 41)))
        people = (1, 10, 40)[seed % 3]
        check = a_row_replaced if seed % 2 else a_person_more_or_less
        counted += check(tables, rows, seed, people)
    assert counted > count / 4  # the rows that count are a good part: the check is not an empty one


@pytest.mark.soak
@pytest.mark.parametrize("size", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
@pytest.mark.parametrize("name", PRIVATE)
def test_the_same_holds_at_the_ends_of_chunks(name: str, size: int) -> None:
    tables = Tables(name, size)
    tables.objects = False
    rows = tables.rows(40)
    many = [rows[place] for place in tables.random.integers(0, 40, size)]
    assert a_person_more_or_less(tables, many, 1, 40) or a_person_more_or_less(tables, many, 2, 40)
    a_row_replaced(tables, many, 3, 40)


@pytest.mark.theorem("Pipeline.privacy")
@pytest.mark.parametrize("name", [name for name, kind in SCIKIT.items() if hasattr(kind, "transform")])
def test_a_transformed_row_is_the_same_beside_any_others(name: str, rounds: Rounds) -> None:
    for seed in range(rounds(sample=30, full=1_000)):
        tables = Tables("", seed)
        tables.objects = False
        size = int(tables.random.integers(2, 300))
        rows = np.array([cells for cells, _ in tables.rows(40)])[tables.random.integers(0, 40, size)]
        model = configured(name).fit(rows)
        place = int(tables.random.integers(size))
        whole, without = model.transform(rows), model.transform(np.delete(rows, place, axis=0))
        assert np.delete(whole, place, axis=0).tobytes() == without.tobytes()
        assert whole[place : place + 1].tobytes() == model.transform(rows[place : place + 1]).tobytes()


@pytest.mark.parametrize("fault", [faulty.RowsCounted, faulty.RowsCompared, faulty.TooShort, faulty.ClassesSeen])
def test_a_planted_fault_is_seen(fault: type[faulty.Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCIKIT, "LogisticRegression", fault)
    seen = 0
    for seed in range(0, 60, 2):
        tables = Tables("LogisticRegression", seed)
        try:
            a_person_more_or_less(tables, tables.rows(3), seed, 10)
        except AssertionError:
            seen += 1
    assert seen > 3


def test_every_estimator_is_named_by_the_theorem_that_this_file_checks() -> None:
    check = test_one_person_moves_the_sums_by_their_own_contribution_and_nothing_else
    (named,) = [mark.args for mark in check.pytestmark if mark.name == "theorem"]  # type: ignore[attr-defined]
    assert set(named) == {f"{name}.privacy" for name in PRIVATE}
