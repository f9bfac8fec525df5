"""A tour of the museum: every exhibit audited at the level that must see its fault, beside the verdict on its label.

Beside it stands what two statistical testers published about the benchmark: lower bounds and times, facts of their
logs. `guarantee` and the bounds are epsilons, times are seconds of the whole search on the authors' machine. The bounds
hold at a confidence of 90 % for each mechanism alone, without a correction for looking at twenty, so that some are
false.
Reference. Bichsel, Steffen, Bogunovic, Vechev 2021 (DP-Sniper, and StatDP as run by its authors); Ding, Wang, Wang,
Zhang, Kifer 2018 (StatDP).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.audit import Level, Outcome, Verdict, audit
from discreet.display import Progress, Table, listener
from discreet.display.result import told_in_a_table
from discreet.privacy import ApproxDP, PureDP
from discreet.testing.museum import MUSEUM
from discreet.testing.museum.exhibit import Exhibit, Inputs, Label

if TYPE_CHECKING:
    from discreet.display.plots import Plot


ALARM = 1e-9  # of all sampled levels together
_WIRE_DRAWS = 20_000
_SIZE = 0.01  # of the test that the sampled pair is chosen by


@dataclass(frozen=True, slots=True)
class Stop:
    """One exhibit with what the audit said, and what many runs said where they were asked for."""

    label: Label
    verdict: Verdict
    sampled: Verdict | None

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is that of the label, and no run contradicts it."""
        contradicted = self.sampled is not None and self.sampled.refuted and self.label.expected is Outcome.KEPT
        return self.verdict.outcome is self.label.expected and not contradicted

    @property
    def false_bounds(self) -> dict[str, float]:
        """Published lower bounds that exceed the truth, by who published them."""
        if self.label.name not in PUBLISHED or self.verdict.high is None:
            return {}
        return PUBLISHED[self.label.name].false_bounds(self.verdict.high)


@told_in_a_table
@dataclass(frozen=True, slots=True)
class Tour:
    """All stops, and the time they took together."""

    stops: tuple[Stop, ...]
    seconds: float

    def __iter__(self) -> Iterator[Stop]:
        return iter(self.stops)

    @property
    def surprises(self) -> tuple[str, ...]:
        """The names of exhibits whose verdict is not the one on the label."""
        return tuple(stop.label.name for stop in self.stops if not stop.as_expected)

    def table(self) -> Table:
        """Return one line an exhibit: guarantee (epsilon, delta), level, loss from below and above, verdict, label.

        The seconds of the audit are shown, or what was proven by runs where there were any.
        """
        sampled = any(stop.sampled is not None for stop in self.stops)
        columns = [
            "exhibit",
            "guarantee",
            "level",
            "low",
            "high",
            *(["sampled"] if sampled else []),
            "verdict",
            "label",
            *([] if sampled else ["s"]),
        ]
        rows = [
            [
                stop.label.name,
                epsilon_of(stop.label),
                stop.verdict.level.name.lower(),
                in_digits(stop.verdict.low),
                "" if stop.verdict.high is None else in_digits(stop.verdict.high),
                *([in_digits(stop.sampled.low) if stop.sampled else ""] if sampled else []),
                stop.verdict.outcome.name.lower(),
                stop.label.expected.name.lower(),
                *([] if sampled else [f"{stop.verdict.seconds:.2f}"]),
            ]
            for stop in self.stops
        ]
        return Table(columns, rows)

    def bounds(self) -> Table:
        """Return the benchmark beside what was published about it; a star marks a bound that exceeds the truth."""
        rows = [
            [stop.label.name, epsilon_of(stop.label), in_digits(stop.verdict.low), *_published(stop)]
            for stop in self.stops
            if stop.label.name in PUBLISHED
        ]
        columns = ["mechanism", "guarantee", "exact", "DP-Sniper, logistic / perceptron", "StatDP, first / second run"]
        return Table(columns, rows)

    def plot(self) -> Plot:
        """Draw guarantee, exact loss and the best published bound of the benchmark's mechanisms."""
        from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, axes, plotted

        stops = [stop for stop in self.stops if stop.label.name in PUBLISHED]
        drawn = axes(
            title="Twenty mechanisms: claimed, true and published losses",
            x_label="epsilon (logarithmic)",
            height=max(0.34 * len(stops) + 1.4, 3.0),
        )
        most = 40.0
        for place, stop in enumerate(reversed(stops)):
            truth = min(stop.verdict.low, most)
            color = ORANGE if stop.label.expected is Outcome.REFUTED else BLUE
            drawn.barh(place, truth, height=0.62, color=color, alpha=0.85, zorder=2)
            if truth == most:
                drawn.annotate("infinite", (most, place), (-4, 0), textcoords="offset points", ha="right", va="center",
                               fontsize=9, color="white", zorder=4)  # fmt: skip
            guarantee = float(stop.label.guarantee.epsilon)  # type: ignore[attr-defined]
            drawn.plot([guarantee, guarantee], [place - 0.42, place + 0.42], color=INK, linewidth=2.0, zorder=3)
            published = PUBLISHED[stop.label.name].bounds
            best = max(published.values())
            mark = "X" if stop.false_bounds else "o"
            drawn.plot([best], [place], mark, color=GREEN, markeredgecolor="white", markersize=7.5, zorder=5)
        drawn.set_xscale("log")
        ticks = (0.03, 0.1, 0.3, 1, 3, 10)
        drawn.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        drawn.set_xticks([], minor=True)
        drawn.set_xlim(0.03, most)
        drawn.set_ylim(-0.7, len(stops) - 0.3)
        drawn.set_yticks(range(len(stops)), [stop.label.name for stop in reversed(stops)])
        drawn.tick_params(axis="y", length=0, labelsize=9.5)
        drawn.grid(axis="x", color=SOFT, alpha=0.25, linewidth=0.8, zorder=0)
        handles = [
            drawn.plot([], [], "s", color=BLUE, markersize=9, label="true loss, guarantee kept")[0],
            drawn.plot([], [], "s", color=ORANGE, markersize=9, label="true loss, guarantee broken")[0],
            drawn.plot([], [], "|", color=INK, markersize=12, markeredgewidth=2, label="guarantee")[0],
            drawn.plot([], [], "o", color=GREEN, markersize=7, label="best published lower bound")[0],
            drawn.plot([], [], "X", color=GREEN, markersize=7, label="published, and above the truth")[0],
        ]
        drawn.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.4, -0.09), ncols=3, frameon=False,
                     fontsize=9, labelcolor=INK)  # fmt: skip
        return plotted(drawn)


