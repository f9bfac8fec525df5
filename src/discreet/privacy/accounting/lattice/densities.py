"""Releases whose loss has a density: normal, exponential on an interval, and samples of them, by sure quadrature."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.privacy.accounting.floats import gauss_rule
from discreet.privacy.accounting.lattice import cells
from discreet.privacy.accounting.lattice.cells import (
    LEAST,
    Grid,
    Indices,
    LatticeAtoms,
    LossMeasure,
    LossSource,
    Nodes,
    Reach,
    TooLarge,
)
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats
from discreet.privacy.accounting.lattice.loss_map import LossMap, SamplingKind

_MOST_NODES = 12
_GOOD_ENOUGH = 2.0**-58
_MOST_PANELS = 1 << 18
_STEEPEST = 1e60


@dataclass(frozen=True, slots=True)
class Density(ABC):
    """A density of the base's loss under P, written in a variable x in which it is smooth at scale 1 or more."""

    @abstractmethod
    def span(self, reach: Reach, kind: SamplingKind) -> tuple[float, float]:
        """Return the least and the largest x that are followed."""

    @abstractmethod
    def cut(self, x: tuple[float, float], kind: SamplingKind, rate: float) -> tuple[float, float]:
        """Bound P's mass below and above the span, after sampling."""

    @abstractmethod
    def base_loss(self, x: Floats) -> Floats:
        """Return the base's loss at x."""

    @abstractmethod
    def place(self, loss: Floats) -> Floats:
        """Return the x of a base loss."""

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """Return the logarithm of P's density in x."""

    @abstractmethod
    def steepness(self, x: float, radius: float) -> float:
        """Bound ln of |density(z)/density(x')| for x' within |x| and complex z within `radius` of x', e^-t included."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Return d(base loss)/dx."""

    @property
    def offset(self) -> float:
        """Return the magnitude of the constant in the base loss, for the rounding of it."""
        return 0.0


@dataclass(frozen=True, slots=True)
class NormalDensity(Density):
    """The loss mu^2/2 + mu x with x standard normal."""

    mu: float

    def span(self, reach: Reach, kind: SamplingKind) -> tuple[float, float]:
        """Follow both tails of P, and of Q where the mixture contains it."""
        below, above = math.sqrt(-2.0 * reach.low), math.sqrt(-2.0 * reach.high)
        if kind is SamplingKind.FIXED:
            return -self.mu / 2, above
        return (-below - self.mu, above) if kind is SamplingKind.REMOVE else (-below, above)

    def cut(self, x: tuple[float, float], kind: SamplingKind, rate: float) -> tuple[float, float]:
        """A normal tail beyond z >= 0 has mass at most e^(-z^2/2)/2, and the mixture at most its larger part."""
        low, high = x
        share = (
            rate + (1 - rate) * math.exp(-self.mu * high) if kind in (SamplingKind.REMOVE, SamplingKind.FIXED) else 1.0
        )
        above = 0.5 * share * math.exp(-high * high / 2) * (1 + 1e-9) + LEAST
        if kind is SamplingKind.FIXED:  # what lies far below 0 is Q's mass far above it
            return 0.5 * math.exp(-((high + self.mu) ** 2) / 2) * (1 + 1e-9) + LEAST, above
        start = -low - self.mu if kind is SamplingKind.REMOVE else -low
        return 0.5 * math.exp(-start * start / 2) * (1 + 1e-9) + LEAST, above

    def base_loss(self, x: Floats) -> Floats:
        """mu^2/2 + mu x."""
        return self.mu * (self.mu / 2 + x)

    def place(self, loss: Floats) -> Floats:
        """The x of a base loss."""
        return loss / self.mu - self.mu / 2

    def log_density(self, x: Floats) -> Floats:
        """The standard normal density."""
        return -0.5 * x * x - 0.5 * math.log(2 * math.pi)

    def steepness(self, x: float, radius: float) -> float:
        """|x| r + r^2/2 for the density, mu r for e^-t."""
        return (x + self.mu) * radius + radius * radius / 2

    @property
    def scale(self) -> float:
        """The loss grows by mu a unit."""
        return self.mu

    @property
    def offset(self) -> float:
        """Half the square of mu."""
        return self.mu * self.mu / 2


@dataclass(frozen=True, slots=True)
class ExponentialDensity(Density):
    """The density height * e^(t/2) on [-end, end]: what Laplace noise and the bounded-range envelope have in common."""

    end: float
    log_height: float

    def span(self, reach: Reach, kind: SamplingKind) -> tuple[float, float]:  # noqa: ARG002  it is bounded
        """Follow all of it, or the upper half where the lower is its mirror image."""
        return (0.0 if kind is SamplingKind.FIXED else -self.end), self.end

    def cut(self, x: tuple[float, float], kind: SamplingKind, rate: float) -> tuple[float, float]:  # noqa: ARG002
        """Nothing is cut off."""
        return 0.0, 0.0

    def base_loss(self, x: Floats) -> Floats:
        """The variable is the loss."""
        return x

    def place(self, loss: Floats) -> Floats:
        """The variable is the loss."""
        return loss

    def log_density(self, x: Floats) -> Floats:
        """The logarithm of the height, plus x/2."""
        return self.log_height + 0.5 * x

    def steepness(self, x: float, radius: float) -> float:  # noqa: ARG002  the same everywhere
        """r/2 for the density, r for e^-t."""
        return 1.5 * radius

    @property
    def scale(self) -> float:
        """One."""
        return 1.0


