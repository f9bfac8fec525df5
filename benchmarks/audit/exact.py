"""The exact audit of the museum: values beside known ones, time of the whole table, tight searches, false bounds."""

from __future__ import annotations

import math
import time

from benchmarks.common.bars import Bar
from discreet.audit import audit
from discreet.testing.museum import MUSEUM, Exhibit, benchmark
from discreet.testing.museum.tour import PUBLISHED, in_digits, tour

_MOST_SECONDS, _MOST_SEARCH = 10.0, 5.0
# the largest losses on the published inputs, computed independently to four digits; None where no value was known
KNOWN = {
    "Laplace": 0.1, "TruncatedGeometric": 0.1178, "NoisyHist1": 0.1, "NoisyHist2": 10.0, "ReportNoisyMax1": 0.0946,
    "ReportNoisyMax2": 0.1, "ReportNoisyMax3": 0.25, "ReportNoisyMax4": math.inf, "SVT1": 0.0885, "SVT2": 0.0882,
    "SVT3": 0.5, "SVT4": 0.1725, "SVT5": math.inf, "SVT6": 0.42, "RAPPOR": 0.3001, "OneTimeRAPPOR": 0.6005,
    "LaplaceParallel": 0.1, "SVT34Parallel": None, "PrefixSum": 1.0, "NumericalSVT": 0.0805,
}  # fmt: skip
TIGHT = {"SVT1": 0.1, "SVT4": 0.175, "ReportNoisyMax1": 0.1}
FALSE = {("NoisyHist2", "StatDP, second run"), ("RAPPOR", "DP-Sniper, perceptron")}


def bars() -> list[Bar]:
    """Run everything and return one line a bar."""
    return [*_values(), *_searches(), *_whole_museum()]


def _values() -> list[Bar]:
    """Audit the benchmark's twenty mechanisms on their published inputs, both ways."""
    started = time.perf_counter()
    found = tour(benchmark())
    seconds = time.perf_counter() - started
    lines = []
    for stop in found:
        known, low, high = KNOWN[stop.label.name], stop.verdict.low, stop.verdict.high
        tight = high is not None and (low == high or high - low < 1e-6)
        right = tight if known is None else tight and (low == known or abs(low - known) < 6e-5)
        expected = "a value" if known is None else in_digits(known)
        lines.append(Bar(f"{stop.label.name}: largest loss, exact", in_digits(low), expected, right))
    lines.append(Bar("all twenty, all pairs, one process", f"{seconds:.2f} s", f"<= {_MOST_SECONDS:g} s",
                     seconds <= _MOST_SECONDS))  # fmt: skip
    sampled = sum(published.sniper_seconds[0] for published in PUBLISHED.values())
    lines.append(Bar("published: DP-Sniper, logistic, on its authors' machine", f"{sampled:,} s"))
    false = {(stop.label.name, who) for stop in found for who in stop.false_bounds}
    named = "; ".join(f"{name} {PUBLISHED[name].bounds[who]} ({who})" for name, who in sorted(false))
    lines.append(Bar("published lower bounds above the truth", named, "the two known ones", false == FALSE))
    return lines


def _searches() -> list[Bar]:
    """Search for the worst neighbors of right and wrong mechanisms."""
    exhibits = {exhibit.label.name: exhibit for exhibit in benchmark()}
    return [_search(exhibits[name], limit) for name, limit in TIGHT.items()]


def _search(exhibit: Exhibit, limit: float) -> Bar:
    """Search by coordinate ascent with the exact loss as its objective."""
    verdict = audit(exhibit, search=2)
    met = round(verdict.low, 4) == limit and verdict.seconds <= _MOST_SEARCH
    measured = f"{verdict.low:.4f} in {verdict.seconds:.1f} s ({verdict.pairs} pairs kept)"
    return Bar(f"{exhibit.label.name}: tight search", measured, f"{limit:.4f}, <= {_MOST_SEARCH:g} s", met)


def _whole_museum() -> list[Bar]:
    """Give every exhibit the verdict on its label."""
    found = tour(MUSEUM)
    right = len(found.stops) - len(found.surprises)
    measured = f"{right} of {len(found.stops)} in {found.seconds:.1f} s"
    return [Bar("the whole museum, each at the level on its label", measured, "all as labeled", not found.surprises)]