def tour(
    exhibits: Iterable[Exhibit] = MUSEUM,
    *,
    search: int = 0,
    sampled: bool = False,
    draws: int = 50_000,
    progress: Progress | None = None,
) -> Tour:
    """Audit exhibits, each at the level on its label, and with `sampled` also by `draws` runs.

    Runs are made on the pair of neighbors that the exact law says is told apart best, and no run is spent on
    looking for it. `progress` is told how many exhibits are done, and of how many.

    >>> from discreet.testing.museum import benchmark
    >>> tour(benchmark()[:3]).surprises
    ()
    """
    started = time.perf_counter()
    listed, tell = tuple(exhibits), listener(progress)
    stops = []
    for done, exhibit in enumerate(listed):
        tell(done, len(listed))
        verdict = audit(exhibit, level=exhibit.label.level, search=search, draws=_WIRE_DRAWS)
        runs = _sampled(exhibit, draws, len(listed)) if sampled else None
        stops.append(Stop(exhibit.label, verdict, runs))
    tell(len(listed), len(listed))
    return Tour(tuple(stops), time.perf_counter() - started)


def _sampled(exhibit: Exhibit, draws: int, suite: int) -> Verdict:
    """Audit by runs, at a confidence that holds for the whole museum."""
    best = told_apart_best(exhibit)
    return audit(exhibit, level=Level.STATISTICAL, neighbors=best, draws=draws, confidence=1 - ALARM, suite=suite)


def told_apart_best(exhibit: Exhibit) -> list[Inputs]:
    """Return the neighbors between which a test of size 1 % errs least, all of them where the law is not known."""
    listed = exhibit.neighbors()
    errors = []
    for both in listed if len(listed) > 1 else []:
        pair = exhibit.pair(*both)
        if pair is None:
            return listed
        errors.append(min(one.tradeoff(_SIZE).estimate for one in (pair, pair.reversed())))
    return [listed[errors.index(min(errors))]] if errors else listed