class DensitySource(LossSource):
    """A density and a few atoms, after sampling."""

    def __init__(self, density: Density, atoms: LatticeAtoms, mapped: LossMap, wobble: float = 0.0) -> None:
        self.density, self.atoms, self.mapped, self._wobble = density, atoms, mapped, wobble
        self._latest: tuple[tuple[Grid, Reach], Nodes, float] | None = None  # both sides use the same nodes

    def lattice(self) -> tuple[float, float] | None:
        """Two atoms want to be on the grid both; a law that is symmetric about 0 wants 0 on it."""
        places = np.unique(self.atoms.loss)
        if self.mapped.kind is SamplingKind.FIXED:
            return 0.0, float(places[-1]) if len(places) else 0.0
        if not len(places):
            return None
        return float(places[0]), float(places[-1] - places[0])

    def extent(self, reach: Reach) -> tuple[float, float]:
        """Return the losses at the ends of what is followed."""
        if self.density.scale > _STEEPEST:
            raise TooLarge("squares of the losses leave the range of floats")
        losses = self.mapped.loss(self.density.base_loss(np.array(self.density.span(reach, self.mapped.kind))))
        if self.mapped.kind is SamplingKind.FIXED:
            losses = np.array([-losses[1], losses[1]])
        places = np.concatenate([losses, self.atoms.loss])
        return float(np.min(places)), float(np.max(places))

    def measure(self, grid: Grid, reach: Reach, *, upper: bool) -> LossMeasure:
        """Return nodes, atoms, and what was cut off."""
        atoms = self.atoms
        if self._latest is None or self._latest[0] != (grid, reach):
            self._latest = ((grid, reach), *laid_out(self.density, self.mapped, grid, reach, self.cap))
        _, nodes, wobble = self._latest
        below, above = self.density.cut(self.density.span(reach, self.mapped.kind), self.mapped.kind, self.mapped.rate)
        if self.mapped.kind is SamplingKind.FIXED:
            atoms = LatticeAtoms.joined(atoms, self._rest(nodes, below + above, upper=upper))
        wobble = max(wobble, self._wobble + 8 * UNIT * _largest(atoms.loss, grid))
        if not upper:
            return LossMeasure(atoms, nodes, 0.0, wobble)
        if below > 0:
            atoms = LatticeAtoms.joined(
                atoms, LatticeAtoms.of([self.extent(reach)[0]], [math.log(below)], ELEMENTARY * 800)
            )
        return LossMeasure(atoms, nodes, above, wobble)

    def forget(self) -> None:
        """Free the nodes."""
        self._latest = None

    def _rest(self, nodes: Nodes, cut: float, *, upper: bool) -> LatticeAtoms:
        """Return the atom at loss 0 of a sample of fixed size: all mass that is neither above nor below."""
        moved = math.fsum(np.exp(nodes.log_mass)) + math.fsum(np.exp(self.atoms.log_mass))
        doubt = nodes.error + 2 * float(np.max(nodes.slack)) + 256 * UNIT
        rest = 1.0 - moved + (doubt if upper else -doubt - cut)
        return LatticeAtoms.of([0.0], [math.log(rest) if rest > 0 else -math.inf], ELEMENTARY * 64)


