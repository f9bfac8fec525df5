"""The error of the designed protocols: exact variance over the optimum, the measured one beside it, and the peers'."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.local.data import Integers, standard_error, zipf
from benchmarks.local.protocols_of_peers import LocalPeer, MultiFreq, PureLDP, started
from discreet.local import FrequencyOracle, design

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 6.0)
MOST_RATIO, STANDARD_ERRORS, EXPONENT, HEAVIEST = 1.03, 4.0, 1.1, 16
# items: (people, draws of all their reports)
WORK = {1024: (100_000, 100), 65_536: (1_000_000, 40)}
# items: (oracle: people), as many as the peer serves in a few seconds
PURE_WORK = {1024: {"OLH": 2000, "HR": 100_000}, 65_536: {"OLH": 50, "HR": 50_000}}
MULTI_WORK = {1024: {"OUE": 20_000}, 65_536: {"OUE": 300}}


def optimum(epsilon: float, people: int) -> float:
    """Return 4 e^eps / (n (e^eps - 1)^2), the least variance of the frequency of a rare value in a large domain."""
    return 4 * math.exp(epsilon) / (people * math.expm1(epsilon) ** 2)


def estimated_error(spec: FrequencyOracle, held: Integers) -> float:
    """Let everybody report once and return the mean squared error over all items."""
    found = spec.aggregator().add(spec.client().report_many(held)).estimate()
    return float(np.mean((found.value - _shares(spec, held)) ** 2))


def predicted_error(spec: FrequencyOracle, held: Integers) -> float:
    """Return the mean over the items of the exact variance of their frequencies."""
    frequencies, counts = np.unique(_shares(spec, held), return_counts=True)
    variances = [spec.variance(held.size, float(frequency)) for frequency in frequencies]
    return float(np.average(variances, weights=counts))


def rows() -> Iterator[Bar]:
    """Measure every domain and epsilon, ours first."""
    for items, (people, draws) in WORK.items():
        held = zipf(people, items, EXPONENT, items)
        for epsilon in EPSILONS:
            yield from _ours(items, epsilon, held, draws)
    with started(PureLDP) as peer:
        if peer is not None:
            yield from _theirs(peer, PURE_WORK)
    with started(MultiFreq) as peer:
        if peer is not None:
            yield from _theirs(peer, MULTI_WORK)


def _ours(items: int, epsilon: float, held: Integers, draws: int) -> Iterator[Bar]:
    """Compare the exact variance with the optimum, and the measured error with the exact one."""
    spec = design(people=held.size, categories=items, epsilon=epsilon).spec
    ratio = spec.variance(held.size) / optimum(epsilon, held.size)
    what = f"d = {items}, epsilon {epsilon:g}"
    heaviest = float(
        np.mean([spec.variance(held.size, frequency) for frequency in np.sort(_shares(spec, held))[-HEAVIEST:]])
    )
    words = f"{heaviest / optimum(epsilon, held.size):.3g} on the {HEAVIEST} heaviest"
    measured = f"{ratio:.4f} ({spec.protocol}, {spec.report_bits} bits; {words})"
    yield Bar(f"{what}: exact variance over the optimum", measured, f"<= {MOST_RATIO}", ratio <= MOST_RATIO)
    exact = predicted_error(spec, held)
    errors = np.array([estimated_error(spec, held) for _ in range(draws)]) / exact
    spread = standard_error(errors)
    off = abs(float(errors.mean()) - 1) / spread
    measured = f"{errors.mean():.4f} +- {spread:.4f}, {off:.1f} standard errors ({draws} draws of n = {held.size:,})"
    yield Bar(f"{what}: measured error over the exact one", measured, f"within {STANDARD_ERRORS:g} of 1",
              off <= STANDARD_ERRORS)  # fmt: skip


def _theirs(peer: LocalPeer, work: dict[int, dict[str, int]]) -> Iterator[Bar]:
    """Measure a peer's oracles on the same kind of people, once each."""
    for items, oracles in work.items():
        held = zipf(max(oracles.values()), items, EXPONENT, items)
        peer.keep("held", held)
        for epsilon in EPSILONS:
            found = [_their_error(peer, oracle, epsilon, items, people) for oracle, people in oracles.items()]
            yield Bar(f"d = {items}, epsilon {epsilon:g}: {peer.version}, error over the optimum", "; ".join(found))


def _their_error(peer: LocalPeer, oracle: str, epsilon: float, items: int, people: int) -> str:
    """Return the ratio of one oracle in words; an estimate that is never negative is judged on heavy items as well."""
    found = peer.measured("frequencies", oracle=oracle, epsilon=epsilon, items=items, column="held", people=people)
    least = optimum(epsilon, people)
    words = f"{oracle} {found['error'] / least:.3g}"
    if "heaviest" in found:
        words += f" (never negative, so not unbiased; {found['heaviest'] / least:.3g} on the {HEAVIEST} heaviest)"
    return f"{words}, n = {people:,}"


def _shares(spec: FrequencyOracle, held: Integers) -> np.typing.NDArray[np.float64]:
    """Return the true frequencies of all items."""
    return np.bincount(held, minlength=spec.category_count) / held.size
