"""The integer program's optimum is the best response, its bounds hold, and limits make it honest, not wrong."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.errors import InputError, ParameterError
from discreet.synthesis import best_response, exact_response, gap, upper_bound
from discreet.synthesis.responses.drawn import Drawn
from discreet.synthesis.responses.response_search import ResponseProgram
from tests.synthesis.responses.draws import Draws, draws, signed_triples, small_draws


@pytest.mark.theorem("exact_response.accuracy")
@given(small_draws)
@settings(max_examples=60)
def test_the_exact_response_is_the_best_of_all_records(given: Draws) -> None:
    worst = min(given.records(), key=given.value)
    found = exact_response(given.workload, given.queries, given.weights, known=worst)
    assert found.proven
    assert found.value == found.bound == given.value(found.record) == given.best()


@pytest.mark.theorem("upper_bound.accuracy")
@given(small_draws)
@settings(max_examples=40)
def test_no_record_exceeds_the_bound_of_the_linear_program(given: Draws) -> None:
    assert upper_bound(given.workload, given.queries, given.weights) >= given.best()


@given(small_draws)
@settings(max_examples=20)
def test_the_solver_finds_the_best_record_alone(given: Draws) -> None:
    program = ResponseProgram.of(Drawn.of(given.workload, given.queries, given.weights))
    solved = program.solve()
    assert solved.record is not None
    assert given.value(solved.record) == solved.bound == given.best()
    assert program.solve(above=given.best()) == (None, None)


def test_the_search_is_proven_best_on_a_larger_domain() -> None:
    given = signed_triples(seed=1, attributes=30, count=60)
    found = best_response(given.workload, given.queries, given.weights)
    proven = exact_response(given.workload, given.queries, given.weights, known=found.record)
    assert proven.proven
    assert proven.value == found.value


def test_a_limit_leaves_a_gap_and_a_true_bound() -> None:
    given = signed_triples(seed=1, attributes=40, count=300)
    limited = exact_response(given.workload, given.queries, given.weights, nodes=1, seconds=0.01)
    assert limited.value == given.value(limited.record)
    assert limited.bound > limited.value
    assert not limited.proven
    assert limited.gap == gap(limited.value, limited.bound) == (limited.bound - limited.value) / limited.bound


def test_equal_terms_are_one_column() -> None:
    given = signed_triples(seed=1, attributes=5, count=400)
    program = ResponseProgram.of(Drawn.of(given.workload, given.queries, given.weights))
    assert len(program.objective) < 10 + 10 * 8 * 6 / 6 + 10 * 8  # codes, products of three, products of two
    assert exact_response(given.workload, given.queries, given.weights).value == given.best()


def test_nothing_drawn_is_proven_at_once() -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    found = exact_response(given.workload, [], [])
    assert (found.value, found.bound, found.proven) == (0, 0, True)


@pytest.mark.parametrize("known", [[0], [3, 0], [-1, 0], [[0, 0]]])
def test_known_records_outside_the_domain_are_refused(known: object) -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    with pytest.raises(InputError, match="known"):
        exact_response(given.workload, [0], [1], known=known)


def test_senseless_limits_are_refused() -> None:
    given = draws(seed=1, sizes=(3, 2), count=5)
    with pytest.raises(ParameterError):
        exact_response(given.workload, [0], [1], nodes=0)
    with pytest.raises(ParameterError):
        exact_response(given.workload, [0], [1], seconds=0.0)


def test_the_gap_is_a_share_of_the_bound() -> None:
    assert gap(98, 100) == 0.02
    assert gap(100, 100) == gap(5, 5) == 0
    assert gap(-3, 0) == 3
    assert np.isclose(gap(-12, -10), 0.2)


def test_a_solver_that_stops_early_gives_no_bound_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    given = draws(seed=3, sizes=(2, 3), count=9)
    stopped = SimpleNamespace(status=1, fun=0.0, x=None)
    monkeypatch.setattr(ResponseProgram, "_milp", lambda *_: stopped)
    assert upper_bound(given.workload, given.queries, given.weights) >= given.best()
