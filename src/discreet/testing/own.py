"""discreet under its own audit: every mechanism at every level, and its sampler against its law.

discreet's own mechanisms, statistics and local clients, with inputs on which their samplers are tested.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from discreet import local, mechanisms, statistics
from discreet.audit import Level, Outcome, Verdict, audit, goodness_of_fit
from discreet.display import Progress, Table, listener
from discreet.display.result import told_in_a_table
from discreet.mechanisms import Mechanism
from discreet.privacy import ZCDP, ApproxDP, Guarantee, Norm, PureDP, Relation, Sensitivity

_ADD_REMOVE, _CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
_COUNTS = Sensitivity(1, norm=Norm.L1, relation=_ADD_REMOVE)
_MANY, _FEW = 1.0, 0.25
ALARM = 1e-9  # of the column of runs and of the column of fits each; the wire audit has as much for every mechanism
_LEAST = 400
_WIRE_PAIRS, _WIRE_DRAWS = 3, 1000


@dataclass(frozen=True)
class Own:
    """A mechanism to audit: how to make it, an input for its sampler, and which share of the draws it can afford."""

    name: str
    make: Callable[[], Mechanism]
    value: Any
    share: float = _MANY


def _own(kind: Callable[..., Mechanism], value: Any, name: str = "", *, share: float = _FEW, **stated: Any) -> Own:
    """Return a mechanism of a kind with what is stated of it, under its own name unless there are several."""
    return Own(name or kind.__name__, partial(kind, **stated), value, share)


def _client(kind: Callable[..., local.Spec], value: Any, **stated: Any) -> Own:
    """Return the client of a protocol of the local model."""
    return Own(kind.__name__, kind(epsilon=Fraction(1), **stated).mechanism, value, _FEW)


def _mechanisms() -> list[Own]:
    """Return the mechanisms of the room, in the order of its page."""
    response = mechanisms.RandomizedResponse
    watch = partial(_own, mechanisms.AboveThreshold, threshold=3, epsilon=1, sensitivity=1)
    laplace, gaussian = (partial(_own, one, share=_MANY) for one in (mechanisms.Laplace, mechanisms.Gaussian))
    histogram = partial(_own, mechanisms.ThresholdedHistogram, epsilon=1, delta=5e-3, keys=1)
    table = {"a": 30, "b": 1, "c": 0}
    truncated = mechanisms.KeyNoise.TRUNCATED_GEOMETRIC
    return [
        laplace(41, "Laplace, counts", epsilon=0.5, sensitivity=1),
        laplace(0.3, "Laplace, reals", epsilon=0.5, sensitivity=0.25),
        laplace(np.array([1, 2, 3]), "Laplace, array", epsilon=1, sensitivity=_COUNTS),
        gaussian(41, "Gaussian, counts", scale=3, sensitivity=2),
        gaussian(5, "Gaussian by target", epsilon=1, delta=1e-5, sensitivity=1),
        gaussian(0.3, "Gaussian, reals", scale=2.5, sensitivity=1.0, grid=0.5),
        _own(response, 1, "RandomizedResponse 2", epsilon=1, categories=2),
        _own(response, 4, "RandomizedResponse 5", epsilon=1, categories=5),
        _own(mechanisms.Exponential, [0, 1, 2], epsilon=1, sensitivity=1),
        _own(mechanisms.PermuteAndFlip, [0, 1, 2], epsilon=1, sensitivity=1),
        _own(mechanisms.Top, [0, 1, 2, 1], "Top 2", k=2, epsilon=1, sensitivity=1),
        _own(mechanisms.NoisyMax, [0, 1, 2], epsilon=1, sensitivity=1),
        _own(mechanisms.NoisyMax, [5, 5], "NoisyMax with lead", epsilon=1, sensitivity=1, gap=True),
        watch([0, 4, 3]),
        watch([0, 4, 3, 3], "AboveThreshold, 2 hits", epsilon=2, hits=2, monotone=True),
        watch([9, 9], "AboveThreshold, gaps", gap=True),
        _own(mechanisms.TruncatedGeometric, 41, share=_MANY, epsilon=1, delta=1e-3, sensitivity=1),
        histogram(table, "ThresholdedHistogram 1", relation=_ADD_REMOVE),
        histogram(table, "ThresholdedHistogram 2", relation=_CHANGE_ONE, noise=truncated),
    ]


def _statistics() -> list[Own]:
    """Return the statistics of tables."""
    at_one: dict[str, Any] = {"relation": _ADD_REMOVE, "epsilon": 1}
    coarse: dict[str, Any] = {"grid": 1, "relation": _ADD_REMOVE}
    small: dict[str, Any] = {"smallest": 1, "largest": 2, "per_doubling": 1, "symmetric": True}
    changed: dict[str, Any] = {"grid": 1, "relation": _CHANGE_ONE}
    levels = (0.25, 0.5, 0.75)
    return [
        _own(statistics.Count, [1, 2, 3], relation=_ADD_REMOVE, epsilon=0.5),
        _own(statistics.Sum, [1.5, None, 7.25], bounds=(0, 10), **at_one),
        _own(statistics.Mean, [0.5, 0.25], bounds=(0, 1), **at_one),
        _own(statistics.Variance, [0, 1, 1], bounds=(0, 1), epsilon=2, **coarse),
        _own(statistics.StandardDeviation, [0, 1], bounds=(0, 1), rho=0.5, **coarse),
        _own(statistics.Covariance, np.array([[0.5], [1.0]]), center=[0], radius=1, steps=2, **at_one),
        _own(statistics.Histogram, ["a"], keys=["a", "b"], **at_one),
        _own(statistics.DiscoveredHistogram, ["a"] * 6 + ["b"], **at_one, delta=1e-4),
        _own(statistics.CountDistinct, ["a", "b"], **at_one),
        _own(statistics.Quantile, [1, 2], level=0.5, bounds=(0, 4), epsilon=1, **coarse),
        _own(statistics.Quantiles, [1, 2, 0], levels=levels, bounds=(0, 2), **changed, rho=0.5, tie_bits=0, missing=0),
        _own(statistics.ClippingBounds, [1.0, 3.0], level=0.5, relation=_ADD_REMOVE, epsilon=4, **small),
    ]


def _local() -> list[Own]:
    """Return the clients of the local model."""
    space: dict[str, Any] = {"prime": 2, "dimension": 3}
    search = {"people": 9, "levels": (16, 26), "rows": (2, 1, 1)}
    return [
        _client(local.DirectResponse, 4, categories=5),
        _client(local.OneBitHadamard, 4, categories=5),
        _client(local.ProjectiveGeometry, 12, categories=13, prime=3, dimension=3),
        _client(local.HybridGeometry, 8, categories=9, blocks=2, **space),
        _client(local.HashedGeometry, 200, keys="integer:8", rows=2, seed=3, **space),
        _client(local.HeavyHitters, 200, keys="integer:26", seed=3, **search, **space),
        _client(local.DuchiBit, 0.5, bounds=(-1, 1)),
        _client(local.HybridMean, 0.5, bounds=(-1, 1), steps=4, window=3, weight=Fraction(1, 2)),
        _client(local.UnitVectors, (0.6, 0.8), dimension=2, codewords=5, cap=2, codebooks=2),
    ]


OWN: tuple[Own, ...] = (*_mechanisms(), *_statistics(), *_local())


@dataclass(frozen=True, slots=True)
class OwnVerdict:
    """What the levels found about one mechanism; `fit` is the chance of a worse fit if the sampler is right."""

    name: str
    guarantee: Guarantee
    exact: Verdict
    wire: Verdict
    statistical: Verdict
    fit: float
    suite: int

    @property
    def refuted(self) -> bool:
        """Whether any level refutes the guarantee, or the sampler does not follow its law."""
        levels = (self.exact, self.wire, self.statistical)
        return any(one.refuted for one in levels) or self.fit < ALARM / self.suite

    @property
    def outcome(self) -> Outcome:
        """Refuted, kept on all that was searched, or open where the exact level cannot tell."""
        return Outcome.REFUTED if self.refuted else self.exact.outcome


@told_in_a_table
@dataclass(frozen=True, slots=True)
class OwnAudit:
    """The audit of all of them, one line each."""

    verdicts: tuple[OwnVerdict, ...]
    draws: int
    seconds: float

    def __iter__(self) -> Iterator[OwnVerdict]:
        return iter(self.verdicts)

    @property
    def refuted(self) -> tuple[str, ...]:
        """The names of those that are refuted."""
        return tuple(one.name for one in self.verdicts if one.refuted)

    def table(self) -> Table:
        """Return the verdicts as a table; losses of concentrated guarantees are shares of what the guarantee allows."""
        columns = ["mechanism", "guarantee", "exact", "wire", "sampled", "fit p", "verdict"]
        rows = [
            [
                one.name,
                in_short(one.guarantee),
                _enclosed(one.exact),
                one.wire.outcome.name.lower(),
                f"{one.statistical.low:.2f}",
                f"{one.fit:.1g}",
                one.outcome.name.lower(),
            ]
            for one in self.verdicts
        ]
        return Table(columns, rows, digits=3)


def audit_own(*, draws: int = 5000, subjects: Iterable[Own] = OWN, progress: Progress | None = None) -> OwnAudit:
    """Audit mechanisms of discreet at every level, and their samplers against their laws.

    `draws` is how often each is run on two neighbors together, and again for its law; slow ones get a quarter. All
    verdicts together raise a false alarm with a probability below 1e-7, however many draws there are: 1e-9 for all
    bounds from runs, about 1e-9 for all fits, and 1e-9 for the form of the outputs of each mechanism. `progress` is
    told how many mechanisms are done, and of how many.

    >>> from discreet.testing.own import OWN
    >>> audit_own(draws=1000, subjects=OWN[:1]).refuted
    ()
    """
    started = time.perf_counter()
    listed, tell = tuple(subjects), listener(progress)
    verdicts = []
    for done, own in enumerate(listed):
        tell(done, len(listed))
        verdicts.append(_audited(own, draws, len(listed)))
    tell(len(listed), len(listed))
    return OwnAudit(tuple(verdicts), draws, time.perf_counter() - started)


def _audited(own: Own, draws: int, suite: int) -> OwnVerdict:
    """Run all levels on one mechanism."""
    mechanism = own.make()
    some = max(int(own.share * draws), _LEAST)
    looks = min(some, max(int(own.share * _WIRE_DRAWS), _LEAST))
    pairs = list(islice(mechanism.neighbors(), _WIRE_PAIRS))
    return OwnVerdict(
        name=own.name,
        guarantee=mechanism.guarantee,
        exact=audit(mechanism, search=0),
        wire=audit(mechanism, level=Level.WIRE, neighbors=pairs, draws=looks),
        statistical=audit(
            mechanism, level=Level.STATISTICAL, neighbors=pairs[:1], draws=some, confidence=1 - ALARM, suite=suite
        ),
        fit=fit_of(mechanism, own.value, some),
        suite=suite,
    )


def fit_of(mechanism: Mechanism, value: Any, draws: int) -> float:
    """Return the chance of a worse fit of real releases to the stated law, coordinate by coordinate, corrected."""
    law = mechanism.law(value)
    outputs = [mechanism.outcome(value) for _ in range(draws)]
    parts = getattr(law, "laws", None)
    if parts is None:
        return goodness_of_fit(law, outputs).p_value
    columns = [[np.ravel(output)[place] for output in outputs] for place in range(len(parts))]
    fits = [goodness_of_fit(part, column).p_value for part, column in zip(parts, columns, strict=True)]
    return min(1.0, len(fits) * min(fits, default=1.0))


def _enclosed(verdict: Verdict) -> str:
    """Write the loss on the inputs searched: one number where both ends agree, else the two."""
    low, high = f"{verdict.low:.4g}", "?" if verdict.high is None else f"{verdict.high:.4g}"
    return low if low == high else f"{low} to {high}"


def in_short(guarantee: Guarantee) -> str:
    """Write a guarantee in a few letters."""
    match guarantee:
        case PureDP():
            return f"{float(guarantee.epsilon):.4g}-DP"
        case ApproxDP():
            return f"({float(guarantee.epsilon):.4g}, {float(guarantee.delta):.1g})-DP"
        case ZCDP() if guarantee.delta:
            return f"({float(guarantee.rho):.4g}, {float(guarantee.delta):.1g})-zCDP"
        case ZCDP():
            return f"{float(guarantee.rho):.4g}-zCDP"
    return str(guarantee).partition(":")[0]
