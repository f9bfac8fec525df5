"""The search finds records that no change of one attribute improves, says their value exactly, and repeats itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError
from discreet.synthesis import best_response
from discreet.synthesis.responses import ascent as coordinate_ascent
from discreet.synthesis.responses.ascent import Landscape
from discreet.synthesis.responses.drawn import Drawn
from tests.synthesis.responses.draws import Draws, draws, signed_triples, small_draws


def neighbors(given: Draws, record: np.ndarray) -> list[np.ndarray]:
    """Return all records that differ from one in one attribute."""
    changed = []
    for place, size in enumerate(given.workload.domain.sizes):
        for code in range(size):
            other = record.copy()
            other[place] = code
            changed.append(other)
    return changed


@given(small_draws)
def test_drawn_queries_in_plain_form_have_the_same_value(given: Draws) -> None:
    drawn = Drawn.of(given.workload, given.queries, given.weights)
    assert [drawn.value(one) for one in given.records()] == [given.value(one) for one in given.records()]
    held = np.count_nonzero(drawn.accepts, axis=1)[drawn.row]
    assert np.all((held > 0) & (held < drawn.sizes[drawn.attribute]))
    assert len(set(zip(drawn.owner.tolist(), drawn.attribute.tolist(), strict=True))) == len(drawn.row)


@pytest.mark.theorem("best_response.accuracy")
@given(small_draws, st.integers(1, 4), st.integers(1, 1000))
def test_no_change_of_one_attribute_improves_the_response(given: Draws, starts: int, work: int) -> None:
    found = best_response(given.workload, given.queries, given.weights, starts=starts, work=work)
    assert found.value == given.value(found.record)
    assert all(given.value(other) <= found.value for other in neighbors(given, found.record))
    assert found.value <= given.best()
    assert 1 <= found.starts <= starts


@pytest.mark.theorem("best_response.accuracy")
@given(small_draws, st.data())
def test_the_response_is_no_worse_than_a_warm_start(given: Draws, data: st.DataObject) -> None:
    warm = data.draw(st.sampled_from(given.records()))
    found = best_response(given.workload, given.queries, given.weights, starts=1, warm=warm)
    assert found.value >= given.value(warm)


@pytest.mark.theorem("best_response.privacy")
def test_the_response_depends_on_nothing_but_its_arguments() -> None:
    given = draws(seed=5, sizes=(3, 4, 2, 5), count=200)
    first = best_response(given.workload, given.queries, given.weights, turn=7)
    best_response(given.workload, given.queries[:50], given.weights[:50], turn=3)
    again = best_response(given.workload, given.queries, given.weights, turn=7)
    assert first.record.tolist() == again.record.tolist()
    assert (first.value, first.starts, first.evaluations) == (again.value, again.starts, again.evaluations)


def test_turns_scatter_the_starts() -> None:
    given = signed_triples(seed=1, attributes=60, count=300)
    found = {
        best_response(given.workload, given.queries, given.weights, work=1, starts=2, turn=turn).value
        for turn in range(1, 9)
    }
    assert len(found) == 1  # no work is left for scattered starts
    records = {
        tuple(best_response(given.workload, [0], [1], starts=1, turn=turn).record.tolist()) for turn in range(1, 9)
    }
    assert len(records) == 8  # attributes that no query names are scattered


@pytest.mark.parametrize("seed", range(20))
def test_the_default_finds_the_best_record_of_a_small_domain(seed: int) -> None:
    given = draws(seed=seed, sizes=(3, 4, 2, 5, 3), count=120)
    assert best_response(given.workload, given.queries, given.weights).value == given.best()


@pytest.mark.needs("numba")
@given(small_draws, st.integers(1, 5), st.integers(1, 3000), st.integers(1, 2**40))
@settings(max_examples=40)
def test_the_compiled_search_and_the_plain_one_agree_step_for_step(
    given: Draws, starts: int, work: int, turn: int
) -> None:
    compiled = best_response(given.workload, given.queries, given.weights, starts=starts, work=work, turn=turn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordinate_ascent, "available", lambda: False)
        plain = best_response(given.workload, given.queries, given.weights, starts=starts, work=work, turn=turn)
    assert compiled.record.tolist() == plain.record.tolist()
    assert (compiled.value, compiled.starts, compiled.evaluations) == (plain.value, plain.starts, plain.evaluations)


@pytest.mark.needs("numba")
def test_the_compiled_search_and_the_plain_one_agree_on_many_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = signed_triples(seed=2, attributes=100, count=500)
    compiled = best_response(given.workload, given.queries, given.weights, work=60_000)
    monkeypatch.setattr(coordinate_ascent, "available", lambda: False)
    plain = best_response(given.workload, given.queries, given.weights, work=60_000)
    assert compiled.record.tolist() == plain.record.tolist()
    assert (compiled.value, compiled.evaluations) == (plain.value, plain.evaluations)


def test_work_is_counted_and_ends_the_search() -> None:
    given = signed_triples(seed=3, attributes=50, count=300)
    literals = len(Drawn.of(given.workload, given.queries, given.weights).row)
    for sweeps in (1, 50, 200):
        found = best_response(given.workload, given.queries, given.weights, work=sweeps * literals)
        assert sweeps * literals <= found.evaluations <= (sweeps + 30) * literals


def test_the_greedy_start_maximizes_each_mean() -> None:
    given = draws(seed=9, sizes=(3, 4, 2), count=60)
    landscape = Landscape.of(Drawn.of(given.workload, given.queries, given.weights))
    greedy = landscape.greedy(np.zeros(3, dtype=np.int64))
    values = np.array([given.value(one) for one in given.records()]).reshape(3, 4, 2)
    means = [values.mean(axis=(1, 2)), values.mean(axis=(0, 2)), values.mean(axis=(0, 1))]
    reached = [mean[code] for mean, code in zip(means, greedy, strict=True)]
    assert reached == pytest.approx([mean.max() for mean in means])


def test_draws_that_cancel_leave_any_record() -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    none = best_response(given.workload, [], [])
    assert (none.value, none.evaluations, none.record.shape) == (0, 0, (2,))
    canceled = best_response(given.workload, [2, 2], [3, -3])
    assert canceled.value == 0


def test_a_query_given_twice_counts_twice() -> None:
    given = draws(seed=4, sizes=(3, 2, 4), count=30)
    twice = best_response(given.workload, np.tile(given.queries, 2), np.tile(given.weights, 2))
    assert twice.value == 2 * best_response(given.workload, given.queries, given.weights).value


def test_large_weights_stay_exact_and_too_large_ones_are_refused() -> None:
    given = draws(seed=6, sizes=(3, 2, 4), count=30, parities=0.0)
    large = given.weights * (2**50)
    found = best_response(given.workload, given.queries, large)
    assert found.value == 2**50 * best_response(given.workload, given.queries, given.weights).value
    for weights in (np.full(30, 2**58), np.full(30, -(2**63)), np.full(30, 2**63, dtype=np.uint64)):
        with pytest.raises(InputError, match="too large"):
            best_response(given.workload, np.arange(30), weights)


@pytest.mark.parametrize(
    ("queries", "weights", "message"),
    [
        ([0, 1], [1], "one length"),
        ([[0]], [[1]], "one length"),
        ([0, 1], [1, 0], "0: leave out"),
        ([0, 5], [1, 1], "must be from 0 to"),
        ([-1], [1], "must be from 0 to"),
        ([0.0], [1], "whole"),
        ([0], [0.5], "whole"),
        ([True], [1], "whole"),
    ],
)
def test_draws_that_are_none_are_refused(queries: list[int], weights: list[int], message: str) -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    with pytest.raises(InputError, match=message):
        best_response(given.workload, queries, weights)


@pytest.mark.parametrize("options", [{"starts": 0}, {"starts": 10**6}, {"work": 0}, {"work": 2**61}, {"turn": 0}])
def test_senseless_limits_are_refused(options: dict[str, int]) -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    with pytest.raises(ParameterError):
        best_response(given.workload, [0], [1], **options)


@pytest.mark.parametrize("warm", [[0], [3, 0], [-1, 0], [[0, 0, 0]], [[[0]], [[0]]], [0.5, 0]])
def test_warm_starts_outside_the_domain_are_refused(warm: object) -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    with pytest.raises(InputError, match="warm"):
        best_response(given.workload, [0], [1], warm=warm)
