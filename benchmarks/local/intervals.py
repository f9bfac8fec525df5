"""The coverage of confidence intervals: one value at a time, and all values at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.local.data import Floats, standard_error, zipf
from discreet.local import design

# (people, items, epsilon, draws): with 1024 items 200 draws are 204 800 intervals
WORK = ((1_000_000, 1024, 1.0, 200), (1_000_000, 1024, 4.0, 200), (100_000, 1024, 1.0, 400), (100_000, 16, 4.0, 1000))
CONFIDENCE, LEAST, STANDARD_ERRORS = 0.95, 0.945, 4.0
EXPONENT, MANY = 1.1, 1_000_000


def rows() -> Iterator[Bar]:
    """Draw all reports again and again, and count the intervals that hold the true frequency.

    Intervals invert the law of a whole number of reports, so that they hold a little more often than they say: by less
    than a standard error for a million people. With fewer people only the lower side is a bar.
    """
    for people, items, epsilon, draws in WORK:
        held = zipf(people, items, EXPONENT, items)
        truth = np.bincount(held, minlength=items) / people
        spec = design(people=people, categories=items, epsilon=epsilon).spec
        each, together = np.empty(draws), np.empty(draws)
        for draw in range(draws):
            frequencies = spec.aggregator().add(spec.client().report_many(held)).estimate()
            each[draw] = frequencies.intervals(confidence=CONFIDENCE).contain(truth).mean()
            together[draw] = frequencies.intervals(confidence=CONFIDENCE, together=True).contain(truth).all()
        what = f"{spec.protocol}, d = {items}, epsilon {epsilon:g}, n = {people:,}"
        yield _each(f"{what}: {draws * items:,} intervals of 95 %", each, both_sides=people >= MANY)
        yield _together(f"{what}: all {items} intervals at once, {draws} times", together)


def _each(what: str, frequencies: Floats, *, both_sides: bool) -> Bar:
    """Hold the mean coverage of a draw against the stated confidence; the error comes from whole draws."""
    spread, covered = standard_error(frequencies), float(frequencies.mean())
    off = (covered - CONFIDENCE) / spread
    measured = f"{covered:.3%} +- {spread:.3%}, {off:+.1f} standard errors"
    if both_sides:
        bar, met = "95 % +- 4 standard errors, >= 94.5 %", abs(off) <= STANDARD_ERRORS and covered >= LEAST
    else:
        bar, met = ">= 95 % - 4 standard errors", off >= -STANDARD_ERRORS
    return Bar(what, measured, bar, met)


def _together(what: str, held: Floats) -> Bar:
    """Hold the frequency of draws in which no interval missed against the stated confidence."""
    covered = float(held.mean())
    spread = float(np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / held.size))
    measured = f"{covered:.2%} (a standard error is {spread:.2%})"
    return Bar(what, measured, ">= 95 % - 4 standard errors", covered >= CONFIDENCE - STANDARD_ERRORS * spread)
