"""One posterior draw: its law, its price, and what it is worth."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Outcome
from discreet.bayes.one_draw import PosteriorDraw
from discreet.errors import ConflictingParameters, DiscreetError, InputError, MissingParameter, ParameterError
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds
from tests.forms import runs_for_forms

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
RELATIONS = [ADD_REMOVE, CHANGE_ONE]
SIDES = {ADD_REMOVE: 1, CHANGE_ONE: 2}
RATES = (0.5, 1.0, 2.5, 6.0)
PRIOR = (0.1, 5.0, 1.0, 0.02)
BOUNDS = (-3.5, -0.25)


def poisson(rates: Any, record: Any) -> Any:
    return record * np.log(rates) - rates - math.lgamma(record + 1)


def counts(relation: dp.Relation, **stated: Any) -> PosteriorDraw:
    given = {"tempering": Fraction(3, 4), **stated}
    return PosteriorDraw(RATES, poisson, bounds=BOUNDS, examples=[0, 4], relation=relation, **given)


def reference(records: tuple[int, ...], prior: tuple[float, ...], tempering: float) -> list[float]:
    """The tempered, clipped posterior by its formula, not rounded."""
    low, high = BOUNDS
    exponents = [
        math.log(weight) + tempering * sum(min(max(float(poisson(rate, x)), low), high) for x in records)
        for rate, weight in zip(RATES, prior, strict=True)
    ]
    weights = [math.exp(one - max(exponents)) for one in exponents]
    return [one / sum(weights) for one in weights]


@pytest.mark.parametrize("prior", [None, PRIOR])
@pytest.mark.parametrize("records", [(), (0,), (9, 9, 0), (1, 2, 3, 4, 5, 6)])
def test_the_law_is_the_posterior_with_clipped_and_tempered_likelihoods(records: Any, prior: Any) -> None:
    law = counts(ADD_REMOVE, prior=prior).law(records)
    wanted = reference(records, prior or (1.0,) * 4, 0.75)
    assert [law.pmf(place) for place in range(4)] == pytest.approx(wanted, rel=1e-8)


@pytest.mark.theorem("PosteriorDraw.privacy")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.0, 5.0)])
def test_the_exact_audit_keeps_the_price_and_comes_within_two_percent_of_it(relation: Any, prior: Any) -> None:
    draw = PosteriorDraw.of_frequency(clip=0.01, count=11, tempering=1, relation=relation, prior=prior)
    stated = SIDES[relation] * math.log(99)
    assert draw.guarantee == dp.PureDP(draw.guarantee.epsilon, relation=relation)  # type: ignore[attr-defined]
    assert draw.guarantee.epsilon == pytest.approx(stated, rel=1e-9)  # type: ignore[attr-defined]
    verdict = dp.audit(draw)
    assert verdict.outcome is Outcome.KEPT
    assert 0.98 * stated <= verdict.low <= stated


@pytest.mark.theorem("PosteriorDraw.privacy")
def test_a_finer_grid_comes_as_near_with_as_many_records_as_the_prototype() -> None:
    for relation, least in ((ADD_REMOVE, 4.58), (CHANGE_ONE, 9.0)):
        verdict = dp.audit(PosteriorDraw.of_frequency(clip=0.01, count=21, tempering=1, relation=relation))
        assert least <= verdict.low <= SIDES[relation] * math.log(99)


@pytest.mark.theorem("PosteriorDraw.privacy")
@pytest.mark.parametrize("prior", [None, PRIOR])
def test_losses_span_at_most_the_price_on_all_small_tables(prior: Any) -> None:
    added, changed = counts(ADD_REMOVE, prior=prior), counts(CHANGE_ONE, prior=prior)
    assert changed.guarantee.epsilon == 2 * added.guarantee.epsilon  # type: ignore[attr-defined]
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement((0, 1, 3, 8), n)]
    known = {t: np.log([added.law(t).pmf(place) for place in range(4)]) for t in tables}
    for one, other in itertools.product(tables, tables):
        more = next((x for x in (0, 1, 3, 8) if tuple(sorted((*one, x))) == other), None)
        swapped = len(one) == len(other) and len(set(one) - set(other)) <= 1 and _apart(one, other) == 1
        if more is None and not swapped:
            continue
        losses = known[one] - known[other]
        epsilon = float((added if more is not None else changed).guarantee.epsilon) + 1e-9  # type: ignore[attr-defined]
        assert losses.max() - losses.min() <= epsilon
        assert np.abs(losses).max() <= epsilon


def _apart(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    rest = list(other)
    for x in one:
        if x in rest:
            rest.remove(x)
    return len(rest)


@pytest.mark.parametrize("relation", RELATIONS)
def test_epsilon_and_tempering_say_the_same(relation: Any) -> None:
    by_price = counts(relation, tempering=None, epsilon=2)
    again = counts(relation, tempering=by_price.tempering)
    assert again.guarantee == by_price.guarantee
    assert by_price.tempering >= Fraction(2) / (SIDES[relation] * Fraction(13, 4))  # never more than the stated range
    assert float(by_price.loss.epsilon(1e-6)) < 2  # bounded range says less than the pure guarantee


def test_records_that_the_function_cannot_take_say_nothing_and_raise_nothing() -> None:
    draw = counts(ADD_REMOVE)
    plain = draw.law([1, 2])
    for strange in ("x", None, float("nan"), [1, 2], -(10**400)):
        assert draw.law([1, strange, 2]).pmf(1) == pytest.approx(plain.pmf(1), rel=1e-12)
    noisy = PosteriorDraw(
        RATES, lambda rates, x: np.log(rates * x), bounds=(-1, 1), examples=[1.0], epsilon=1, relation=ADD_REMOVE
    )
    assert noisy([0.0, -1.0, math.inf, 1.0]) in RATES  # no warning of numpy either


def test_a_function_that_would_change_the_parameters_cannot() -> None:
    def spoiling(rates: Any, record: Any) -> Any:
        if record:
            rates[:] = 0
        return -rates

    draw = PosteriorDraw(RATES, spoiling, bounds=(-9, 0), examples=[0], epsilon=1, relation=ADD_REMOVE)
    draw([1, 1])
    assert tuple(draw.parameters) == RATES


def test_parameters_may_be_rows() -> None:
    pairs = [(0.0, 1.0), (5.0, 1.0), (5.0, 3.0)]

    def normal(parameters: Any, record: float) -> Any:
        return -(((record - parameters[:, 0]) / parameters[:, 1]) ** 2) / 2 - np.log(parameters[:, 1])

    draw = PosteriorDraw(pairs, normal, bounds=(-5, 0), examples=[0.0], tempering=1, relation=ADD_REMOVE)
    assert tuple(draw(np.full(200, 5.0))) == (5.0, 1.0)


@pytest.mark.theorem("PosteriorDraw.accuracy")
@pytest.mark.parametrize(("epsilon", "drawn", "counted"), [("1/10", 0.252, 0.126), ("1", 0.0885, 0.0134)])
def test_a_noisy_count_is_worth_several_draws(epsilon: str, drawn: float, counted: float) -> None:
    price, people = Fraction(epsilon), 100
    draw = PosteriorDraw.of_frequency(clip=0.01, count=99, epsilon=price, relation=ADD_REMOVE)
    noise, reach = dp.Laplace(epsilon=price, sensitivity=1).noise, np.arange(-1000, 1001)
    chances = noise.pmf(reach)
    errors = []
    for ones in range(people + 1):
        _, low, high = draw.law([1] * ones + [0] * (people - ones)).table()
        own = (low + high) / 2 @ (draw.parameters - ones / people) ** 2
        errors.append((own, chances @ ((np.clip(ones + reach, 0, people) - ones) / people) ** 2))
    found = np.sqrt(np.mean(errors, axis=0))
    assert found == pytest.approx([drawn, counted], rel=5e-3)


BAD: list[tuple[dict[str, Any], type[DiscreetError], str]] = [
    ({"parameters": [1.0]}, ParameterError, "at least two"),
    ({"parameters": [1.0, math.nan]}, ParameterError, "finite"),
    ({"parameters": "ab"}, ParameterError, "at least two"),
    ({"bounds": (0, 0)}, ParameterError, "low < high"),
    ({"bounds": (1, -1)}, ParameterError, "low < high"),
    ({"bounds": (-math.inf, 0)}, ParameterError, "finite"),
    ({"bounds": 5}, ParameterError, "two ends"),
    ({"examples": []}, ParameterError, "made-up records"),
    ({"examples": ["x"]}, ParameterError, "log_likelihood must take"),
    ({"log_likelihood": lambda *_: 1.0}, ParameterError, "log_likelihood must take"),
    ({"relation": dp.Relation.UNSTATED}, MissingParameter, "relation="),
    ({"relation": "add"}, MissingParameter, "relation="),
    ({"epsilon": None}, MissingParameter, "epsilon= or tempering="),
    ({"tempering": 1}, ConflictingParameters, "not both"),
    ({"epsilon": None, "tempering": 0}, ParameterError, "greater than 0"),
    ({"epsilon": -1}, ParameterError, "greater than 0"),
    ({"epsilon": math.nan}, ParameterError, "finite"),
    ({"prior": [1, 1, 1]}, ParameterError, "one positive number"),
    ({"prior": [1, 1, 0, 1]}, ParameterError, "one positive number"),
    ({"prior": [1, 1, math.nan, 1]}, ParameterError, "one positive number"),
]


@pytest.mark.parametrize(("stated", "error", "words"), BAD)
def test_bad_input_is_told_what_to_change(stated: dict[str, Any], error: Any, words: str) -> None:
    plain = {
        "parameters": RATES, "log_likelihood": poisson, "bounds": BOUNDS, "examples": [0], "epsilon": 1,
        "relation": ADD_REMOVE,
    }  # fmt: skip
    with pytest.raises(error, match=words):
        PosteriorDraw(**{**plain, **stated})


@pytest.mark.parametrize("stated", [{"clip": 0.5}, {"clip": 0}, {"count": 1}, {"prior": (0, 1)}, {"prior": 3}])
def test_bad_input_for_a_frequency_is_told_what_to_change(stated: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        PosteriorDraw.of_frequency(**{"clip": 0.01, "count": 9, "epsilon": 1, "relation": ADD_REMOVE, **stated})


def test_there_is_no_seed_and_records_are_a_list() -> None:
    with pytest.raises(TypeError, match="seed"):
        counts(ADD_REMOVE, seed=1)
    for value in ("0110", 5, {0: 1}, iter([0]), None):
        with pytest.raises(InputError, match="list or an array"):
            counts(ADD_REMOVE)(value)


def _frequency(relation: dp.Relation, **stated: Any) -> PosteriorDraw:
    return PosteriorDraw.of_frequency(clip=0.05, count=7, epsilon=1, relation=relation, **stated)


SUBJECTS = {
    "add/remove": Subject(lambda: _frequency(ADD_REMOVE), [[0, 1, 1], [0, 0, 0]], draws=2000, search=0),
    "change-one": Subject(
        lambda: _frequency(CHANGE_ONE, prior=(2.0, 5.0)), [np.array([0, 1, 1]), [1, 1]], draws=2000, search=0
    ),
}


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_one_draw_conforms(subject: Subject, check: Check, rounds: Rounds) -> None:
    draws = rounds(sample=min(subject.draws, 2000), full=20 * subject.draws)
    wire, forks = rounds(sample=runs_for_forms(subject), full=subject.wire), rounds(sample=1, full=subject.forks)
    check(replace(subject, draws=draws, wire=wire, forks=forks))


def test_a_likelihood_cannot_write_a_record_where_parameters_are_drawn_from():
    def writes(rates: Any, record: Any) -> Any:
        for array in (rates, rates.base):
            try:
                array.flags.writeable = True
                array[:] = record
            except (AttributeError, TypeError, ValueError):
                continue
        return np.zeros(len(RATES))

    draw = PosteriorDraw(RATES, writes, bounds=BOUNDS, examples=[0], tempering=1, relation=ADD_REMOVE)
    assert draw([12345.0]) in RATES
    assert draw.parameters.tolist() == list(RATES)


def test_a_complex_likelihood_is_no_number_and_nothing_is_warned(recwarn: pytest.WarningsRecorder):
    def turns(rates: Any, record: Any) -> Any:
        return np.log(rates) * (1j if record else 1)

    draw = PosteriorDraw(RATES, turns, bounds=BOUNDS, examples=[0], tempering=1, relation=ADD_REMOVE)
    assert [draw.law([1]).pmf(place) for place in range(4)] == [draw.law([]).pmf(place) for place in range(4)]
    assert not recwarn.list
