"""What DualQuery's draws cost: the draws that epsilon 1 buys by every accounting, and the time of exact draws."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.common.report import duration
from discreet.audit import audit
from discreet.laws import SignedDraws
from discreet.privacy import Relation
from discreet.synthesis import Accounting, Drawing, Neighbors, most_draws

SIZE, ETA, ROUNDS = 30162, Fraction(4, 5), 40
DELTAS = {"1e-3": Fraction(1, 1000), "1e-6": Fraction(1, 10**6), "1/n^2": Fraction(1, SIZE**2)}
BOUGHT = {
    Accounting.PURE: (24, 24, 24),
    Accounting.PAPER: (380, 202, 138),
    Accounting.REFERENCE: (1098, 584, 400),
    Accounting.ZCDP: (8220, 3371, 2083),
}
DRAWS, REPEATS, SEED, SLOWEST = 2000, 9, 1, 0.006


def rows() -> Iterator[Bar]:
    """Return everything this piece measures."""
    yield from bought()
    yield from drawn()
    yield from audited()


def bought() -> Iterator[Bar]:
    """Count the draws a round that epsilon 1 buys on Adult, beside what the formulas gave when worked out by hand."""
    adult = Neighbors(Relation.CHANGE_ONE, people=SIZE)
    for accounting in Accounting:
        started = time.perf_counter()
        found = tuple(
            most_draws(eta=ETA, rounds=ROUNDS, neighbors=adult, epsilon=1, delta=delta, accounting=accounting)
            for delta in DELTAS.values()
        )
        took = duration((time.perf_counter() - started) / len(DELTAS))
        expected = BOUGHT.get(accounting)
        least = BOUGHT[Accounting.ZCDP]
        met = found == expected if expected else all(a >= b for a, b in zip(found, least, strict=True))
        yield Bar(
            f"draws a round, Adult, epsilon 1, delta {', '.join(DELTAS)}: {accounting.name.lower()} ({took} each)",
            " / ".join(map(str, found)),
            " / ".join(map(str, expected)) if expected else ">= " + " / ".join(map(str, least)),
            met,
        )


def drawn() -> Iterator[Bar]:
    """Time exact signed draws from scores of a late round, weights included."""
    coins = np.random.default_rng(SEED)
    for queries in (100_000, 1_000_000):
        scores = coins.integers(-1_000_000, 1_000_000, queries)
        rate = ETA / (2 * SIZE)
        took = _best(lambda scores=scores, rate=rate: SignedDraws(scores, rate).draw(DRAWS))  # type: ignore[misc]
        known = queries == 100_000
        yield Bar(
            f"{DRAWS:,} exact signed draws among {queries:,} queries, best of {REPEATS}",
            duration(took),
            f"<= {duration(SLOWEST)}" if known else "",
            took <= SLOWEST if known else None,
        )


def audited() -> Iterator[Bar]:
    """Compare the exact loss of one round with its price."""
    for relation in (Relation.ADD_REMOVE, Relation.CHANGE_ONE):
        neighbors = Neighbors(relation, people=10)
        drawing = Drawing(eta=2, turn=4, sums=[1, 0, 3], draws=2, neighbors=neighbors)
        verdict, price = audit(drawing), float(drawing.guarantee.epsilon)
        yield Bar(
            f"exact audit of a round, {relation.value}",
            f"largest loss {verdict.low:.9f}, {verdict.outcome.name.lower()}",
            f"<= {price:g}, attained",
            not verdict.refuted and verdict.low > 0.999 * price,
        )


def _best(measured: Callable[[], object]) -> float:
    """Return the least seconds of some calls, after one that is not counted."""
    measured()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        measured()
        times.append(time.perf_counter() - started)
    return min(times)
