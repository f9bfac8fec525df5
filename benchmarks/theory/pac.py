"""How many people private PAC learners need, against formulas and the textbook; laws of small cases by enumeration."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from benchmarks.common.report import Row, duration
from discreet import learning
from discreet.laws import Softmax
from discreet.learning.pac.people_needed import slope_of

Table = tuple[NDArray[Any], NDArray[Any]]
Errors = NDArray[np.int64]
RELATIONS = (dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE)
SHORT = {dp.Relation.ADD_REMOVE: "add/remove", dp.Relation.CHANGE_ONE: "change-one"}
BITS, PEOPLE, RUNS, RECOVERED = 100, 1_400, 400, 0.45
ALPHA, BETA, TABLES, WITHIN = 0.1, 0.05, 200, 0.10
BIG = 1_000_000


def parities() -> Iterator[Row]:
    """Recover parities of a hundred bits, and enumerate all tables of two bits."""
    for relation, people in ((RELATIONS[0], PEOPLE), (RELATIONS[1], 2 * PEOPLE)):
        learner = learning.ParityLearner(BITS, epsilon=0.1, relation=relation)
        draw = np.random.default_rng(1)
        found, seconds = 0, 0.0
        for _ in range(RUNS):
            rows, secret = draw.integers(0, 2, (people, BITS)), draw.integers(0, 2, BITS)
            labels = rows @ secret % 2
            start = time.process_time()
            parity = learner((rows, labels))
            seconds = max(seconds, time.process_time() - start)
            found += parity is not None and parity.places == tuple(np.flatnonzero(secret))
        textbook = math.ceil(8 / (0.1 * ALPHA) * (BITS * math.log(2) + math.log(4)))
        bar = (f">= {RECOVERED:.0%}, <= 1 s", found >= RECOVERED * RUNS and seconds <= 1)
        yield Row(
            f"parity of {BITS} bits, epsilon 0.1, {SHORT[relation]}, n {people:,}",
            f"recovered in {found / RUNS:.1%} of {RUNS} runs, slowest {duration(seconds)}",
            f"n of the textbook {textbook:,}; 1 - b {1 - float(learner.nothing):.3f}",
            f"{textbook / people:.1f}",
            *(bar if relation is RELATIONS[0] else ()),
        )
    for relation, epsilon in product(RELATIONS, (0.1, 1.0)):
        worst, pairs = _worst_loss(learning.ParityLearner(2, epsilon=epsilon, relation=relation), relation)
        what = f"parity, all tables of 2 bits and up to 3 rows, epsilon {epsilon:g}, {SHORT[relation]}"
        holds = epsilon * (1 - 1e-9) <= worst <= epsilon * (1 + 1e-12)
        yield Row(what, f"worst loss {worst:.9f} of {pairs:,} pairs", "", "", f"{epsilon:g}", holds)


def _worst_loss(learner: Any, relation: dp.Relation) -> tuple[float, int]:
    """Return the largest loss over all pairs of neighboring tables, and their number, from exact chances."""
    every = [(bits, label) for bits in product((0, 1), repeat=2) for label in (0, 1)]
    laws: dict[Any, NDArray[Any]] = {}

    def law(entries: Any) -> NDArray[Any]:
        key = tuple(sorted(entries))
        if key not in laws:
            rows = np.array([bits for bits, _ in key], dtype=np.int64).reshape(-1, 2)
            laws[key] = np.array(learner.law((rows, np.array([label for _, label in key]))).probabilities, dtype=object)
        return laws[key]

    worst, pairs = 0.0, 0
    for size in (1, 2, 3):
        for entries in combinations_with_replacement(every, size):
            for place in range(size):
                rest = entries[:place] + entries[place + 1 :]
                others = [rest] if relation is RELATIONS[0] else [(*rest, other) for other in every]
                for other in others:
                    one, two, pairs = law(entries), law(other), pairs + 1
                    ratios = [float(p / q) if q else math.inf for p, q in zip(one, two, strict=True) if p or q]
                    worst = max(worst, *(abs(math.log(ratio)) if ratio else math.inf for ratio in ratios))
    return worst, pairs


def _stumps(features: int) -> Callable[[np.random.Generator, int], Errors]:
    """Return a maker of errors: bits and their negations, the first bit is the label."""

    def made(draw: np.random.Generator, people: int) -> Errors:
        rows = draw.integers(0, 2, (people, features), dtype=np.int8)
        wrong = rows != rows[:, :1]
        return np.concatenate([wrong, ~wrong], axis=1).cumsum(axis=0, dtype=np.int64)

    return made


def _parities(features: int) -> Callable[[np.random.Generator, int], Errors]:
    """Return a maker of errors of all parities; 0 is the place of the truth."""
    size = 1 << features
    odd = np.array([(one & np.arange(size)) for one in range(size)])
    odd = np.bitwise_count(odd) & 1

    def made(draw: np.random.Generator, people: int) -> Errors:
        return np.asarray(odd[draw.integers(0, size, people)].cumsum(axis=0, dtype=np.int64))

    return made


CLASSES = {
    "stumps of 50 bits": (_stumps(50), 100),
    "stumps of 1,000 bits": (_stumps(1_000), 2_000),
    "parities of 10 bits, enumerated": (_parities(10), 1_024),
}


def people_needed() -> Iterator[Row]:
    """Find the least number of people at which the right hypothesis comes out in 95 % of draws."""
    for name, (made, size) in CLASSES.items():
        least = {
            (relation, epsilon): learning.sample_sizes(
                math.log(size), alpha=ALPHA, beta=BETA, epsilon=epsilon, relation=relation, gap=0.5
            )
            for relation, epsilon in product(RELATIONS, (0.1, 1.0))
        }
        longest = round(1.3 * max(sizes.gap or 0 for sizes in least.values()))
        right: dict[Any, NDArray[np.float64]] = {key: np.zeros(longest) for key in [*least, None]}
        draw = np.random.default_rng(2)
        for _ in range(TABLES):
            errors = made(draw, longest)
            for key in right:
                slope = 1e3 if key is None else slope_of(key[1], key[0])  # without privacy the least errors win
                weights = np.exp(-slope * errors)
                right[key] += weights[:, 0] / weights.sum(axis=1) / TABLES
        without = _first(right[None])
        for (relation, epsilon), sizes in least.items():
            found = _first(right[relation, epsilon])
            formula = math.ceil(math.log(size / BETA) / (slope_of(epsilon, relation) * 0.5))
            bar = (f"within {WITHIN:.0%} of {formula:,}", abs(found / formula - 1) <= WITHIN)
            yield Row(
                f"{name}, epsilon {epsilon:g}, {SHORT[relation]}",
                f"n95 {found:,}; without privacy {without:,}",
                f"by the gap {formula:,}, {sizes.gap:,} with sampling; textbook: realizable {sizes.realizable:,} "
                f"({sizes.realizable / found:.1f} "
                f"times n95), agnostic {sizes.agnostic:,} ({sizes.agnostic / found:.0f} times)",
                f"{found / formula:.3f}",
                *(bar if epsilon < 1 else ()),
            )


def conjunctions() -> Iterator[Row]:
    """Find from how many people on a conjunction of one bit among twenty is learned in 95 % of draws."""
    draw, tries = np.random.default_rng(6), 200
    for epsilon in (0.1, 1.0):
        learner = learning.ConjunctionLearner(20, epsilon=epsilon, delta=1e-6, relation=RELATIONS[0])
        enough = math.ceil(4 * learner.features * learner.threshold / ALPHA)
        people, good = round(4 * learner.threshold), 0
        while good < (1 - BETA) * tries:
            people, good = math.ceil(1.03 * people), 0
            for _ in range(tries):
                rows = draw.integers(0, 2, (people, 20))
                found = learner((rows, rows[:, 0]))
                good += found.ones == (0,) and not found.zeros  # another literal more is an error of a quarter
        yield Row(
            f"conjunctions of 20 bits, epsilon {epsilon:g}, delta 1e-06, {SHORT[RELATIONS[0]]}",
            f"n95 {people:,} (in steps of 3 %)", f"enough by the theorem {enough:,}", f"{enough / people:.0f}",
        )  # fmt: skip


def _first(chances: NDArray[np.float64]) -> int:
    """Return the number of people from which on the chance is 95 %."""
    return int(np.flatnonzero(chances < 1 - BETA).max()) + 2


def thresholds() -> Iterator[Row]:
    """Compare the law over intervals with brute force, draws with the law, and time a million rows."""
    draw = np.random.default_rng(3)
    same, tables = 0, 500
    for relation in RELATIONS:
        learner = learning.StumpLearner(1, bounds=(-3, 12), epsilon=1, relation=relation, both_sides=False)
        for _ in range(tables // 2):
            count = int(draw.integers(0, 20))
            rows, labels = draw.integers(-5, 15, (count, 1)), draw.integers(0, 2, count)
            values = np.clip(rows[:, 0], -3, 12)
            scores = [-int(np.count_nonzero((values >= threshold) != labels)) for threshold in range(-3, 14)]
            wanted, found = Softmax(scores, learner.slope), learner.law((rows, labels))
            same += all(wanted.pmf(place) == found.pmf(place) for place in range(17))
    yield Row(
        "thresholds among 16 values: chances beside brute force", f"equal for {same} of {tables} tables",
        bar="all", holds=same == tables,
    )  # fmt: skip
    value = (draw.integers(-5, 15, (30, 1)), draw.integers(0, 2, 30))
    fitted = dp.goodness_of_fit(learner.law(value), [learner.outcome(value) for _ in range(20_000)])
    yield Row(
        "20,000 draws beside the law", f"p value {fitted.p_value:.3f}", bar=">= 1e-6", holds=fitted.p_value >= 1e-6
    )
    rows = draw.integers(0, 2**64 - 1, (BIG, 1), dtype=np.uint64, endpoint=True)
    wrong = draw.random(BIG) < 0.1
    wide = learning.StumpLearner(1, bounds=(0, 2**64 - 1), epsilon=0.1, relation=RELATIONS[0], both_sides=False)
    taken = []
    for _ in range(3):
        start = time.process_time()
        stump = wide((rows, (rows[:, 0] >= 2**63) ^ wrong))
        taken.append(time.process_time() - start)
    off = abs(stump.threshold - 2**63) / 2**64
    yield Row(
        f"{BIG:,} rows over 2^64 values, epsilon 0.1",
        f"{duration(min(taken))} CPU, threshold off by {off:.1e} of the range",
        bar="<= 1 s", holds=min(taken) <= 1,
    )  # fmt: skip
