"""What tables prove about a block is true in every block that agrees with them, and nothing else is claimed."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import PublishedFact, block_tables, noised_block_tables, reconstruct_block
from discreet.attacks.census.solutions import Solutions, extent
from discreet.attacks.census.tables import CELLS, COUNTED_IN, age_of, counted, describe, histogram_of
from discreet.data import CensusBlock, census_block
from discreet.errors import InputError, ParameterError


def statement(cells: list[int], low: int, high: int, weights: list[int] | None = None) -> PublishedFact:
    return PublishedFact("made up", np.array(cells), np.array(weights or [1] * len(cells)), low, high)


def within(cells: int, *others: PublishedFact) -> list[PublishedFact]:
    """Statements about the first few cells; all others are empty."""
    return [statement(list(range(cells, CELLS)), 0, 0), *others]


def every_solution(statements: list[PublishedFact], cells: int, most: int) -> np.ndarray:
    """All histograms over the first few cells of which the statements are true, one row each."""
    grid = np.stack(np.meshgrid(*[np.arange(most + 1)] * cells, indexing="ij"), axis=-1).reshape(-1, cells)
    padded = np.zeros((len(grid), CELLS), dtype=np.int64)
    padded[:, :cells] = grid
    return padded[[all(one.holds(row) for one in statements) for row in padded]]


@pytest.mark.theorem("reconstruct_block.accuracy")
@pytest.mark.parametrize("seed", range(12))
def test_what_is_proven_is_what_all_solutions_have_in_common(seed):
    random = np.random.default_rng(seed)
    cells, most = 5, 3
    truth = random.integers(0, most, cells)
    statements = within(cells, statement(list(range(cells)), 0, most * cells, None))
    statements += [statement([cell], 0, most) for cell in range(cells)]
    for _ in range(4):
        chosen = random.choice(cells, random.integers(2, cells), replace=False)
        weights = random.integers(1, 4, len(chosen))
        value, slack = int(weights @ truth[chosen]), int(random.integers(0, 2))
        statements.append(statement(chosen.tolist(), value - slack, value + slack, weights.tolist()))
    solutions = every_solution(statements, cells, most)
    found = reconstruct_block(statements)
    assert np.array_equal(found.least, solutions.min(axis=0))
    assert np.array_equal(found.certain, solutions.min(axis=0) == solutions.max(axis=0))
    assert found.unique == (len(solutions) == 1)
    apart = max(
        int(one.sum() - np.minimum(one, other).sum()) for one in solutions[:60] for other in solutions[-60:]
    )  # fmt: skip
    assert apart <= found.apart[1]
    assert any(np.array_equal(found.shown, row) for row in solutions)


@pytest.mark.theorem("reconstruct_block.accuracy")
@pytest.mark.parametrize(("people", "seed"), [(7, 1), (7, 2), (12, 1), (12, 2), (25, 3), (40, 4)])
def test_every_claim_about_a_block_is_true(people, seed):
    block = census_block(people, seed=seed)
    truth = histogram_of(block)
    found = reconstruct_block(block_tables(block), truth=block)
    assert (found.least <= truth).all()
    assert np.array_equal(found.least[found.certain], truth[found.certain])
    assert found.people == people
    assert found.matched >= found.proven == sum(count for _, count in found.claims())
    assert found.apart[0] <= found.apart[1] <= people - found.proven


def test_one_solution_that_agrees_with_all_tables_names_people_who_do_not_exist():
    block = census_block(30, seed=1)
    found = reconstruct_block(block_tables(block), truth=block)
    assert found.proven >= 5
    assert found.matched < found.people
    assert not found.unique
    assert found.apart[0] > 0


def test_tables_of_single_people_prove_everybody():
    block = census_block(5, seed=3)
    histogram = histogram_of(block)
    exact = [statement([cell], int(count), int(count)) for cell, count in enumerate(histogram)]
    found = reconstruct_block(exact, truth=block)
    assert found.unique
    assert found.proven == found.matched == 5
    assert found.apart == (0, 0)
    assert dict(found.claims()) == {describe(cell): 1 for cell in np.flatnonzero(histogram)}


@pytest.mark.parametrize("seed", range(5))
def test_the_tables_of_a_block_are_true_of_it(seed):
    block = census_block(33, seed=seed)
    histogram = histogram_of(block)
    tables = block_tables(block)
    assert all(one.holds(histogram) for one in tables)
    assert tables[0].low == tables[0].high == 33
    moved = histogram.copy()
    moved[np.flatnonzero(histogram)[0]] -= 1
    assert not all(one.holds(moved) for one in tables)


def test_mean_and_median_are_published_for_groups_that_are_large_enough():
    block = census_block(30, seed=1)
    named = {one.words for one in block_tables(block, least=3)}
    assert {"mean age, all", "median age, all"} <= named
    assert not any("age" in one.words for one in block_tables(block, least=31))
    (mean,) = (one for one in block_tables(block) if one.words == "mean age, all")
    assert mean.low <= int(block.age.sum()) <= mean.high <= mean.low + 3
    below = [one for one in block_tables(block) if one.words == "median age, all"][1]
    median = int(np.sort(block.age)[14])
    assert {age_of(cell) for cell in below.cells.tolist()} == set(range(median))


def test_a_person_is_counted_at_most_once_in_each_table():
    times = np.zeros(CELLS, dtype=int)
    for _, cells in counted():
        times[cells] += 1
    assert times.max() == COUNTED_IN
    assert times.min() == COUNTED_IN - 1  # single years are published below 20 only


def laplace():
    sensitivity = dp.Sensitivity(COUNTED_IN, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    return dp.Laplace(epsilon=1, sensitivity=sensitivity)


def gaussian():
    sensitivity = dp.Sensitivity(2, norm=dp.Norm.L2, relation=dp.Relation.ADD_REMOVE)
    return dp.Gaussian(epsilon=1, delta=1e-6, sensitivity=sensitivity)


@pytest.mark.parametrize("mechanism", [laplace(), gaussian()], ids=["Laplace", "Gaussian"])
def test_private_tables_taken_at_face_value_describe_no_block(mechanism):
    # of 302 counts, more than 200 of them 0, one is negative but with a chance below 1e-40; no block has such a count
    with pytest.raises(InputError, match="no block agrees"):
        reconstruct_block(noised_block_tables(census_block(30, seed=1), mechanism, within=0))


@pytest.mark.parametrize("mechanism", [laplace(), gaussian()], ids=["Laplace", "Gaussian"])
def test_private_tables_read_with_their_error_prove_nobody(mechanism):
    block = census_block(30, seed=1)
    within = mechanism.error(1 - 1e-12, len(list(counted())))
    assert within > 30
    found = extent(Solutions(noised_block_tables(block, mechanism, within=2 * within)))
    # no error is beyond a half of what is allowed for, which exceeds every true count: an empty block agrees
    assert found.least.sum() == 0


def test_noise_that_gives_no_numbers_is_refused():
    with pytest.raises(InputError, match="one finite number"):
        noised_block_tables(census_block(5, seed=1), lambda counts: counts[:3], within=1)


@pytest.mark.parametrize("tables", [[], ["people: 7"]])
def test_tables_must_be_statements(tables):
    with pytest.raises(ParameterError, match="statements"):
        reconstruct_block(tables)


def test_the_result_tells_totals_in_words_and_about_nobody_what():
    block = census_block(12, seed=2)
    found = reconstruct_block(block_tables(block), truth=block)
    for text in (repr(found), found._repr_html_()):
        assert "proven people" in text
        assert not any(value in text for value in ("female", "amber", "near"))
    with pytest.raises(ValueError, match="read-only"):
        found.least[0] = 1


def test_the_plot_shows_what_is_proven_and_what_is_not():
    plot = reconstruct_block(block_tables(census_block(12, seed=2))).plot()
    assert [text.get_text() for text in plot.figure.legends[0].get_texts()] == ["proven", "in one solution, not in all"]
    assert plot.svg().startswith("<?xml")


def test_tables_that_empty_every_cell_describe_a_block_of_nobody():
    found = reconstruct_block([statement(list(range(CELLS)), 0, 0)])
    assert found.unique
    assert (found.people, found.proven, found.apart, found.open_cells) == (0, 0, (0, 0), 0)


def test_tables_that_cannot_be_true_are_refused():
    everybody = list(range(CELLS))
    for low, high in ((-3, -1), (3, 1)):
        with pytest.raises(InputError, match="no block agrees"):
            reconstruct_block([statement(everybody, low, high)])


@pytest.mark.parametrize(
    "bad",
    [
        statement([CELLS], 0, 1),
        statement([-1], 0, 1),
        statement([4, 4], 0, 1),
        statement([4], 0, 10**30),
        PublishedFact("half a person", np.array([4]), np.array([0.5]), 0, 1),
        PublishedFact("too few weights", np.array([4, 5]), np.array([1]), 0, 1),
        PublishedFact("no whole number", np.array([4]), np.array([1]), 0, 1.5),
    ],
    ids=["beyond", "negative", "twice", "huge", "half", "shape", "float"],
)
def test_statements_that_are_about_no_cells_are_refused(bad):
    with pytest.raises(InputError, match="a statement must have different cells"):
        reconstruct_block([bad])


@pytest.mark.parametrize("bad", [{"age": [120]}, {"age": [-1]}, {"sex": ["x"]}, {"race": ["red"]}, {"age": [1.5]}])
def test_a_block_of_people_whom_no_table_knows_is_refused(bad):
    columns = {
        "person": [1], "household": [0], "age": [20], "sex": ["female"], "race": ["amber"], "origin": ["near"],
    }  # fmt: skip
    with pytest.raises(InputError, match="ages from 0 to 99"):
        block_tables(CensusBlock(**(columns | bad)))


@pytest.mark.parametrize("within", [1.2, 1.7, 2.4, 3.4])
def test_a_count_is_within_its_error_however_sums_are_rounded(within):
    block = census_block(60, seed=1)
    histogram = histogram_of(block)
    for noise in (within, -within):
        tables = noised_block_tables(block, lambda counts, noise=noise: counts + noise, within=within)
        assert all(one.holds(histogram) for one in tables)


def test_a_search_that_ends_undecided_proves_nothing(monkeypatch):
    from scipy.optimize import milp

    def undecided(objective, **arguments):
        found = milp(objective, **arguments)
        found.status, found.mip_dual_bound = 1, None
        return found

    monkeypatch.setattr("scipy.optimize.milp", undecided)
    found = extent(Solutions(block_tables(census_block(7, seed=1))))
    assert found.least.sum() == 0
    assert np.array_equal(found.certain, Solutions(block_tables(census_block(7, seed=1))).most <= 0)


def test_a_bound_that_a_checked_solution_refutes_is_not_believed(monkeypatch):
    from scipy.optimize import milp

    calls = []

    def lying(objective, **arguments):
        found = milp(objective, **arguments)
        calls.append(found)
        if found.x is not None and len(calls) > 1:
            found.mip_dual_bound = 1.0  # claims that nobody has fewer
        return found

    cells = [statement([0, 1], 1, 1), statement([1, 2], 1, 1)]
    monkeypatch.setattr("scipy.optimize.milp", lying)
    found = extent(Solutions(within(3, *cells)))
    assert (found.least <= np.min(found.seen, axis=0)).all()
    assert not found.certain[:3].any() or all(np.ptp([one[:3] for one in found.seen], axis=0)[found.certain[:3]] == 0)