def laid_out(density: Density, mapped: LossMap, grid: Grid, reach: Reach, cap: float = math.inf) -> tuple[Nodes, float]:
    """Return the nodes of a density, panel by panel inside half-cells, and a bound on the error of a loss.

    Accuracy. Every weighted sum in the sense of `Nodes` is within `error` of its integral.
        Proof: after any of the maps P's new density is density(x) times a + b e^-t with a, b >= 0, and e^-l times it is
        again of that form; both are entire in x. Gauss's rule with n nodes on a panel of width w errs by w^(2n+1)
        (n!)^4/((2n+1) (2n)!^3) times a derivative of order 2n, which Cauchy's estimate bounds by (2n)!/r^(2n) times the
        maximum on circles of radius r; and the maximum is at most e^steepness times the least value on the panel.
        Panel ends are rounded, so the law's part within the error of a loss next to an end is counted in the wrong
        half-cell; there a weight is off by at most that error over the step, on a mass of at most the same proportion.
    """
    low, high = density.span(reach, mapped.kind)
    ends = mapped.loss(density.base_loss(np.array([low, high])))
    half = grid.step / 2
    first, last = (math.floor((float(ends[0]) - grid.anchor) / half), math.ceil((float(ends[1]) - grid.anchor) / half))
    if math.isfinite(cap):  # from a grid loss above the cap on, one half-cell holds the rest
        last = min(last, max(2 * grid.index_above(cap) + 1, first + 1))
    if last - first > cells.MOST_VALUES // 2:
        raise TooLarge("too many cells")
    index: Indices = np.arange(first, last + 1)
    edges = np.clip(density.place(mapped.inverse(Grid(half, grid.anchor).loss(index))), low, high)
    edges[0], edges[-1] = low, high
    edges = np.maximum.accumulate(edges)
    widest = max(1 / (16 * max(1.0, density.scale)), (high - low) / _MOST_PANELS)
    breaks = edges[np.concatenate([[True], np.diff(edges) > 0])]
    if np.max(np.diff(breaks), initial=0.0) > widest:
        breaks = np.union1d(breaks, np.linspace(low, high, math.ceil((high - low) / widest) + 1))
    left, width = breaks[:-1], np.diff(breaks)
    if not len(width):
        raise TooLarge("the density is narrower than its rounding")
    owner = np.clip(np.searchsorted(edges, left + width / 2, side="right") - 1, 0, len(index) - 2) + first
    narrow = width <= float(np.max(width)) / 16  # where panels differ much in width, so do the rules that suffice
    groups = [
        _nodes(density, mapped, left[part], width[part], owner[part], grid.step)
        for part in (narrow, ~narrow)
        if np.any(part)
    ]
    wobble = max(doubt for _, doubt in groups)
    wobble += 16 * UNIT * max(abs(grid.anchor), *(abs(float(end)) for end in ends))
    error = max(nodes.error for nodes, _ in groups) + 16 * (wobble / grid.step) ** 2
    columns = ((nodes.loss, nodes.log_mass, nodes.slack, nodes.half_cell) for nodes, _ in groups)
    loss, log_mass, slack, half_cell = (np.concatenate(column) for column in zip(*columns, strict=True))
    nodes = Nodes(loss, log_mass, slack, half_cell, error)
    return (nodes.mirrored(grid) if mapped.kind is SamplingKind.FIXED else nodes), wobble


def _nodes(
    density: Density, mapped: LossMap, left: Floats, width: Floats, owner: Indices, step: float
) -> tuple[Nodes, float]:
    """Return the nodes of some panels with one rule for all, and a bound on the error of a loss."""
    farthest = max(abs(float(left[0])), abs(float(left[-1] + width[-1])))
    count, relative = _rule_size(density, float(np.max(width)), farthest, step)
    if len(left) * count > cells.MOST_VALUES:
        raise TooLarge("too many nodes")
    places, weights = gauss_rule(count)
    x = (left[:, None] + width[:, None] * places).ravel()
    base = density.base_loss(x)
    loss = mapped.loss(base)
    log_density, log_width, log_weights = density.log_density(x), np.log(width)[:, None], np.log(weights)
    log_mass = log_density + mapped.log_factor(base, loss) + (log_width + log_weights).ravel()
    doubt = mapped.doubt(base, loss)
    # a narrow density is high where a panel is narrow: the terms count one by one, since their sum may be small
    terms = np.abs(log_density) + (np.abs(log_width) + np.abs(log_weights)).ravel()
    slack = UNIT * (64 + 8 * (x * x + np.abs(base) + np.abs(loss) + np.abs(log_mass) + terms)) + doubt
    turned = np.abs(loss) + (np.abs(base) + 2 * density.offset) * mapped.slope(base, loss)
    return Nodes(loss, log_mass, slack, np.repeat(owner, count), relative), float(np.max(16 * UNIT * turned + doubt))


def _rule_size(density: Density, width: float, reach: float, step: float) -> tuple[int, float]:
    """Return the least number of nodes that is good enough, and the relative error it has."""
    for count in range(2, _MOST_NODES + 1):
        error = min(_rule_error(density, width, reach, count, radius) for radius in 2.0 ** np.arange(-12.0, 3.0))
        if error <= _GOOD_ENOUGH * min(step, 1.0):
            break
    return count, error


def _rule_error(density: Density, width: float, reach: float, count: int, radius: float) -> float:
    """Bound the error of Gauss's rule on a panel relative to the panel's mass, at one radius of Cauchy's circles."""
    factorials = 4 * math.lgamma(count + 1) - 2 * math.lgamma(2 * count + 1) - math.log(2 * count + 1)
    log = 2 * count * math.log(width / radius) + factorials + density.steepness(reach, radius + width)
    return math.exp(min(log, 700.0)) * (1 + 1e-9)


def _largest(losses: Floats, grid: Grid) -> float:
    """Return the largest magnitude among losses and the anchor."""
    return max(float(np.max(np.abs(losses), initial=0.0)), abs(grid.anchor))
