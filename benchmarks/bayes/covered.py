"""How a calibration stands against its bars: coverage within so many standard errors, ranks that are uniform."""

from __future__ import annotations

import copy
import hashlib
import math
import os
import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.bars import Bar
from discreet.bayes import CalibrationCheck, Model, Posterior, calibration
from discreet.bayes.base import Values
from discreet.statistics.measurement import MeasurementPlan

PART = 100
LEAST_P = 1e-4  # of one test among 18 or so


def within(reps: int) -> float:
    """Return four standard errors of a coverage of 95 % over independent runs."""
    return 4.0 * math.sqrt(0.95 * 0.05 / reps)


def coverage_bar(
    what: str,
    found: CalibrationCheck,
    name: str,
    *,
    tolerance: float,
    group: Any = None,
    beside: str = "",
    enough: bool = True,
) -> Bar:
    """Return the line of one parameter: its coverage for the population, and the test of its ranks.

    Where there were not `enough` runs it is held against no bar.
    """
    covered, p = found.coverage(name, group), found.uniform(name, group)
    words = f"{covered.value:.4f} (se {covered.error:.4f}, {found.reps:,} runs), KS p {p:.3g}"
    failed = f", {found.failed} runs failed" if found.failed else ""
    met = abs(covered.value - 0.95) <= tolerance and p > LEAST_P
    shown = f"{name} {group[0]}" if isinstance(group, tuple) else name
    bar = f".95 +- {tolerance:.4f}, p > {LEAST_P:g}"
    return Bar(f"{what}: {shown}", words + failed + beside, bar if enough else "", met if enough else None)


def every_group_bar(what: str, found: CalibrationCheck, name: str, *, tolerance: float) -> Bar:
    """Return the line of the groups of one parameter, each held against the bar: the farthest two are shown."""
    (parameter,) = (one for one in found.parameters if one.name == name)
    covered = [found.coverage(name, label).value for label in parameter.groups]
    words = f"from {min(covered):.4f} to {max(covered):.4f} (se {within(found.reps) / 4:.4f})"
    met = max(abs(one - 0.95) for one in covered) <= tolerance
    return Bar(f"{what}: each {name} of {len(covered)}", words, f".95 +- {tolerance:.4f}", met)


def mass_bar(what: str, found: CalibrationCheck, name: str) -> Bar:
    """Return the line of a number of the table: its coverage beside the mass that its printed intervals have."""
    covered, mass = found.coverage(name), found.mass(name)
    away = abs(covered.value - mass.value) / math.hypot(covered.error, mass.error)
    words = f"{covered.value:.4f} (se {covered.error:.4f}), mean mass {mass.value:.4f}"
    return Bar(f"{what}: {name}", words, "within 4 se of the mass", away <= 4.0)


@dataclass(frozen=True)
class Part:
    """Some runs of a calibration."""

    check: CalibrationCheck
    ways: Counter[str]
    spent: float
    seen: list[Any]


class Timed:
    """A model that is calibrated part by part, while its ways to a posterior are counted, and the CPU time of fits.

    Where `BAYES_PARTS` names a folder, parts that are done are kept there and taken from there: a run that was stopped
    goes on where it was. The folder is good for one version of the code. `watch` looks at the truth and the posterior
    of each run; what it returns is kept in `seen`.
    """

    def __init__(self, model: Model, watch: Callable[[Values, Posterior], Any] | None = None) -> None:
        self.ways: Counter[str] = Counter()
        self.seen: list[Any] = []
        self.spent = 0.0
        self.reps = 0
        kind = type(model)
        drawn: list[Values] = []

        def prior(own: Any, *given: Any) -> Values:
            drawn[:] = [kind.prior(own, *given)]
            return drawn[0]

        def fit(own: Any, *given: Any, **named: Any) -> Posterior:
            began = time.process_time()
            try:
                found: Posterior = kind.fit(own, *given, **named)
                found.marginals(found.parameters[0].name)  # draws that wait for being asked for are made
            finally:
                self.spent += time.process_time() - began
            self.ways[found.method] += 1
            if watch is not None:
                self.seen.append(watch(drawn[0], found))
            return found

        self.words = f"{kind.__qualname__}: {model!r}"
        self.model = copy.copy(model)
        object.__setattr__(self.model, "__class__", type(kind.__name__, (kind,), {"fit": fit, "prior": prior}))

    def calibrated(self, plans: Sequence[MeasurementPlan], *, reps: int, seed: int) -> CalibrationCheck:
        """Calibrate it, in parts of 100 runs."""
        found = [self._part(plans, min(PART, reps - begin), seed, begin) for begin in range(0, reps, PART)]
        self.ways, self.spent = sum((one.ways for one in found), Counter()), sum(one.spent for one in found)
        self.seen = [one for part in found for one in part.seen]
        self.reps = reps
        return joined([one.check for one in found])

    def _part(self, plans: Sequence[MeasurementPlan], reps: int, seed: int, begin: int) -> Part:
        """Return a part, from the folder if it is there."""
        about = [(plan.name, plan.keys, plan.noise, plan.adds_up) for plan in plans]
        digest = hashlib.sha256(repr((self.words, about, reps, seed, begin)).encode()).hexdigest()[:20]
        folder = os.environ.get("BAYES_PARTS")
        path = Path(folder) / f"{digest}.pickle" if folder else None
        if path is not None and path.exists():
            kept: Part = pickle.loads(path.read_bytes())  # noqa: S301  our own
            return kept
        self.ways, self.spent, self.seen = Counter(), 0.0, []
        check = calibration(self.model, list(plans), reps=reps, seed=100_000 * seed + begin)
        made = Part(check, self.ways, self.spent, self.seen)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pickle.dumps(made))
        return made

    def bar(self, what: str, most: float | None = None) -> Bar:
        """Return the line of the time of a fit, with how the posteriors were made."""
        made = "; ".join(f"{count:,} by {way}" for way, count in self.ways.most_common())
        each = self.spent / self.reps
        words = f"{each:.2f} s CPU; {made}"
        return Bar(f"{what}: a fit", words, f"<= {most:g} s" if most else "", each <= most if most else None)


def joined(parts: Sequence[CalibrationCheck]) -> CalibrationCheck:
    """Return one calibration of all the runs of several."""
    first = parts[0]

    def together(name: str, mappings: Sequence[Mapping[str, Any]]) -> Any:
        return np.concatenate([one[name] for one in mappings])

    names = [one.name for one in first.parameters]
    return CalibrationCheck(
        first.parameters,
        {name: together(name, [one.ranks for one in parts]) for name in names},
        {name: together(name, [one.held for one in parts]) for name in names},
        {name: together(name, [one.masses for one in parts]) for name in names},
        np.concatenate([one.picked for one in parts]),
        first.confidence,
        sum(one.failed for one in parts),
    )


def model_bars(what: str, timed: Timed, plans: Any, *, reps: int, seed: int) -> Iterator[Bar]:
    """Calibrate a model and return a line for every parameter and group of the population, and for the table's."""
    found = timed.calibrated(plans, reps=reps, seed=seed)
    for one in found.parameters:
        if one.target.name == "TABLE":
            yield mass_bar(what, found, one.name)
        for group in (one.groups or (None,)) if one.target.name != "TABLE" else ():
            yield coverage_bar(what, found, one.name, tolerance=within(reps), group=group)


def cpu_seconds(work: Callable[[], Any], rounds: int = 41) -> float:
    """Return the median CPU time of a piece of work, once it has been done before."""
    work()
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return float(np.median(spent))
