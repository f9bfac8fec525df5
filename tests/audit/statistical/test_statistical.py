"""The statistical audit: it sees what is wrong, spares what is right, and takes any output."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, Outcome, Until, audit
from discreet.audit.statistical.columns import finest_bit
from discreet.errors import MissingParameter, ParameterError
from tests.chances import most
from tests.conftest import Rounds

GRID = 2.0**-20


class Sampler:
    """A vectorized mechanism made from a function."""

    def __init__(self, function: Callable[[np.random.Generator, Any, int], Any]) -> None:
        self.random = np.random.default_rng()
        self.function = function

    def runs(self, value: Any, draws: int) -> Any:
        return self.function(self.random, value, draws)

    def __call__(self, value: Any) -> Any:
        return self.runs(value, 1)[0]


def laplace(random: np.random.Generator, scale: float, shape: Any) -> Any:
    return np.round(random.laplace(0.0, scale, shape) / GRID) * GRID


RIGHT: dict[str, tuple[Sampler, dp.Guarantee, list[tuple[Any, Any]]]] = {
    "Laplace": (Sampler(lambda r, x, n: x + laplace(r, 2.0, n)), dp.PureDP(0.5), [(0.0, 1.0)]),
    "randomized response": (
        Sampler(lambda r, x, n: np.where(r.random(n) < 0.75, x, 1 - x)),
        dp.PureDP(math.log(3)),
        [(0, 1)],
    ),
    "geometric": (
        Sampler(
            lambda r, x, n: np.clip(x + r.geometric(1 - math.exp(-0.5), n) - r.geometric(1 - math.exp(-0.5), n), 0, 5)
        ),
        dp.PureDP(0.5),
        [(2, 3), (0, 1)],
    ),
    "noisy max": (
        Sampler(lambda r, x, n: np.argmax(np.asarray(x) + laplace(r, 4.0, (n, len(x))), axis=1)),
        dp.PureDP(0.5),
        [((0.0, 6.0, 6.0), (1.0, 5.0, 5.0))],
    ),
}


def statistical(
    mechanism: Any, guarantee: dp.Guarantee, neighbors: Any = ((0, 1),), *, seed: int = 2026, **terms: Any
) -> dp.Verdict:
    if isinstance(mechanism, Sampler):  # what an audit finds must not hang on the order of the tests
        mechanism.random = np.random.default_rng(seed)
    return audit(mechanism, guarantee, neighbors=neighbors, level=Level.STATISTICAL, **terms)


@pytest.mark.parametrize("until", list(Until))
@pytest.mark.parametrize("name", list(RIGHT))
def test_right_mechanisms_at_their_very_claim_are_rarely_refuted(name: str, until: Until, rounds: Rounds) -> None:
    mechanism, guarantee, neighbors = RIGHT[name]
    count = rounds(sample=14, full=125)
    alarms = sum(
        statistical(mechanism, guarantee, neighbors, draws=4000, until=until, seed=seed).refuted
        for seed in range(count)
    )
    assert alarms <= most(count, 0.05)


@pytest.mark.parametrize("until", list(Until))
@pytest.mark.parametrize("name", list(RIGHT))
def test_half_the_claim_is_refuted(name: str, until: Until) -> None:
    mechanism, guarantee, neighbors = RIGHT[name]
    half = dp.PureDP(float(guarantee.epsilon) / 2)  # type: ignore[attr-defined]
    verdict = statistical(mechanism, half, neighbors, draws=200_000, until=until, confidence=0.9)
    assert verdict.outcome is Outcome.REFUTED, str(verdict)
    assert verdict.low > float(half.epsilon)
    assert verdict.samples <= 200_000
    assert verdict.high is None


def test_betting_stops_early_when_the_claim_is_plainly_wrong_or_plainly_kept() -> None:
    mechanism, _, neighbors = RIGHT["randomized response"]
    wrong = statistical(mechanism, dp.PureDP(0.2), neighbors, draws=400_000, until=Until.DECIDED)
    assert wrong.refuted
    assert wrong.samples < 200_000
    kept = statistical(mechanism, dp.PureDP(3), neighbors, draws=400_000, until=Until.DECIDED)
    assert kept.outcome is Outcome.NOT_REFUTED
    assert kept.samples < 200_000


def test_draws_are_the_total_over_both_inputs_and_all_stages_and_progress_is_told() -> None:
    told: list[tuple[int, int | None]] = []
    mechanism, guarantee, _ = RIGHT["Laplace"]
    pairs = [(0.0, 1.0), (0.0, 0.5), (0.0, -1.0), (5.0, 5.0)]
    verdict = statistical(mechanism, guarantee, pairs, draws=30_000, progress=lambda *step: told.append(step))
    assert verdict.samples <= 30_000
    assert verdict.samples > 29_000
    assert told == sorted(told)
    assert told[-1][0] > 29_000
    assert {total for _, total in told} == {30_000}


def test_the_most_telling_pair_is_found_among_others() -> None:
    leak = Sampler(lambda r, x, n: np.where(r.random(n) < 0.5, x == 7, 0))
    verdict = statistical(leak, dp.PureDP(1), [(0, 1), (2, 3), (7, 8), (4, 5), (1, 2)], draws=40_000)
    assert verdict.refuted
    assert verdict.witness is not None
    assert 7 in (verdict.witness.first, verdict.witness.second)


def test_a_suite_of_audits_asks_for_more_each() -> None:
    mechanism, _, neighbors = RIGHT["randomized response"]
    alone = statistical(mechanism, dp.PureDP(1), neighbors, draws=20_000)
    together = statistical(mechanism, dp.PureDP(1), neighbors, draws=20_000, suite=1000)
    assert (together.cap or 0.0) < (alone.cap or 0.0)


def test_running_totals_are_seen_through() -> None:
    totals = Sampler(lambda r, x, n: np.cumsum(np.asarray(x) + laplace(r, 1.0, (n, 4)), axis=1))
    verdict = statistical(totals, dp.PureDP(1), [((0.0,) * 4, (1.0,) * 4)], draws=100_000)
    assert verdict.refuted
    assert verdict.low > 2


def test_many_small_losses_are_added_up(rounds: Rounds) -> None:
    parallel = Sampler(lambda r, x, n: x + laplace(r, 5.0, (n, 10)))
    assert statistical(parallel, dp.PureDP(0.4), [(0.0, 1.0)], draws=rounds(sample=80_000, full=200_000)).refuted


def test_naive_floating_point_noise_is_found_by_its_last_bits() -> None:
    naive = Sampler(lambda r, x, n: x + r.laplace(0.0, 10.0, n))
    verdict = statistical(naive, dp.PureDP(0.1), [(0.0, 1.0)], draws=100_000)
    assert verdict.low > 1
    assert verdict.witness is not None
    assert "binary digit" in verdict.witness.event
    assert finest_bit(np.array([1.0, 0.5, 3.0, 0.75])).tolist() == [0.0, -1.0, 0.0, -2.0]


@pytest.mark.parametrize(
    ("guarantee", "refuted"),
    [(dp.ApproxDP(0.5, 0.3), False), (dp.ApproxDP(0.5, 0.01), True), (dp.ZCDP(0.02), True), (dp.GaussianDP(0.2), True)],
)
def test_claims_with_delta_and_about_curves(guarantee: dp.Guarantee, refuted: bool) -> None:
    normal = Sampler(lambda r, x, n: x + np.round(r.normal(0.0, 1.0, n) / GRID) * GRID)
    verdict = statistical(normal, guarantee, [(0.0, 1.0)], draws=100_000, confidence=1 - 1e-9)
    assert verdict.refuted is refuted, str(verdict)


def test_the_mechanisms_of_discreet_are_audited_on_their_own_neighbors() -> None:
    verdict = audit(dp.Laplace(epsilon=0.5, sensitivity=1), level=Level.STATISTICAL, draws=6000, confidence=1 - 1e-9)
    assert verdict.outcome is Outcome.NOT_REFUTED
    assert "certifies nothing" in str(verdict)
    assert "can be refuted" in str(verdict)


def fails_sometimes(value: int) -> int:
    if secrets.randbelow(10) < (9 if value else 1):
        raise ValueError("no")
    return 1


class Odd:
    """An object that cannot be a number and has no memory of itself."""


class Unreadable(dict[str, int]):
    """An output that fails whenever it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def items(self) -> Any:
        raise RuntimeError("no")

    def __float__(self) -> float:
        raise RuntimeError("no")


