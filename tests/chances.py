"""How often something random may happen before a test calls it wrong: exact binomial tails at one false-alarm rate."""

from __future__ import annotations

from scipy.stats import binom

ALARM = 1e-9  # the suite makes thousands of comparisons with real noise, and one false alarm fails all of it


def fewest(runs: int, chance: float) -> int:
    """Return the least count that is no alarm: with this chance a run, fewer happen with a chance below `ALARM`."""
    return int(binom.ppf(ALARM, runs, chance))


def most(runs: int, chance: float) -> int:
    """Return the largest count that is no alarm: with this chance a run, more happen with a chance below `ALARM`."""
    return int(binom.isf(ALARM, runs, chance))
