"""Audits of what is ours: careless floats on the wire, planted faults by level, every mechanism, caps of one run."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from benchmarks.common.bars import Bar
from discreet.audit import Level, Outcome, audit, one_run
from discreet.privacy import PureDP
from discreet.testing import PLANTED, Planted, audit_own

_CAPS = {100: 3.49, 1000: 5.81, 10_000: 8.11, 100_000: 10.42}
_AUDITS = 20


def bars() -> Iterator[Bar]:
    """Return everything this piece measures."""
    yield numpy_on_the_wire()
    yield from planted()
    yield ours()
    yield caps()


def numpy_on_the_wire() -> Bar:
    """Audit numpy's Laplace noise with the default draws, several times; the slowest counts."""
    generator = np.random.default_rng()
    seconds, lows = [], []
    for _ in range(_AUDITS):
        started = time.perf_counter()
        verdict = audit(
            lambda value: float(generator.laplace(value, 10.0)),
            PureDP(0.1),
            neighbors=[(0.0, 1.0)],
            level=Level.WIRE,
        )
        seconds.append(time.perf_counter() - started)
        lows.append(verdict.low if verdict.refuted else 0.0)
    measured = f"{max(seconds):.2f} s at most, epsilon >= {min(lows):.2f} each of {_AUDITS} times"
    met = max(seconds) <= 2.0 and min(lows) > 0.1
    return Bar("wire: numpy's Laplace noise, claimed 0.1", measured, "caught in 2 s", met)


def planted() -> Iterator[Bar]:
    """Run the level that guarantees each planted fault on the faulty mechanism and on the right one."""
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for fault in PLANTED.values():
        found[_level(fault)].append((fault.caught(), fault.false_alarm()))
    for level, results in found.items():
        yield _caught(f"planted faults: {level}", results)
    everything = [result for results in found.values() for result in results]
    yield _caught("planted faults: all", everything)


def _level(fault: Planted) -> str:
    """Return the level, all duties of the conformance kit together."""
    return fault.claimed_by if isinstance(fault.level, Level) else "conformance kit"


def _caught(what: str, results: list[tuple[bool, bool]]) -> Bar:
    """Count those caught and those right mechanisms that were convicted."""
    caught, alarms = sum(one for one, _ in results), sum(alarm for _, alarm in results)
    measured = f"{caught} of {len(results)} caught, {alarms} false alarms"
    enough = len(results) >= 30 or not what.endswith("all")
    return Bar(what, measured, "95 % of at least 30, none", caught >= 0.95 * len(results) and not alarms and enough)


def ours() -> Bar:
    """Audit every mechanism and statistic of discreet at every level."""
    found = audit_own()
    kept = sum(one.outcome is Outcome.KEPT for one in found)
    total = len(found.verdicts)
    measured = f"{kept} of {total} kept, {len(found.refuted)} refuted, {found.seconds:.0f} s"
    return Bar("audit of every mechanism of discreet", measured, "all kept", kept == total)


def caps() -> Bar:
    """Compute what all right guesses refute."""
    found = {count: one_run(canaries=count, guesses=count, right=count).cap for count in _CAPS}
    measured = ", ".join(f"{count:,}: {value:.2f}" for count, value in found.items())
    met = all(f"{found[count]:.2f}" == f"{value:.2f}" for count, value in _CAPS.items())
    return Bar("one run: caps by guesses", measured, "3.49, 5.81, 8.11, 10.42", met)


if __name__ == "__main__":
    for bar in bars():
        print(f"{'met ' if bar.met else 'MISSED'}  {bar.what}: {bar.measured} (bar: {bar.bar})", flush=True)