HOSTILE: list[Callable[[Any], Any]] = [
    lambda x: None if x else 0,
    lambda x: "yes" if x else "no",
    lambda x: b"yes" if x else b"no",
    lambda x: [1] * (3 if x else 2),
    lambda x: {"a": x, 3: [x, None, (True, "b")]},
    lambda x: float("nan") if x else float("inf"),
    lambda x: -math.inf if x else math.inf,
    lambda x: 10 ** (400 + x),
    lambda x: (1, "a", np.arange(3) + x),
    lambda x: complex(x, 1),
    lambda x: {1, 2} if x else frozenset({1}),
    lambda x: np.array([["a", x]], dtype=object),
    lambda x: np.zeros((2, 100)) + x,
    lambda x: 1 / x,
    fails_sometimes,
]


@pytest.mark.parametrize("telling", HOSTILE)
@pytest.mark.parametrize("until", list(Until))
def test_whatever_comes_out_is_counted(telling: Callable[[Any], Any], until: Until) -> None:
    verdict = statistical(telling, dp.PureDP(0.5), [(0, 1)], draws=2000, until=until)
    if telling not in (HOSTILE[7],):  # integers beyond all floats are all infinite
        assert verdict.refuted, str(verdict)


@pytest.mark.parametrize(
    "silent",
    [
        lambda _: Odd(),
        lambda _: [],
        lambda _: 1 / 0,
        lambda _: float("nan"),
        lambda _: (),
        lambda _: Unreadable(),
        lambda _: {Odd(): Unreadable()},
        Sampler(lambda _, __, n: np.zeros((n, 0))),
        Sampler(lambda _, __, n: np.full(n, 1e300)),
        Sampler(lambda _, __, n: (0.5 for _ in range(n))),
    ],
)
def test_outputs_that_tell_nothing_refute_nothing(silent: Callable[[Any], Any]) -> None:
    verdict = statistical(silent, dp.PureDP(0.1), [(0, 1)], draws=400)
    assert verdict.outcome is Outcome.NOT_REFUTED
    assert verdict.low == 0.0


