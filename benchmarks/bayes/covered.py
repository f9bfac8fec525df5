"""How a calibration stands against its bars: coverage within so many standard errors, ranks that are uniform."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchmarks.common.bars import Bar
from discreet.bayes import CalibrationCheck, Model, calibration

LEAST_P = 1e-4  # of one test among 18 or so


def within(reps: int) -> float:
    """Return four standard errors of a coverage of 95 % over independent runs."""
    return 4.0 * math.sqrt(0.95 * 0.05 / reps)


def coverage_bar(what: str, found: CalibrationCheck, name: str, *, tolerance: float, beside: str = "") -> Bar:
    """Return the line of one parameter: its coverage for the population, and the test of its ranks."""
    covered, p = found.coverage(name), found.uniform(name)
    words = f"{covered.value:.4f} (se {covered.error:.4f}, {found.reps:,} runs), KS p {p:.3g}"
    failed = f", {found.failed} runs failed" if found.failed else ""
    met = abs(covered.value - 0.95) <= tolerance and p > LEAST_P
    return Bar(f"{what}: {name}", words + failed + beside, f".95 +- {tolerance:.4f}, p > {LEAST_P:g}", met)


def mass_bar(what: str, found: CalibrationCheck, name: str) -> Bar:
    """Return the line of a number of the table: its coverage beside the mass that its printed intervals have."""
    covered, mass = found.coverage(name), found.mass(name)
    away = abs(covered.value - mass.value) / math.hypot(covered.error, mass.error)
    words = f"{covered.value:.4f} (se {covered.error:.4f}), mean mass {mass.value:.4f}"
    return Bar(f"{what}: {name}", words, "within 4 se of the mass", away <= 4.0)


def model_bars(
    what: str, model: Model, plan: Any, names: tuple[str, ...], *, reps: int, seed: int, **price: float
) -> Iterator[Bar]:
    """Calibrate a model and return a line for every parameter; counts of the table are held against their mass."""
    found = calibration(model, plan, reps=reps, seed=seed, **price)
    tolerance = within(reps)
    for name in names:
        integer = found.mass(name).value > 0.9505 and name in ("count", "people")
        yield mass_bar(what, found, name) if integer else coverage_bar(what, found, name, tolerance=tolerance)
