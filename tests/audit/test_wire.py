"""The wire audit on floats: careless noise is caught quickly with the draws it has by default, ours passes."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, Outcome, audit
from discreet.errors import ParameterError

_ON_ARRAYS = dp.Sensitivity(1.0, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)


class NumpyLaplace:
    """numpy's sampler, one by one or all at once."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(secrets.randbits(128))
        self.batches = 0

    def __call__(self, value: float) -> float:
        return float(self.generator.laplace(value, 10.0))

    def runs(self, value: float, draws: int) -> Any:
        self.batches += 1
        return self.generator.laplace(value, 10.0, draws)


def same(output: Any, _: Any) -> Any:
    return output


def test_numpys_laplace_noise_is_caught_with_the_default_draws() -> None:
    # three in four outputs are reachable from the true input, one in five from the other: 40 standard errors apart
    verdict = audit(NumpyLaplace().__call__, dp.PureDP(0.1), neighbors=[(0.0, 1.0)], level=Level.WIRE)
    assert verdict.refuted
    assert verdict.low > 0.3
    assert verdict.witness is not None
    assert "naive inversion" in verdict.witness.event


def test_many_runs_at_once_are_used_where_there_are_some() -> None:
    numpys = NumpyLaplace()
    verdict = audit(numpys, dp.PureDP(0.1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=40_000)
    assert numpys.batches == 2
    assert verdict.samples == 80_000
    assert verdict.low > 1.5
    assert verdict.witness is not None
    assert "multiple" in verdict.witness.event


@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_runs_of_other_types_have_their_form(kind: type) -> None:
    class Telling:
        def __call__(self, value: float) -> Any:
            return self.runs(value, 1)[0]

        def runs(self, value: float, draws: int) -> Any:
            return np.ones((draws, 1 + int(value)), dtype=kind)

    verdict = audit(Telling(), dp.PureDP(0.5), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=400)
    assert verdict.refuted
    assert verdict.witness is not None
    assert f"array of {np.dtype(kind)}, shape" in verdict.witness.event


def test_runs_that_fail_or_return_a_list_are_outcomes_too() -> None:
    class Failing:
        def __call__(self, value: float) -> Any:
            return self.runs(value, 2)[0]

        def runs(self, value: float, draws: int) -> Any:
            return [("a",), "b"] * (draws // 2) if value else 1 / 0

    verdict = audit(Failing(), dp.PureDP(0.5), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=400)
    assert verdict.refuted
    assert audit(Failing(), dp.PureDP(0.5), neighbors=[(0, 0.0)], level=Level.WIRE).outcome is Outcome.OPEN


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.Laplace(epsilon=0.1, sensitivity=1.0),
        dp.Gaussian(epsilon=0.1, delta=1e-6, sensitivity=1.0),
        dp.Laplace(epsilon=0.1, sensitivity=_ON_ARRAYS, length=3),
    ],
    ids=["Laplace", "Gaussian", "Laplace on an array"],
)
def test_our_floats_pass_with_the_same_draws(mechanism: dp.Mechanism) -> None:
    verdict = audit(mechanism, level=Level.WIRE)
    assert verdict.outcome is Outcome.KEPT, str(verdict)


@pytest.mark.parametrize("inputs", [(0, 10**400), (0.0, float("inf")), (float("nan"), 1.0), (1, 1.0), ("a", "b")])
def test_inputs_that_no_float_holds_are_audited_too(inputs: tuple[Any, Any]) -> None:
    verdict = audit(lambda _: 0.5, dp.PureDP(1), neighbors=[inputs], level=Level.WIRE, draws=100)
    assert verdict.outcome is Outcome.KEPT


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda number: [number],
        lambda number: (1, number),
        lambda number: {"answer": {"value": number}},
        lambda number: np.array([number], dtype=object),
    ],
    ids=["list", "tuple", "dict of dicts", "array of objects"],
)
def test_floats_are_found_wherever_they_are(wrapped: Callable[[float], Any]) -> None:
    numpys = NumpyLaplace()
    verdict = audit(lambda value: wrapped(numpys(value)), dp.PureDP(0.1), neighbors=[(0.0, 1.0)], level=Level.WIRE)
    assert verdict.refuted
    for number, words in ((-0.0, "minus zero"), (float("nan"), "NaN")):
        output = wrapped(number)
        fixed = audit(partial(same, output), dp.PureDP(1), neighbors=[(0, 1)], level=Level.WIRE, draws=10)
        assert any(words in finding for finding in fixed.findings)


def test_runs_may_be_an_array_of_objects() -> None:
    class Mixed:
        def __call__(self, value: float) -> Any:
            return self.runs(value, 1)[0]

        def runs(self, value: float, draws: int) -> Any:
            outputs = np.empty(draws, dtype=object)
            outputs[:] = [(0.5, "a") if value else (0.5, "ab")] * draws
            return outputs

    verdict = audit(Mixed(), dp.PureDP(0.5), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=400)
    assert verdict.refuted
    assert verdict.witness is not None
    assert "str of length" in verdict.witness.event


@pytest.mark.parametrize("outputs", [np.zeros(3), [0.5], 0.5, np.array(0.5), None])
def test_runs_of_another_number_are_refused(outputs: Any) -> None:
    class Short:
        def __call__(self, value: float) -> Any:
            return value

        def runs(self, _: float, __: int) -> Any:
            return outputs

    with pytest.raises(ParameterError, match="must return `draws` outputs"):
        audit(Short(), dp.PureDP(1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=10)


def test_the_form_of_a_long_output_is_short() -> None:
    verdict = audit(
        lambda value: [0.5] * (500 + value), dp.PureDP(0.5), neighbors=[(0, 1)], level=Level.WIRE, draws=400
    )
    assert verdict.refuted
    assert verdict.witness is not None
    assert len(verdict.witness.event) < 80


def test_events_chosen_on_the_first_half_do_not_raise_false_alarms() -> None:
    # a form of its own for every run: whatever was seen on one input never comes again
    generator = np.random.default_rng(1)
    verdict = audit(
        lambda _: "x" * int(generator.integers(1, 500)), dp.PureDP(0.01), neighbors=[(0, 1)], level=Level.WIRE
    )
    assert verdict.outcome is Outcome.KEPT
    assert verdict.low == 0.0


@pytest.mark.parametrize("stated", [None, 0, 0.1, float("nan"), "fine", abs, [1.0]])
def test_what_a_mechanism_calls_scale_or_grid_may_be_anything(stated: Any) -> None:
    class Rounded:
        scale = stated
        grid = stated

        def __call__(self, _: float) -> float:
            return 0.3

    assert audit(Rounded(), dp.PureDP(1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=10).outcome is Outcome.KEPT


def test_outputs_off_the_grid_that_is_declared_are_a_finding() -> None:
    class Declares:
        grid = 0.5

        def __call__(self, _: float) -> float:
            return 0.3

    verdict = audit(Declares(), dp.PureDP(1), neighbors=[(0.0, 1.0)], level=Level.WIRE, draws=10)
    assert verdict.findings == ("an output lies off the declared grid",)
