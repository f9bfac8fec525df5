"""A fleet that does not exist, asked through the real protocols: measured error beside the predicted one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.invention import coins
from discreet.display import Progress, Table, listener
from discreet.display.plots import BLUE, GREEN, ORANGE, SOFT, Plot, axes, plotted
from discreet.display.result import told_in_a_table
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.local.frequency import FrequencyOracle
from discreet.local.planning.designs import design
from discreet.local.protocol import Integers, number_of_people, whole_within
from discreet.privacy.numbers import nonnegative

_COLORS = (BLUE, ORANGE, GREEN, SOFT)
_MARKS = ("o", "s", "^", "D")
_STROKES = ("-", "--", ":")  # once all colors were used
_BLOCK = 1 << 20
_ENOUGH_TICKS = 3
_NEAR = 0.06  # of the width of a drawing: labels that are nearer would be drawn over each other


@dataclass(frozen=True)
class SimulatedError:
    """One fleet: how many people, at which price, by which protocol, and the average error of a frequency."""

    people: int
    epsilon: float
    protocol: str
    report_bits: int
    measured: float
    predicted: float
    optimum: float


@told_in_a_table
@dataclass(frozen=True)
class Simulation:
    """The root mean square error of estimated frequencies, measured and predicted, by price and number of people."""

    categories: int
    exponent: float
    errors: tuple[SimulatedError, ...]

    def table(self) -> Table:
        """Return one row a fleet."""
        columns = ["people", "epsilon", "protocol", "bits", "error", "predicted", "over the optimum"]
        rows = [
            [e.people, e.epsilon, e.protocol, e.report_bits, e.measured, e.predicted, e.predicted / e.optimum]
            for e in self.errors
        ]
        return Table(columns, rows, f"Root mean square error of {self.categories:,} frequencies", digits=3)

    def plot(self) -> Plot:
        """Draw the error against epsilon, one line for each number of people: dots measured, lines predicted."""
        drawn = axes(
            title=f"Error of a frequency among {self.categories:,} categories",
            x_label="epsilon of a report",
            y_label="root mean square error",
        )
        for place, people in enumerate(sorted({e.people for e in self.errors})):
            line = sorted((e for e in self.errors if e.people == people), key=lambda e: e.epsilon)
            color, mark = _COLORS[place % len(_COLORS)], _MARKS[place % len(_MARKS)]
            prices = [e.epsilon for e in line]
            stroke = _STROKES[place // len(_COLORS) % len(_STROKES)]
            shape = stroke if len(line) > 1 else "_"  # a line through one point would not be seen
            predicted = [e.predicted for e in line]
            drawn.plot(prices, predicted, shape, color=color, linewidth=1.8, ms=30, label=f"{people:,} people")
            drawn.plot(prices, [e.measured for e in line], mark, color=color, markersize=6)
        drawn.set_yscale("log")
        drawn.set_xscale("log")
        seen = [error for e in self.errors for error in (e.measured, e.predicted) if error > 0]
        heights = _ticks(min(seen) / 2, 2 * max(seen))
        drawn.set_ylim(min(seen) / 2, 2 * max(seen))
        drawn.set_yticks(heights, [f"{height:g}" for height in heights])
        ticks = sorted({e.epsilon for e in self.errors})
        drawn.set_xticks(ticks, _written(ticks))
        drawn.minorticks_off()
        drawn.grid(color=SOFT, alpha=0.2, linewidth=0.8)
        drawn.legend(frameon=False, fontsize=10, title="lines predicted, marks measured", title_fontsize=10)
        return plotted(drawn)


def simulate(
    *,
    people: Sequence[int],
    categories: int,
    epsilons: Sequence[Number],
    seed: int,
    exponent: float = 1.1,
    progress: Progress | None = None,
) -> Simulation:
    """Let invented fleets report through the protocols that `design` chooses, and compare the error with its law.

    The r-th of the categories is held with weight r^-exponent. The seed invents the people; the reports have none. The
    error of a single fleet scatters around the prediction; it is averaged over the categories.

    >>> found = simulate(people=[20_000], categories=64, epsilons=[1, 4], seed=7)
    >>> [e.protocol for e in found.errors]
    ['projective-geometry', 'randomized-response']
    """
    if any(isinstance(given, str) or not hasattr(given, "__len__") or not len(given) for given in (people, epsilons)):
        raise ParameterError("people and epsilons must be lists of at least one number each")
    fleets, size = (
        [number_of_people(count) for count in people],
        whole_within(categories, 2, 1 << 40, name="categories"),
    )
    skew = float(nonnegative(exponent, name="exponent"))
    weights = (np.arange(size) + 1.0) ** -skew
    cumulative = np.cumsum(weights / weights.sum())
    errors, tell = [], listener(progress)
    for place, (count, epsilon) in enumerate((n, e) for n in fleets for e in epsilons):
        held = np.minimum(np.searchsorted(cumulative, coins(seed, count).random(count), side="right"), size - 1)
        spec = design(people=count, categories=size, epsilon=epsilon).spec
        errors.append(_error(spec, held, size))
        tell(place + 1, len(fleets) * len(epsilons))
    return Simulation(size, skew, tuple(errors))


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers to write at a logarithmic axis, two at least for ends that are four times apart."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for digits in ((1,), (1, 2, 5), range(1, 10)):
        places = (float(f"{digit}e{power}") for power in powers for digit in digits)
        found = [place for place in places if low <= place <= high]
        if len(found) >= _ENOUGH_TICKS:
            break
    return found


def _written(prices: list[float]) -> list[str]:
    """Return the labels of rising prices on a logarithmic axis, empty where the last one is too near.

    >>> _written([0.1, 1.0, 1.1, 8.0])
    ['0.1', '1', '', '8']
    """
    near = _NEAR * math.log(prices[-1] / prices[0])
    labels: list[str] = []
    last = 0.0
    for price in prices:
        free = not labels or math.log(price / last) >= near
        labels.append(f"{price:g}" if free else "")
        last = price if free else last
    return labels


def _error(spec: FrequencyOracle, held: Integers, categories: int) -> SimulatedError:
    """Let one fleet report, in blocks, and measure."""
    client, aggregator = spec.client(), spec.aggregator()
    for start in range(0, held.size, _BLOCK):
        aggregator.add(client.report_many(held[start : start + _BLOCK]))
    truth = np.bincount(held, minlength=categories) / held.size
    measured = math.sqrt(float(np.mean((aggregator.estimate().value - truth) ** 2)))
    rare, common = spec.variance(held.size, 0.0), spec.variance(held.size, 1.0)
    predicted = math.sqrt(rare + (common - rare) / categories)  # the variance is linear in the frequency
    return SimulatedError(
        people=held.size,
        epsilon=float(spec.epsilon),
        protocol=spec.protocol,
        report_bits=spec.report_bits,
        measured=measured,
        predicted=predicted,
        optimum=math.sqrt(spec.optimum(held.size)),
    )
