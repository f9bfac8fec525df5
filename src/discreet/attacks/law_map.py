"""The map of the fundamental law: for numbers of queries, people and errors, who is reconstructed, traced, or safe."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import Floats, Integers, gaussian_noise, noisy_answers
from discreet.attacks.reconstructing import fourier
from discreet.attacks.results import read_only
from discreet.attacks.tracing import membership
from discreet.data import Panel, genomes
from discreet.data.invented_genomes import FREQUENCY_RANGE
from discreet.data.table import MOST_SEED, generator
from discreet.display import Progress, Table, definition_list, listener
from discreet.display.plots import INK, SOFT, Plot, axes, explained
from discreet.display.result import told_by_name
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import calibrate, gaussian_loss
from discreet.privacy.numbers import positive, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RECOVERED = 0.95
TRACED, ALARMS = 0.1, 0.01
_FEWEST, _MOST_PEOPLE, _MOST_QUERIES = 16, 2**16, 2**18
_CANDIDATES, _REFERENCE = 400, 1999  # few people are attacked again and again until this number is reached
_NORMAL_95, _SEPARATION = 1.6448536269514722, 1.0447963082963846  # the quantile of .95; those of .99 less .9
_COLORS = {"RECONSTRUCTED": "#D55E00", "TRACED": "#E6B450", "BETWEEN": "#F4F4F0", "SAFE": "#8FC7B0"}


@told_by_name
class LawRegion(Enum):
    """What becomes of the people whose counts are published with errors of this size."""

    RECONSTRUCTED = "at least 95 % of a secret column is recovered"
    TRACED = "a member is called one ten times as often as an outsider (10 % against 1 %)"
    BETWEEN = "neither attack succeeds, and nothing is guaranteed"
    SAFE = "the answers are differentially private together"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LawMap:
    """The outcome of both attacks for every number of queries (rows) and every error (columns).

    `errors` are standard deviations of the Gaussian noise of an answer, in people. `recovered` is the frequency of
    secret bits that the Fourier attack got right, `traced` that of members whom the membership test recognized with one
    false alarm in a hundred outsiders, `safe` the noise from which on that many counts together keep (epsilon, delta).
    """

    people: int
    queries: Integers
    errors: Floats
    recovered: Floats
    traced: Floats
    safe: Floats
    epsilon: float
    delta: float
    seconds: float

    def __post_init__(self) -> None:
        read_only(self.queries, self.errors, self.recovered, self.traced, self.safe)

    @property
    def regions(self) -> NDArray[np.object_]:
        """The region of every cell: a guarantee outranks no attack that succeeded."""
        found = np.full(self.recovered.shape, LawRegion.BETWEEN, dtype=object)
        found[self.errors[None, :] >= self.safe[:, None]] = LawRegion.SAFE
        found[self.traced >= TRACED] = LawRegion.TRACED
        found[self.recovered >= RECOVERED] = LawRegion.RECONSTRUCTED
        return found

    def __repr__(self) -> str:
        return f"<LawMap: {self.people:,} people, {len(self.queries)} x {len(self.errors)} cells, {self.seconds:.1f} s>"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        """Show the map's lines in a notebook."""
        rows = [(f"{row[0]} queries", f"{row[1]}; {row[2]}; {row[3]}") for row in self.table().rows]
        return definition_list(rows)

    def table(self) -> Table:
        """Return, for every number of queries, the largest error that is attacked and the least that is safe."""
        rows = []
        for index, count in enumerate(self.queries):
            reached = (self.recovered[index] >= RECOVERED, self.traced[index] >= TRACED)
            limits = [f"{self.errors[one].max():.3g}" if one.any() else "none" for one in reached]
            rows.append((f"{count:,}", *limits, f"{self.safe[index]:.3g}"))
        names = ("queries", "reconstructed up to", "traced up to", "safe from")
        return Table(names, rows)

    def plot(self) -> Plot:
        """Draw the map, with the lines that theory gives; needs the extra `plot`."""
        drawn = axes(
            title=f"The fundamental law: {self.people:,} people",
            x_label="number of counting queries",
            y_label="noise of an answer, in people",
            height=6.4,
        )
        handles = self.draw(drawn)
        return explained(drawn, handles=handles, loc="outside lower left", ncols=1, fontsize=9)

    def draw(self, drawn: Axes) -> list[Any]:
        """Draw the map into axes and return what a legend should explain."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        order = [LawRegion[name] for name in _COLORS]
        cells = np.vectorize(order.index)(self.regions).T
        shades = ListedColormap(list(_COLORS.values()))
        drawn.pcolormesh(_edges(self.queries), _edges(self.errors), cells, cmap=shades, vmin=-0.5, vmax=3.5)
        asked = [int(count) for count in self.queries]
        for heights, style, name in (
            ([reconstruction_line(self.people, count) for count in asked], "-", "reconstruction, in theory"),
            ([tracing_line(self.people, count) or math.nan for count in asked], "--", "tracing, in theory"),
            (self.safe, ":", f"private from here on (epsilon {self.epsilon:g}, delta {self.delta:g})"),
            ([math.sqrt(self.people) / 2] * len(asked), "-.", "sampling error of a count"),
        ):
            drawn.plot(asked, heights, style, color=INK, linewidth=1.8, label=name)
        drawn.set_xscale("log", base=2)
        drawn.set_yscale("log")
        drawn.set_ylim(*_edges(self.errors)[[0, -1]].tolist())
        boxes = [Patch(facecolor=_COLORS[one.name], edgecolor=SOFT, linewidth=0.4, label=one.value) for one in order]
        return [*boxes, *drawn.get_lines()]


def fundamental_law(
    people: int,
    *,
    queries: Sequence[int],
    errors: Sequence[float],
    epsilon: Number,
    delta: Number,
    seed: int,
    progress: Progress | None = None,
) -> LawMap:
    """Run both attacks at every number of queries and every error, and say where answers are private instead.

    Queries are powers of two. With fewer queries than people the Fourier attack goes for as many people as it has
    queries; with more it asks again under other labels. The membership test is given as many published counts. Where
    fewer than 400 people are attacked the experiment is made again with others, so that luck is not taken for success.

    Accuracy. Noise of standard deviation s leaves the Fourier attack sqrt(m)/(4 s) standard errors a bit, m the number
        of queries, and the membership test a separation of sqrt(S/n), S the sum over the k counts of 1/(1 + s^2/(n v)),
        v the variance p(1 - p) of an attribute. So reconstruction reaches 95 % up to s = sqrt(m)/6.58, and a tenth of
        the members is traced up to the s at which the separation is 1.045: both grow like the root of the number of
        queries, which is how the noise must grow.
        Proof: the theorems of `fourier` and `membership`, the latter with frequencies instead of counts; Phi(1.645) =
        .95, and Phi(1.045 - z) = .1 for the quantile z = 2.326 of .99.
    Privacy. From `safe` on the counts keep (epsilon, delta) under add/remove, whatever any attacker does.
        Proof: k counts of one person's rows move by at most 1 each; `safe` is the least noise whose k-fold Gaussian
        loss is at most (epsilon, delta), rounded up.
    Cost. Seconds for 15 x 15 cells at a thousand people.
    Figure. fundamental-law-map.svg
    Reference. Dinur, Nissim 2003; Dwork, Yekhanin 2008; Dwork, Smith, Steinke, Ullman, Vadhan 2015.

    >>> found = fundamental_law(
    ...     255,
    ...     queries=[64, 1024],
    ...     errors=[0.5, 4, 1000],
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     seed=1,
    ... )
    >>> found.regions[0].tolist()
    [LawRegion.RECONSTRUCTED, LawRegion.BETWEEN, LawRegion.SAFE]
    """
    started = time.perf_counter()
    people = whole(people, name="people")
    if not _FEWEST <= people <= _MOST_PEOPLE:
        raise ParameterError(f"the map is drawn for {_FEWEST} to {_MOST_PEOPLE:,} people", parameter="people")
    counts = np.array(sorted({whole(k, name="queries") for k in queries}), dtype=np.int64)
    if not len(counts) or counts[0] < _FEWEST or counts[-1] > _MOST_QUERIES or np.any(counts & (counts - 1)):
        raise ParameterError(f"queries must be powers of two from {_FEWEST} to {_MOST_QUERIES:,}", parameter="queries")
    levels = np.array(sorted({float(positive(error, name="errors")) for error in errors}))
    if not len(levels):
        raise ParameterError("errors must name at least one standard deviation", parameter="errors")
    generator(people, seed)  # a bad seed is refused before any work
    safe = np.array([_safe(int(count), epsilon, delta) for count in counts])
    recovered, traced = np.empty((len(counts), len(levels))), np.empty((len(counts), len(levels)))
    tell = listener(progress)
    for row, count in enumerate(counts):
        for column, level in enumerate(levels):
            recovered[row, column] = _recovered(people, int(count), float(level), seed)
        traced[row] = _traced(people, int(count), levels, seed)
        tell(row + 1, len(counts))
    seconds = time.perf_counter() - started
    return LawMap(people, counts, levels, recovered, traced, safe, float(epsilon), float(delta), seconds)


def reconstruction_line(people: int, queries: int) -> float:
    """Return the noise at which the Fourier attack is expected to recover 95 % of the bits it goes for.

    >>> round(reconstruction_line(1023, 1024), 2)
    4.86
    """
    attacked, again = _effort(people, queries)
    return math.sqrt(_length(attacked) * again) / (4 * _NORMAL_95)


def tracing_line(people: int, queries: int) -> float:
    """Return the noise up to which a tenth of the members is expected to be recognized; 0 where none is small enough.

    >>> tracing_line(1023, 1024), round(tracing_line(1023, 8192), 1)
    (0.0, 34.1)
    """
    places = np.linspace(*FREQUENCY_RANGE, 451)
    spread = people * places * (1 - places)

    def separation(noise: float) -> float:
        return math.sqrt(queries / people * float(np.mean(spread / (spread + noise**2))))

    low, high = 0.0, math.sqrt(queries * people)
    if separation(low) < _SEPARATION:
        return 0.0
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if separation(middle) >= _SEPARATION else (low, middle)
    return low


def _effort(people: int, queries: int) -> tuple[int, int]:
    """Return how many people the queries can attack, and how often they can ask about them under other labels."""
    length = _length(people)
    return (people, queries // length) if queries >= length else (queries - 1, 1)


def _length(people: int) -> int:
    """Return the number of positions that the attack on everybody needs: a power of two, one position empty."""
    return 1 << people.bit_length()


def _recovered(people: int, queries: int, error: float, seed: int) -> float:
    """Run the Fourier attack with `queries` queries, on as many people as it can attack, until enough were attacked."""
    attacked, again = _effort(people, queries)
    coins, noise = generator(people, _other(seed, queries)), gaussian_noise(error, seed=_other(seed, 1))
    right = []
    for _ in range(-(-_CANDIDATES // attacked)):
        secret = coins.integers(0, 2, attacked)
        ask = noisy_answers(secret, noise)
        found = fourier(ask, attacked, relabelings=again, seed=_other(seed, 2), truth=secret)
        right.append(np.mean(found.bits == secret))
    return float(np.mean(right))


def _traced(people: int, queries: int, errors: Floats, seed: int) -> Floats:
    """Run the membership test on published counts with noise of every size; return how frequently members are found.

    Of a group only those who are looked at need rows: the others' part of a count is binomial.
    """
    looked = min(people, _CANDIDATES)
    groups = -(-_CANDIDATES // looked)
    own = _other(seed, queries)
    invented = genomes(people=groups * looked, positions=queries, seed=own, outsiders=1, reference=_REFERENCE)
    coins = generator(people, _other(seed, queries + 1))
    called = np.zeros(len(errors))
    for rows in np.split(invented.cases.packed, groups):
        members = Panel(rows, queries)
        counts = members.counts + coins.binomial(people - looked, invented.frequencies)
        for place, error in enumerate(errors):
            shown = (counts + coins.normal(0.0, error, queries)) / people
            found = membership(
                shown, invented.frequencies, members, reference=invented.reference,
                people=people, level=ALARMS, deviation=error / people,
            )  # fmt: skip
            called[place] += found.called.mean()
    return called / groups


def _other(seed: int, number: int) -> int:
    """Return another seed for every number."""
    return (seed + number) % (MOST_SEED + 1)


def _safe(queries: int, epsilon: Number, delta: Number) -> float:
    """Return the least noise with which `queries` counts keep the guarantee together."""
    return float(calibrate(lambda sigma: gaussian_loss(sigma) * queries, epsilon=epsilon, delta=delta))


def _edges(values: Integers | Floats) -> Floats:
    """Return the edges of cells around logarithmically spaced values."""
    logs = np.log(values.astype(np.float64))
    half = np.diff(logs) / 2 if len(logs) > 1 else np.array([math.log(2)])
    edges = np.concatenate([[logs[0] - half[0]], logs[1:] - half[: len(logs) - 1], [logs[-1] + half[-1]]])
    return np.asarray(np.exp(edges))
