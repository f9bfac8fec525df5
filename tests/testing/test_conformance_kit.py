"""The conformance kit catches what it is there for: one broken mechanism for every check, and no sound one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InputError
from discreet.laws import DiscreteLaplace
from discreet.privacy import PrivacyLoss, PureDP
from discreet.statistics import Count, Rows
from discreet.testing import ConformanceFailure, Subject, conformance_checks
from discreet.testing.planted.inputs import ApartByType
from tests.forms import FEW, runs_for_forms

CHECKS = {check.name: check for check in conformance_checks()}


class Sound(dp.Mechanism):
    """A small additive mechanism of a third party, written with the public parts only."""

    steps = 1

    def __init__(self) -> None:
        self.noise = DiscreteLaplace(2)

    @property
    def guarantee(self) -> PureDP:
        return PureDP(0.5)

    @property
    def loss(self) -> PrivacyLoss:
        return PrivacyLoss.from_pairs([self.law(1).pair(self.law(0))])

    def law(self, value: Any) -> DiscreteLaplace:
        return self.noise.at(self._checked(value))

    def _checked(self, value: Any) -> int:
        if type(value) is not int:
            raise InputError("this mechanism takes one int and nothing else")
        return value

    def neighbors(self) -> Iterator[tuple[int, int]]:
        yield 0, 1
        yield 7, 6

    def __call__(self, value: Any) -> int:
        return self._checked(value) + self.noise.draw_one()

    def error(self, confidence: float, count: int = 1) -> int:
        return self.noise.half_width(confidence, count)

    def __repr__(self) -> str:
        return "Sound()"


class WrongScale(Sound):
    def __call__(self, value: Any) -> int:
        return self._checked(value) + DiscreteLaplace(1.5).draw_one()


class WrongPrice(Sound):
    @property
    def guarantee(self) -> PureDP:
        return PureDP(0.3)


class WrongLoss(Sound):
    @property
    def loss(self) -> PrivacyLoss:
        return PrivacyLoss.from_guarantee(PureDP(0.25))


class WrongError(Sound):
    def error(self, confidence: float, count: int = 1) -> int:  # noqa: ARG002  forgets the count, which is its fault
        return self.noise.half_width(confidence, 1) - 1


class ShowsTheValue(Sound):
    def law(self, value: Any) -> DiscreteLaplace:
        law = super().law(value)
        law.__class__ = type("Shown", (DiscreteLaplace,), {"__repr__": lambda self: f"law about {self.center}"})
        return law


class Crashes(Sound):
    def _checked(self, value: Any) -> int:
        return int(value) if isinstance(value, str) else super()._checked(value)


class TellsInItsErrors(Sound):
    def _checked(self, value: Any) -> int:
        if type(value) is not int:
            raise InputError(f"this mechanism takes one int and nothing else, not {value}")
        return value


class TellsByItsType(Sound):
    def __call__(self, value: Any) -> Any:
        noisy = super().__call__(value)
        return noisy if value == 0 else np.int64(noisy)


class StockThatTravels(Sound):
    """Sixteen draws made ahead that copies, pickles and forks take along; right noise after that."""

    def __init__(self) -> None:
        super().__init__()
        self.stock: list[int] = []

    def __call__(self, value: Any) -> int:
        if not self.stock:
            self.stock = self.noise.draw(16).tolist()
        return self._checked(value) + self.stock.pop()


class StockOfTheProcess(Sound):
    """Sixteen draws made ahead for all mechanisms of the process, which a fork takes along; right noise after that."""

    stock: ClassVar[list[int]] = []

    def __call__(self, value: Any) -> int:
        if not self.stock:
            self.stock.extend(self.noise.draw(16).tolist())
        return self._checked(value) + self.stock.pop()


class StockOfEachThread(Sound):
    """Every thread starts the same sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()

    def __call__(self, value: Any) -> int:
        if not hasattr(self.local, "generator"):
            self.local.generator = np.random.default_rng(5)
        return self._checked(value) + int(self.local.generator.integers(-50, 50))


class EveryDrawTwice(Sound):
    """Each draw is used for two consecutive releases."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: int | None = None

    def __call__(self, value: Any) -> int:
        if self.kept is None:
            self.kept = self.noise.draw_one()
            return self._checked(value) + self.kept
        noise, self.kept = self.kept, None
        return self._checked(value) + noise


class OneNoiseForAll(Sound):
    """The same noise on every coordinate: each is right alone, their difference is exact."""

    def law(self, value: Any) -> Any:
        return dp.laws.Product([self.noise.at(int(entry)) for entry in value])

    def __call__(self, value: Any) -> Any:
        return np.asarray(value) + self.noise.draw_one()

    def neighbors(self) -> Iterator[Any]:
        yield np.array([0, 0]), np.array([1, 0])


class ShowsTheLastInput(Sound):
    last: Any = None

    def __call__(self, value: Any) -> int:
        self.last = value
        return super().__call__(value)

    def __repr__(self) -> str:
        return f"Sound(last={self.last})"


class WorksByTheValue(Sound):
    """Counts up to the value, which its time then tells."""

    def __call__(self, value: Any) -> int:
        total = 0
        for _ in range(1000 * self._checked(value)):
            total += abs(1)
        return total // 1000 + self.noise.draw_one()


class SharedSeed(Sound):
    """Noise from a seeded generator that copies, forks and threads take along."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = np.random.default_rng(1)

    def __call__(self, value: Any) -> int:
        return self._checked(value) + int(self.generator.integers(-50, 50))


