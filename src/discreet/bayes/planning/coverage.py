"""Calibration: do the intervals of a model hold what they should, when the truth is drawn from its own prior?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import DrawnMarginal, Marginal, Model, Parameter, Probability, stated_seed
from discreet.bayes.planning.plans import plans_at, simulated, stated_runs
from discreet.display import Progress, Table, listener
from discreet.display.plots import BLUE, INK, SOFT, Plot, axes, explained
from discreet.errors import NotConverged, ParameterError
from discreet.statistics.pricing import stated_confidence

Floats = NDArray[np.float64]
_BAND = 0.95


@dataclass(frozen=True, eq=False)
class CalibrationCheck:
    """How often intervals held the truth over simulated releases, and where the truth fell in its posterior law.

    Accuracy. Truth and release are drawn from the model, so the truth is one more draw from its posterior: its
        probability integral transform, ties shared at random, is uniform, and an interval holds it as often as its
        posterior mass says on the average. Runs whose draws failed their diagnostics count as not held. Groups of
        one run are not independent: the standard error is taken between runs, and the test of Kolmogorov and Smirnov
        looks at one group of each run, chosen at random. A law that ignores the release, such as the prior, is
        calibrated too: that it learns anything shows in `expected_width`.
    Reference. Cook, Gelman, Rubin 2006; Talts, Betancourt, Simpson, Vehtari, Gelman 2018.

    >>> from discreet.privacy import Target
    >>> share, ranks = (
    ...     Parameter("share", "", Target.POPULATION),
    ...     np.linspace(0.01, 0.99, 50),
    ... )
    >>> made = CalibrationCheck(
    ...     (share,),
    ...     {"share": ranks[:, None]},
    ...     {"share": abs(ranks[:, None] - 0.5) < 0.475},
    ...     {"share": np.full((50, 1), 0.95)},
    ...     np.zeros(50, dtype=int),
    ...     confidence=0.95,
    ...     failed=0,
    ... )
    >>> made.coverage().value, round(made.uniform(), 3)
    (0.96, 1.0)
    """

    parameters: tuple[Parameter, ...]
    ranks: Mapping[str, Floats] = field(repr=False)  # (runs, groups), NaN where a run failed
    held: Mapping[str, NDArray[np.bool_]] = field(repr=False)
    masses: Mapping[str, Floats] = field(repr=False)  # of the printed intervals, NaN where a run failed
    picked: NDArray[np.int64] = field(repr=False)  # a number for each run, from which its group is chosen
    confidence: float
    failed: int

    @property
    def reps(self) -> int:
        """How many releases were simulated."""
        return len(self.picked)

    def coverage(self, name: str | None = None, group: Any = None) -> Probability:
        """Return how often the intervals held the truth, with its standard error; over all groups, or for one."""
        parameter = self._parameter(name)
        held = self.held[parameter.name]
        if group is not None:
            held = held[:, [parameter.place(group)]]
        value, count = float(held.mean()), held.size
        drawn_to_half = (value * count + 0.5) / (count + 1.0)
        least = math.sqrt(drawn_to_half * (1.0 - drawn_to_half) / count)
        between = float(held.mean(axis=1).std(ddof=1)) / math.sqrt(self.reps)
        return Probability(value, max(between, least))

    def mass(self, name: str | None = None) -> Probability:
        """Return the mean posterior mass of the printed intervals, with its standard error between runs.

        Intervals for integers hold more than their confidence: this is what their coverage should be.
        """
        masses = self.masses[self._parameter(name).name]
        runs = masses[~np.isnan(masses).any(axis=1)].mean(axis=1)
        return Probability(float(runs.mean()), float(runs.std(ddof=1)) / math.sqrt(len(runs)))

    def uniform(self, name: str | None = None, group: Any = None) -> float:
        """Return the p-value of Kolmogorov's and Smirnov's test that the truth is one more draw from the posterior."""
        from scipy.stats import kstest

        return float(kstest(self._chosen(self._parameter(name), group), "uniform").pvalue)

    def table(self) -> Table:
        """Return a row for every parameter."""
        rows = []
        for one in self.parameters:
            found = self.coverage(one.name)
            mass = self.mass(one.name).value if self.failed < self.reps - 1 else None
            p = self.uniform(one.name) if self.failed < self.reps else None
            rows.append([one.name, max(len(one.groups), 1), found.value, found.error, mass, p])
        failed = f", {self.failed:,} of them failed their diagnostics and count as not held" if self.failed else ""
        words = f"{100 * self.confidence:.6g} % intervals over {self.reps:,} simulated releases{failed}"
        return Table(["parameter", "groups", "coverage", "standard error", "mean mass", "KS p"], rows, words)

    def by_group(self, name: str | None = None) -> Table:
        """Return a row for every group of a parameter."""
        one = self._parameter(name)
        rows = []
        for label, words in zip(one.groups or (None,), one.words, strict=True):
            found = self.coverage(one.name, label)
            rows.append([words or one.name, found.value, found.error, self.uniform(one.name, label)])
        return Table(["group", "coverage", "standard error", "KS p"], rows, f"{one.name}: {self.table().caption}")

    def plot(self, name: str | None = None) -> Plot:
        """Draw how far the ranks' distribution lies from even, with a band that holds all of it in 95 of 100 cases."""
        from scipy.stats import kstwo

        one = self._parameter(name)
        ranks = np.sort(self._chosen(one, None))
        count = len(ranks)
        band = float(kstwo.ppf(_BAND, count))
        places = np.repeat(np.concatenate([[0.0], ranks, [1.0]]), 2)[1:-1]
        heights = np.repeat(np.arange(count + 1) / count, 2) - places
        drawn = axes(
            title=f"{one.name}: where the truth falls in its posterior, over {count:,} simulated releases",
            x_label="posterior probability below the truth",
            y_label="share of the runs, less even",
        )
        words = f"{100 * _BAND:.0f} % of calibrated models stay in the band everywhere"
        drawn.fill_between([0, 1], -band, band, color=BLUE, alpha=0.18, linewidth=0, label=words)
        drawn.axhline(0.0, color=SOFT, linewidth=0.8)
        drawn.plot(places, heights, color=INK, linewidth=1.4, label="this model")
        reach = 1.25 * max(band, float(np.abs(heights).max()))
        drawn.set(xlim=(0, 1), ylim=(-reach, reach))
        return explained(drawn, ncols=2, fontsize=11)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self.table()._repr_html_()

    def _parameter(self, name: str | None) -> Parameter:
        for one in self.parameters:
            if name is None or (isinstance(name, str) and one.name == name):
                return one
        names = ", ".join(one.name for one in self.parameters)
        raise ParameterError(f"name must be one of {names}; got another, write one of them", parameter="name")

    def _chosen(self, parameter: Parameter, group: Any) -> Floats:
        """Return one rank for each run that did not fail: of this group, or of the group picked for the run."""
        ranks = self.ranks[parameter.name]
        place = self.picked % ranks.shape[1] if group is None else np.full(self.reps, parameter.place(group))
        chosen: Floats = ranks[np.arange(self.reps), place]
        chosen = chosen[~np.isnan(chosen)]
        if not len(chosen):
            raise NotConverged("all simulated runs failed their diagnostics, so that no rank is known")
        return chosen