def epsilon_of(label: Label) -> str:
    """Write the guarantee of a label in a few letters."""
    guarantee = label.guarantee
    if isinstance(guarantee, ApproxDP):
        return f"{float(guarantee.epsilon):.3g}, {float(guarantee.delta):.0e}"
    return f"{float(guarantee.epsilon):.4g}" if isinstance(guarantee, PureDP) else str(guarantee)


def in_digits(loss: float) -> str:
    """Write a loss with four decimals."""
    return "inf" if math.isinf(loss) else f"{loss:.4f}"


def _published(stop: Stop) -> list[str]:
    """Return the bounds of both testers, with a star on those that exceed the truth."""
    known, false = PUBLISHED[stop.label.name], stop.false_bounds
    marked = {name: f"{bound:.4f}{'*' if name in false else ''}" for name, bound in known.bounds.items()}
    names = list(marked.values())
    return [" / ".join(names[:2]), " / ".join(names[2:]) or "error"]


@dataclass(frozen=True, slots=True)
class Published:
    """Lower bounds and seconds of one mechanism; None where there is no number."""

    sniper_logistic: float
    sniper_perceptron: float
    statdp_first: float | None
    statdp_second: float | None
    sniper_seconds: tuple[int, int]
    statdp_seconds: tuple[int, int] | None

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds by the name of who published them."""
        named = {
            "DP-Sniper, logistic": self.sniper_logistic,
            "DP-Sniper, perceptron": self.sniper_perceptron,
            "StatDP, first run": self.statdp_first,
            "StatDP, second run": self.statdp_second,
        }
        return {name: bound for name, bound in named.items() if bound is not None}

    def false_bounds(self, truth: float) -> dict[str, float]:
        """Return the published lower bounds that exceed the truth by more than their last printed digit.

        >>> PUBLISHED["RAPPOR"].false_bounds(0.30006)
        {'DP-Sniper, perceptron': 0.3008}
        """
        return {name: bound for name, bound in self.bounds.items() if bound > truth + 0.5e-4}


PUBLISHED = {
    "Laplace": Published(0.0968, 0.0976, 0.0998, 0.0996, (21, 217), (409, 400)),
    "TruncatedGeometric": Published(0.1156, 0.1155, 0.1159, 0.1169, (19, 162), (1368, 1364)),
    "NoisyHist1": Published(0.0978, 0.0977, 0.0828, 0.0994, (38, 211), (934, 912)),
    "NoisyHist2": Published(4.6020, 4.6015, 9.7169, 10.0022, (41, 254), (1244, 1223)),
    "ReportNoisyMax1": Published(0.0923, 0.0925, 0.0920, 0.0921, (62, 492), (460, 456)),
    "ReportNoisyMax2": Published(0.0975, 0.0979, 0.0996, 0.0997, (58, 423), (458, 454)),
    "ReportNoisyMax3": Published(0.2478, 0.2488, 0.1991, 0.1961, (62, 437), (567, 559)),
    "ReportNoisyMax4": Published(0.3463, 0.3534, 0.1960, 0.1988, (63, 451), (563, 559)),
    "SVT1": Published(0.0858, 0.0858, 0.0298, 0.0298, (126, 966), (749, 762)),
    "SVT2": Published(0.0859, 0.0852, 0.0316, 0.0407, (160, 825), (832, 832)),
    "SVT3": Published(0.1716, 0.1822, 0.0231, 0.1793, (160, 880), (6264, 6287)),
    "SVT4": Published(0.1687, 0.1696, 0.1709, 0.1719, (130, 815), (1016, 1002)),
    "SVT5": Published(1.7612, 1.7610, 14.3143, 14.3143, (59, 527), (725, 731)),
    "SVT6": Published(0.2720, 0.2698, 0.3220, 0.3200, (96, 584), (1378, 1381)),
    "RAPPOR": Published(0.2930, 0.3008, 0.2416, 0.0243, (145, 529), (2249, 2236)),
    "OneTimeRAPPOR": Published(0.5978, 0.5999, 0.4706, 0.0602, (89, 408), (1877, 1873)),
    "LaplaceParallel": Published(0.0350, 0.0299, 0.0126, 0.0135, (104, 341), (5715, 5723)),
    "SVT34Parallel": Published(0.2610, 0.2616, 0.1371, 0.1963, (364, 1117), (27959, 28166)),
    "PrefixSum": Published(0.5040, 0.5774, 0.3516, 0.3446, (97, 984), (3989, 4007)),
    "NumericalSVT": Published(0.0343, 0.0345, None, None, (152, 686), None),
}