@pytest.mark.parametrize("check", CHECKS.values(), ids=str)
def test_a_sound_mechanism_passes_every_check(check: Any) -> None:
    check(Subject(Sound, [0, 7, 13]))


@pytest.mark.parametrize(
    ("broken", "duty"),
    [
        (WrongScale, "the sampler has the stated law"),
        (WrongPrice, "the price covers the divergence"),
        (WrongLoss, "the loss covers the divergence at every epsilon"),
        (WrongError, "the error quantile is exact"),
        (ShowsTheValue, "repr shows no private value"),
        (Crashes, "hostile input gets one clear error"),
        (TellsInItsErrors, "errors do not depend on the data"),
        (TellsByItsType, "the wire format tells nothing"),
        (ShowsTheLastInput, "repr shows no private value"),
        (SharedSeed, "copies and pickles carry no noise"),
        (SharedSeed, "a forked child repeats nothing"),
        (StockThatTravels, "copies and pickles carry no noise"),
        (StockThatTravels, "a forked child repeats nothing"),
        (StockOfTheProcess, "a forked child repeats nothing"),
        (StockOfEachThread, "threads never share a draw"),
        (EveryDrawTwice, "releases are independent"),
        (WorksByTheValue, "the work does not depend on the values"),
    ],
)
def test_a_broken_mechanism_fails_the_check_that_is_about_it(broken: Any, duty: str) -> None:
    with pytest.raises(ConformanceFailure):
        CHECKS[duty](Subject(broken, [0, 7, 13]))


@pytest.mark.parametrize("forks", [0, 1, 8, 99])
def test_no_number_of_forks_lets_a_shared_seed_pass(forks: int) -> None:
    with pytest.raises(ConformanceFailure):
        CHECKS["a forked child repeats nothing"](Subject(SharedSeed, [0, 7, 13], forks=forks))


class TellsByItsTypeAtOne(TellsByItsType):
    @property
    def guarantee(self) -> PureDP:
        return PureDP(1)


def test_as_few_runs_as_the_sample_makes_convict_a_form_that_tells() -> None:
    few = runs_for_forms(Subject(TellsByItsTypeAtOne, [0, 7]))
    assert few == FEW
    with pytest.raises(ConformanceFailure, match="the form of the outputs"):
        CHECKS["the wire format tells nothing"](Subject(TellsByItsTypeAtOne, [0, 7], wire=few))


def test_one_noise_for_all_coordinates_is_caught() -> None:
    with pytest.raises(ConformanceFailure):
        CHECKS["releases are independent"](Subject(OneNoiseForAll, [np.array([3, 4])]))


def test_units_that_are_told_apart_by_type_are_caught() -> None:
    stated: dict[str, Any] = {"relation": dp.Relation.ADD_REMOVE, "epsilon": 1, "rows": 2}
    check, inputs = CHECKS["one person counts once, however the id is written"], [Rows([True], [1])]
    check(Subject(lambda: Count(**stated), inputs))
    with pytest.raises(ConformanceFailure, match="one person counts several times"):
        check(Subject(lambda: ApartByType(**stated), inputs))


def test_every_check_has_a_broken_mechanism() -> None:
    assert set(CHECKS) == {
        "repr shows no private value",
        "hostile input gets one clear error",
        "errors do not depend on the data",
        "one person counts once, however the id is written",
        "the sampler has the stated law",
        "the price covers the divergence",
        "the loss covers the divergence at every epsilon",
        "the error quantile is exact",
        "the wire format tells nothing",
        "the work does not depend on the values",
        "copies and pickles carry no noise",
        "a forked child repeats nothing",
        "releases are independent",
        "threads never share a draw",
    }


@pytest.mark.parametrize("check", CHECKS.values(), ids=str)
@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda: dp.RandomizedResponse(epsilon=8, categories=2), [0, 1]),
        (lambda: dp.NoisyMax(epsilon=1, sensitivity=1), [[3, 900, 14]]),
        (lambda: dp.Laplace(epsilon=10, sensitivity=1), [0, 3]),
        (lambda: dp.AboveThreshold(threshold=5, epsilon=10, sensitivity=1), [[0, 9, 3]]),
    ],
)
def test_right_mechanisms_with_nearly_certain_outputs_are_not_convicted(make: Any, inputs: Any, check: Any) -> None:
    check(Subject(make, inputs, draws=1000))
