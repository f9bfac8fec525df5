"""Exact enumeration of the laws of reports: the largest ratio against e^epsilon, the audit's verdict, the sampler."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.local.protocols import EPSILONS, Case, cases
from discreet.audit import Outcome, audit
from discreet.audit.goodness import goodness_of_fit
from discreet.randomness.rigor import ball, lower_float, precision, upper_float

MOST_UNUSED, FALSE_ALARM, DRAWS, PRECISION = 0.01, 1e-6, 20_000, 256


def rows() -> Iterator[Bar]:
    """Enumerate every small case at every epsilon, one line a case."""
    chances: list[float] = []
    for case in cases():
        unused, kept, outputs = [], 0, 0
        for epsilon in EPSILONS:
            spec = case.build(epsilon)
            values = case.listed(spec)
            unused.append(_unused(spec, values, epsilon))
            kept += audit(spec.mechanism(), spec.guarantee, neighbors=_pairs(values)).outcome is Outcome.KEPT
            chances += _chances(spec, (values[0], values[-1]))
            outputs = max(outputs, spec.cells)
        yield from _lines(case, unused, kept, outputs)
    worst = min(chances) * len(chances)
    measured = f"{len(chances)} laws, {DRAWS:,} draws each: least p-value {min(chances):.2g}"
    yield Bar("samplers against their laws (G test)", measured, f"no alarm at {FALSE_ALARM:g}", worst >= FALSE_ALARM)


def _lines(case: Case, unused: list[tuple[float, float]], kept: int, outputs: int) -> Iterator[Bar]:
    """Say how much of epsilon is used at least and at most, and what the audit found."""
    least, most = min(low for low, _ in unused), max(high for _, high in unused)
    measured = f"1 - {most:.1g} to 1 - {least:.1g} (up to {outputs} outputs)"
    within = least >= 0 and most <= MOST_UNUSED
    yield Bar(f"{case.name}: largest log ratio / epsilon, epsilon .1 to 6", measured, "in [.99, 1]", within)
    yield Bar(f"{case.name}: exact audit", f"{kept} of {len(EPSILONS)} kept", "all kept", kept == len(EPSILONS))


def _unused(spec: Any, values: tuple[Any, ...], epsilon: Fraction) -> tuple[float, float]:
    """Return proven bounds of 1 - log(largest ratio over all outputs and pairs of values) / epsilon."""
    laws = [spec.law(value).probabilities for value in values]
    ratio = max(max(column) / min(column) for column in zip(*laws, strict=True))
    with precision(PRECISION):
        unused = 1 - ball(ratio).log() / ball(epsilon)
        return lower_float(unused), upper_float(unused)


def _pairs(values: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """Return pairs for the audit: each value beside the first and the last."""
    ends = (values[0], values[-1])
    return [(end, value) for end in ends for value in values if value != end]


def _chances(spec: Any, values: tuple[Any, ...]) -> Iterator[float]:
    """Yield the p-values of many reports of a value against its law."""
    for value in values:
        reports = spec.client().report_many(np.array([value] * DRAWS))
        yield goodness_of_fit(spec.law(value), reports.tolist()).p_value
