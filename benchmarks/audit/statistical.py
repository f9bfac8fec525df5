"""The statistical audit of the museum's twenty against the best bound that any auditor can expect, and false alarms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from benchmarks.common.bars import Bar
from discreet.audit import Level, Until, audit, best_expected_bound
from discreet.testing.museum import Exhibit, benchmark

DRAWS = 6_000_000
SHARE = 0.9
AUDITS = 1000
SMALL = 4000
TIGHT = (
    "Laplace",
    "TruncatedGeometric",
    "NoisyHist1",
    "ReportNoisyMax2",
    "OneTimeRAPPOR",
)  # the loss is the guarantee, or near


def bounds() -> Iterator[Bar]:
    """Yield one line a mechanism: its bound, the best that can be expected of as many draws, and the time."""
    for exhibit in benchmark():
        verdict = audit(exhibit, level=Level.STATISTICAL, draws=DRAWS)
        best = _best(exhibit)
        yield Bar(
            exhibit.label.name,
            f"{verdict.low:.4f}, {verdict.low / best:.0%} of {best:.4f}, {verdict.seconds:.1f} s",
            f">= {SHARE:.0%}",
            verdict.low >= SHARE * best,
        )


def _best(exhibit: Exhibit) -> float:
    """Return the best expected bound over all pairs of neighbors in both directions."""
    found = 0.0
    for first, second in exhibit.neighbors():
        pair = exhibit.pair(first, second)
        if pair is not None:
            found = max(found, best_expected_bound(pair, DRAWS), best_expected_bound(pair.reversed(), DRAWS))
    return found


def false_alarms() -> Iterator[Bar]:
    """Yield how many audits wrongly refute mechanisms whose loss is exactly their guarantee, for both ways to stop."""
    right = [one for one in benchmark() if one.label.name in TIGHT]
    wrong = 0
    for exhibit, until, _ in product(right, Until, range(AUDITS // (2 * len(right)))):
        wrong += audit(exhibit, level=Level.STATISTICAL, draws=SMALL, until=until).refuted
    yield Bar(
        f"false alarms over {AUDITS} audits of {', '.join(TIGHT)}, both ways to stop",
        f"{wrong} of {AUDITS}",
        "<= 5 %",
        wrong <= 0.05 * AUDITS,
    )


def bars() -> Iterator[Bar]:
    """Yield everything."""
    yield from bounds()
    yield from false_alarms()