def test_a_batch_that_fails_is_run_one_by_one() -> None:
    class Batch:
        def runs(self, _: int, __: int) -> Any:
            raise RuntimeError("not today")

        def __call__(self, value: int) -> int:
            return value

    assert statistical(Batch(), dp.PureDP(1), draws=400).refuted


@pytest.mark.parametrize("until", list(Until))
def test_a_batch_with_too_few_rows_is_run_one_by_one_and_not_taken_for_an_event_that_is_rare(until: Until) -> None:
    class Short:
        def runs(self, value: int, draws: int) -> Any:
            return np.zeros(draws // 4 if value else draws)

        def __call__(self, _: int) -> float:
            return 0.0

    assert statistical(Short(), dp.PureDP(0.5), draws=2000, until=until).low == 0.0


@pytest.mark.parametrize("until", list(Until))
def test_the_type_of_the_array_that_a_batch_comes_in_is_no_outcome_of_a_run(until: Until) -> None:
    def coin(random: np.random.Generator, value: int, draws: int) -> Any:
        rows = random.integers(0, 2, draws).astype(object if value else float)
        rows[(random.random(draws) < 0.1) & (value == 2)] = None
        return rows

    verdict = statistical(Sampler(coin), dp.PureDP(0.5), [(0, 1)], draws=4000, confidence=1 - 1e-9, until=until)
    assert not verdict.refuted
    assert statistical(Sampler(coin), dp.PureDP(0.5), [(1, 2)], draws=4000, until=until).refuted


@pytest.mark.parametrize("until", list(Until))
@pytest.mark.parametrize("budget", [300, 900, 1150, 1600])
def test_a_budget_that_runs_out_is_not_taken_for_a_loss(budget: int, until: Until) -> None:
    left, random = [budget], np.random.default_rng(7)

    def coin(_: int) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("the budget is spent")
        return int(random.integers(0, 2))

    assert not statistical(coin, dp.PureDP(0.5), draws=2000, until=until).refuted


def test_inputs_that_print_alike_are_not_the_same() -> None:
    class Frame:
        def __init__(self, total: int) -> None:
            self.total = total

        def __repr__(self) -> str:
            return "a long table"

    assert statistical(lambda frame: frame.total, dp.PureDP(1), [(Frame(0), Frame(1))], draws=400).refuted


def test_inputs_that_cannot_be_printed_are_named_by_their_type() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "an input of type Mute" in str(statistical(lambda _: 0.0, dp.PureDP(1), [(Mute(), Mute())], draws=400))


def test_claims_and_confidences_beyond_all_reach_are_not_refuted() -> None:
    verdict = statistical(lambda x: x, dp.PureDP(1000), draws=400, until=Until.DECIDED)
    assert verdict.outcome is Outcome.NOT_REFUTED
    assert "can only pass" in str(verdict)
    assert statistical(lambda x: x, dp.PureDP(1), draws=4000, confidence=1 - 2**-50, suite=1000).refuted


def test_a_batch_of_object_rows_is_read_row_by_row() -> None:
    rows = Sampler(lambda _, x, n: np.array([("a", x)] * n, dtype=object))
    assert statistical(rows, dp.PureDP(1), draws=400).refuted


def test_a_statistical_audit_says_what_it_needs() -> None:
    with pytest.raises(MissingParameter, match="neighbors"):
        audit(lambda x: x, dp.PureDP(1), level=Level.STATISTICAL)
    with pytest.raises(ParameterError, match="at least one pair"):
        statistical(lambda x: x, dp.PureDP(1), [])
    with pytest.raises(ParameterError, match="draws"):
        statistical(lambda x: x, dp.PureDP(1), draws=10)
    with pytest.raises(ParameterError, match="confidence"):
        statistical(lambda x: x, dp.PureDP(1), draws=400, confidence=1.5)
    with pytest.raises(ParameterError, match="suite"):
        statistical(lambda x: x, dp.PureDP(1), draws=400, suite=0)