def calibration(
    model: Model,
    plan: Any,
    *,
    reps: int = 400,
    confidence: float = 0.95,
    seed: int | None = None,
    progress: Progress | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    delta: float | None = None,
) -> CalibrationCheck:
    """Simulate releases from a model and count how often its intervals hold the truth. No data is read.

    Args:
        model: the model, with a proper prior.
        plan: what will be measured: `session.explain(...)`, `answer.measurements`' plans, a statistic, or a function of
            a price that returns one of these, such as `counts_plan([...])`.
        reps: how many releases are simulated.
        confidence: of the intervals.
        seed: for parameters and people; the noise comes from its own law, without a seed.
        progress: called with the runs done and the runs in all.
        epsilon: the price, where `plan` is a function of it; or `rho`, or `mu`.
        rho: see `epsilon`.
        mu: see `epsilon`.
        delta: beside `epsilon`.

    Privacy. Costs nothing: neither data nor a session's ledger is reached.
        Proof: everything is drawn from the model and from the laws of noise, which are public.
    Cost. One fit for each run.

    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.bayes.planning import counts_plan
    >>> from discreet.privacy import Relation
    >>> asked = counts_plan(relation=Relation.ADD_REMOVE)
    >>> found = calibration(BetaBinomial(1, 1, people=50), asked, epsilon=0.5, reps=100)
    >>> bool(found.coverage("share").value > 0.75)  # chance of less: below 1e-10
    True
    """
    plans = plans_at(plan, {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu})
    runs, held, seed = stated_runs(reps), stated_confidence(confidence), stated_seed(seed)
    ties = np.random.default_rng(None if seed is None else [seed, 1])
    found: dict[str, list[tuple[Floats, NDArray[np.bool_], Floats]]] = {}
    parameters: dict[str, Parameter] = {}
    failures = 0
    for values, posterior in simulated(model, plans, runs, seed, listener(progress)):
        failures += posterior is None
        for name, value in values.items():
            truth = np.asarray(value).ravel()
            laws: tuple[Marginal, ...] = ()
            if posterior is not None and any(one.name == name for one in posterior.parameters):
                laws, parameters[name] = posterior.marginals(name), posterior.parameter(name)
            elif posterior is not None:
                continue
            found.setdefault(name, []).append(_looked(truth, laws, held, ties))
    if not parameters:
        raise NotConverged(
            f"all {runs:,} simulated runs failed their diagnostics; write a narrower prior, or plan a higher price"
        )
    parts = {name: [np.stack(part) for part in zip(*found[name], strict=True)] for name in parameters}
    return CalibrationCheck(
        tuple(parameters.values()),
        {name: part[0] for name, part in parts.items()},
        {name: part[1] for name, part in parts.items()},
        {name: part[2] for name, part in parts.items()},
        ties.integers(1 << 62, size=runs),
        held,
        failures,
    )


def _looked(
    truth: NDArray[Any], laws: tuple[Marginal, ...], confidence: float, ties: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Return ranks, whether the intervals held the truth, and their masses; of a failed run, none did."""
    if not laws:
        nothing = np.full(truth.size, np.nan)
        return nothing, np.zeros(truth.size, dtype=np.bool_), nothing
    ranks, held, masses = np.empty(truth.size), np.empty(truth.size, dtype=np.bool_), np.empty(truth.size)
    for place, (value, law) in enumerate(zip(truth.tolist(), laws, strict=True)):
        low, high = law.ends(confidence)
        held[place] = low <= value <= high
        masses[place] = law.cdf(high) - law.below(low)
        ranks[place] = _rank(law, value, float(ties.random()))
    return ranks, held, masses


def _rank(law: Marginal, value: float, tie: float) -> float:
    """Return the probability integral transform, ties shared at random; among N draws, of the truth as one more."""
    below, up_to = law.below(value), law.cdf(value)
    if isinstance(law, DrawnMarginal):
        count = law.sorted.size
        return (below * count + tie * ((up_to - below) * count + 1.0)) / (count + 1.0)
    return min(max(below + tie * (up_to - below), 0.0), 1.0)
