"""Two maps from a law of losses to masses on a grid: one that only raises delta(epsilon), one that only lowers it.

Balance bins about grid losses by exchanges with their neighbors, and put single atoms on the grid: one kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.accounting.lattice.cells import (
    MOST_VALUES,
    Grid,
    Indices,
    LatticeAtoms,
    LossMeasure,
    TooLarge,
    log_sum,
    rounding_of,
)
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats

_FLOOR, _LIGHT = 1e-300, 1e-250
_HOPELESS = 100.0
_FARTHEST = 2.0**50
_NEAR = 1e-8  # atoms this near the grid, in steps, are moved onto it, and the distance is paid for
_SWEEPS = 12
_MOST_GIVEN = 0.45
_LEAST = 1e-300
_MARGIN = 1e-9
_LARGEST_TURN = 500.0
_RESIDUALS = 10.0 ** np.arange(-19.0, -2.0)


@dataclass(frozen=True, slots=True, eq=False)
class TiltedLaw:
    """Masses on a grid times e^(theta loss - log_scale), which add up to about 1.

    The law stands for one side of the truth: `infinite` is its mass at infinity, and every loss of the truth lies
    within `shift` of where it is listed, or on the harmless side of that. `log_excess` is ln of the total mass
    where that is more than 1 by design.
    """

    grid: Grid
    first: int
    weight: Floats
    log_scale: float
    theta: float
    infinite: float
    shift: float
    log_excess: float = 0.0

    @property
    def last(self) -> int:
        """Return the largest index."""
        return self.first + len(self.weight) - 1


def raised(measure: LossMeasure, grid: Grid, theta: float) -> TiltedLaw:
    """Split every loss between the two grid losses about it, so that P's mass and the mean of e^-loss are kept.

    Privacy. The result's curve D(a) = mass at infinity + sum of mass * max(0, 1 - a e^-loss) is at least the law's for
        every a >= 0, and so is that of every composition it takes part in.
        Proof: max(0, 1 - a y) is convex in y = e^-loss, so its value at y is at most the interpolation between the two
        grid values, and the masses are the weights of that interpolation. In a composition, keep the other losses:
        then a is a random number and the inequality holds for each of its values.
    Accuracy. For a density the curve rises by the second order of the step.
    Reference. Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022.
    """
    return _split(measure, grid, theta, upper=True)


def split_down(measure: LossMeasure, grid: Grid, theta: float) -> TiltedLaw:
    """Split atoms as `raised` does, with every mass rounded down: never more than the exact split of the atoms."""
    if measure.nodes is not None:
        raise ValueError("only atoms are split from below")
    return _split(measure, grid, theta, upper=False)


def _split(measure: LossMeasure, grid: Grid, theta: float, *, upper: bool) -> TiltedLaw:
    step = grid.step
    snapped = _snapped(measure.atoms, grid)
    parts = [_Split(snapped.index, snapped.off, measure.atoms.log_mass, measure.atoms.slack, 0.0)]
    if measure.nodes is not None:
        nodes = measure.nodes
        below = nodes.half_cell >> 1
        off = np.clip(nodes.loss - grid.loss(below), 0.0, step)
        blur = nodes.error * (1 + math.exp(step)) / -math.expm1(-step)
        parts.append(_Split(below, off, nodes.log_mass, nodes.slack, blur))
    parts = [part for part in parts if len(part.index)]
    if not parts:
        return TiltedLaw(grid, 0, np.zeros(1), 0.0, theta, measure.infinite, 0.0)
    first = min(int(np.min(part.index)) for part in parts)
    total = _room(max(int(np.max(part.index)) for part in parts) - first + 2)
    log_scale = max(part.log_scale(grid, theta) for part in parts)
    for part in parts:
        part.add_to(total, first, grid, theta, log_scale, upper=upper)
    weight, log_scale = _normalized(total, log_scale, upper=upper)
    shift = measure.wobble + snapped.moved
    return TiltedLaw(grid, first, weight, log_scale, theta, measure.infinite, shift, measure.log_excess)


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """Losses between two grid losses: the lower one's index, the distance from it, the masses and their errors."""

    index: Indices
    off: Floats
    log_mass: Floats
    slack: Floats
    blur: float

    def log_scale(self, grid: Grid, theta: float) -> float:
        """Return ln of the tilted mass, roughly."""
        return log_sum(self.log_mass + theta * grid.loss(self.index))

    def add_to(self, total: Floats, first: int, grid: Grid, theta: float, log_scale: float, *, upper: bool) -> None:
        """Add the shares of both grid losses, rounded; positive terms, so each sum's relative error is small."""
        step, side = grid.step, 1 if upper else -1
        weight, _ = _tilted(self.index, self.log_mass, self.slack, grid, theta, log_scale, upper=upper)
        place = self.index - first
        crowd = int(np.max(np.bincount(place)))
        careful = 1 + side * (8 * ELEMENTARY + 2 * (crowd + 4) * UNIT)
        down = np.exp(-self.off) * -np.expm1(self.off - step) / -math.expm1(-step) + self.blur
        total[:-1] += np.bincount(place, weights=weight * down, minlength=len(total) - 1) * careful
        up = -np.expm1(-self.off) / -math.expm1(-step) + self.blur
        turn = math.exp(theta * step) * (1 + side * ELEMENTARY * (1 + theta * step))
        total[1:] += np.bincount(place, weights=weight * up, minlength=len(total) - 1) * (turn * careful)


def lowered(measure: LossMeasure, grid: Grid, theta: float) -> TiltedLaw:
    """Merge outcomes into bins about the grid losses, balance each bin by exchanges with its neighbors, round down.

    Privacy. The result's curve is at most the law's for every a >= 0, and so is that of every composition.
        Proof: outcomes that are merged, or handed to another bin with a fixed chance, by a rule that does not look at
        the table, are post-processing: the merged mass sits at the mean of its e^-loss, and by convexity of max(0, 1 -
        a y) that lowers the curve. Afterwards a loss is moved down or mass is dropped, which lowers max(0, 1 - a y)
        too.
    Accuracy. For a density the curve falls by the second order of the step; for a loss off the grid without neighbors,
        by the first.
    """
    atoms, snapped = measure.atoms, _snapped(measure.atoms, grid)
    exact = snapped.off == 0.0
    loose = np.zeros(0, dtype=np.int64) if measure.nodes is not None else np.flatnonzero(~exact)
    index, loss, log_mass, slack, error = _binned(measure, snapped, loose, grid)
    places = np.concatenate([index, snapped.index])
    if not len(places):
        return TiltedLaw(grid, 0, np.zeros(1), 0.0, theta, measure.infinite, 0.0)
    first = int(np.min(places)) - 2
    total = _room(int(np.max(places)) - first + 3)
    log_scale = max(
        log_sum(log_mass + theta * grid.loss(index)), log_sum(atoms.log_mass + theta * grid.loss(snapped.index))
    )
    shift, unsure = measure.wobble + snapped.moved, 0.0
    if len(index):
        weight, unsure = _tilted(index, log_mass, slack, grid, theta, log_scale, upper=False)
        bins = TiltedBins.of(index - first, weight, np.expm1(grid.loss(index) - loss), len(total))
        kept, residual, sweeps = bins.balanced(grid.step, theta)
        total, allowed = rounded_down(kept, residual, grid.step, theta)
        doubt = 8 * unsure + 4 * error + 64 * UNIT * bins.crowd
        shift += allowed + (sweeps + 2) * doubt * math.expm1(2 * grid.step)
        total *= max(0.0, 1 - 16 * (sweeps + 1) * UNIT - 2 * bins.crowd * UNIT - 4 * error)
    heavy, _ = _tilted(snapped.index, atoms.log_mass, atoms.slack, grid, theta, log_scale, upper=False)
    np.add.at(total, snapped.index[exact] - first, heavy[exact])
    if measure.nodes is not None:
        merge_atoms(total, snapped.index - first, snapped.off, heavy, grid.step, theta, unsure)
    total, log_scale = _normalized(total, log_scale, upper=False)
    return TiltedLaw(grid, first, total, log_scale, theta, measure.infinite, shift)


def _binned(
    measure: LossMeasure, snapped: _Snapped, loose: Indices, grid: Grid
) -> tuple[Indices, Floats, Floats, Floats, float]:
    """Return the bins, losses and masses of what takes part in exchanges: nodes, or atoms off the grid."""
    if measure.nodes is not None:
        nodes = measure.nodes
        return (nodes.half_cell + 1) >> 1, nodes.loss, nodes.log_mass, nodes.slack, nodes.error
    atoms = measure.atoms
    nearest = snapped.index[loose] + (snapped.off[loose] > grid.step / 2)
    return nearest, atoms.loss[loose], atoms.log_mass[loose], atoms.slack[loose], 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Snapped:
    """The grid index below each atom, its distance above it (0 on the grid), and how far atoms were moved onto it."""

    index: Indices
    off: Floats
    moved: float


def _snapped(atoms: LatticeAtoms, grid: Grid) -> _Snapped:
    """Take atoms that are on the grid up to rounding as being on it."""
    position = (atoms.loss - grid.anchor) / grid.step
    if np.any(np.abs(position) > _FARTHEST):
        raise TooLarge("losses are too many steps apart")
    nearest = np.rint(position)
    tiny = 64 * UNIT * (np.abs(atoms.loss) + abs(grid.anchor))
    distance = np.abs(atoms.loss - grid.loss(nearest.astype(np.int64)))
    on_grid = distance <= np.maximum(tiny, _NEAR * grid.step)
    index = np.where(on_grid, nearest, np.floor(position)).astype(np.int64)
    off = np.where(on_grid, 0.0, np.clip(atoms.loss - grid.loss(index), 0.0, grid.step))
    moved = float(np.max(distance[on_grid], initial=0.0)) + 8 * UNIT * (
        float(np.max(np.abs(atoms.loss), initial=0.0)) + abs(grid.anchor)
    )
    return _Snapped(index, off, moved)


def _tilted(
    index: Indices, log_mass: Floats, slack: Floats, grid: Grid, theta: float, log_scale: float, *, upper: bool
) -> tuple[Floats, float]:
    """Return mass * e^(theta loss - log_scale) at grid losses, rounded to one side, and the worst relative error."""
    turned = theta * grid.loss(index)
    exponent = log_mass + (turned - log_scale)
    np.maximum(exponent, -740.0, out=exponent)
    doubt = slack + rounding_of(log_mass, turned, log_scale, 2 * theta * grid.anchor)
    weight = np.exp(exponent)
    worst = float(np.max(doubt, initial=0.0))
    if not worst < _HOPELESS:
        raise TooLarge("masses are not known well enough")
    if upper:
        return weight * np.exp(doubt) * (1 + ELEMENTARY) + _FLOOR, worst
    return np.where(weight > _LIGHT, weight * np.maximum(0.0, 1 - 2 * doubt), 0.0), worst


def _room(size: int) -> Floats:
    """Return zeros for a law on the grid, unless they are too many."""
    if size > MOST_VALUES:
        raise TooLarge("too many cells")
    return np.zeros(size)


def _normalized(weight: Floats, log_scale: float, *, upper: bool) -> tuple[Floats, float]:
    """Make the weights add up to about 1, so that high powers neither vanish nor overflow."""
    total = float(np.sum(weight))
    if total <= 0:
        return weight, log_scale
    scaled = log_scale + math.log(total)
    doubt = ELEMENTARY * (1 + abs(math.log(total))) + 4 * UNIT * (abs(log_scale) + abs(scaled))
    return weight / total * (1 + 2 * doubt if upper else max(0.0, 1 - 2 * doubt)), scaled


@dataclass(frozen=True, slots=True, eq=False)
class TiltedBins:
    """Tilted mass in each bin, and its residual: the mean of e^(grid loss - loss) minus 1."""

    mass: Floats
    residual: Floats
    crowd: int

    @classmethod
    def of(cls, index: Indices, weight: Floats, deviation: Floats, size: int) -> TiltedBins:
        """Add up masses and deviations."""
        mass: Floats = np.bincount(index, weights=weight, minlength=size).astype(np.float64)
        moment = np.bincount(index, weights=weight * deviation, minlength=size)
        residual = np.divide(moment, mass, out=np.zeros(size), where=mass > 0)
        return cls(mass, residual, int(np.max(np.bincount(index))))

    def balanced(self, step: float, theta: float) -> tuple[Floats, Floats, int]:
        """Sweep: a bin whose mean loss is too low takes a share of the bin above, one too high of the bin below."""
        mass, residual = self.mass, self.residual
        before = math.inf
        for sweep in range(_SWEEPS):
            unrest = float(np.sum(np.abs(residual) * mass))
            if unrest <= _RESIDUALS[0] or unrest > before / 2:  # what is left is at the law's ends: it stays
                return mass, residual, sweep
            before = unrest
            mass, residual = _swept(mass, residual, step, theta)
        return mass, residual, _SWEEPS


def _swept(mass: Floats, residual: Floats, step: float, theta: float) -> tuple[Floats, Floats]:
    """Exchange once between all neighboring bins; each part is of a bin's own mass, independent of the other bins."""
    above, below = _shifted(residual, -1), _shifted(residual, 1)
    gap_above = -np.expm1(-step) - math.exp(-step) * above  # how far the bin above lies above, in units of e^-loss
    gap_below = np.expm1(step) + math.exp(step) * below
    want_above = _ratio(np.maximum(residual, 0.0), gap_above, gap_above > step / 4)
    want_below = _ratio(np.maximum(-residual, 0.0), gap_below, gap_below > step / 4)
    # P's mass of a neighbor in units of one's own: the tilted masses' ratio, tilted back
    to_above = _ratio(_shifted(mass, -1), mass, mass > 0) * math.exp(-theta * step)
    to_below = _ratio(_shifted(mass, 1), mass, mass > 0) * math.exp(theta * step)
    want_above = np.minimum(want_above, _MOST_GIVEN * to_above)
    want_below = np.minimum(want_below, _MOST_GIVEN * to_below)
    given_down = _shifted(_ratio(want_above, to_above, to_above > 0), 1)  # what the bin below takes from this one
    given_up = _shifted(_ratio(want_below, to_below, to_below > 0), -1)
    left = 1 - given_down - given_up
    share = left + want_above + want_below
    moment = left * residual - want_above * gap_above + want_below * gap_below
    return mass * share, _ratio(moment, share, share > 0)


def _shifted(values: Floats, by: int) -> Floats:
    """Return the values of the neighbors: by 1 those below, by -1 those above; 0 outside."""
    moved = np.zeros_like(values)
    if by > 0:
        moved[by:] = values[:-by]
    else:
        moved[:by] = values[-by:]
    return moved


def _ratio(above: Floats, below: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=where)


def rounded_down(mass: Floats, residual: Floats, step: float, theta: float) -> tuple[Floats, float]:
    """Allow every bin a small residual, the same for all, and move bins with a larger one down whole steps."""
    weights = mass / max(float(np.sum(mass)), _LEAST)
    costs = [allowed + step * float(np.sum(weights[residual > allowed])) for allowed in _RESIDUALS]
    allowed = float(_RESIDUALS[int(np.argmin(costs))])
    worse = residual > allowed
    total = np.where(worse, 0.0, mass)
    if np.any(worse):
        places = np.flatnonzero(worse)
        steps = np.ceil(np.log1p(residual[worse]) / step * (1 + 1e-9)).astype(np.int64)
        moved = mass[worse] * np.exp(np.maximum(-theta * step * steps, -700.0)) * (1 - 16 * ELEMENTARY)
        inside = places >= steps
        np.add.at(total, (places - steps)[inside], moved[inside])
    return total, allowed


def merge_atoms(
    total: Floats, places: Indices, offs: Floats, heavy: Floats, step: float, theta: float, doubt: float
) -> None:
    """Put atoms between grid losses onto the grid, balanced by as much of the density beside them as that takes."""
    margin = _MARGIN + 16 * doubt
    for place, off, weight in zip(places, offs, heavy, strict=True):
        if off == 0.0 or weight == 0.0:
            continue
        if not _merged_down(total, int(place), float(off), float(weight), step, theta, margin) and not _merged_up(
            total, int(place), float(off), float(weight), step, theta, margin
        ):
            total[place] += weight


def _merged_down(
    total: Floats, place: int, off: float, weight: float, step: float, theta: float, margin: float
) -> bool:
    """Balance an atom at the grid loss below it with bins further below, nearest first."""
    wanted = weight * -math.expm1(-off) * (1 - margin)
    count = np.arange(1, min(place, _nearby(step, theta)) + 1)
    pull, back = np.expm1(count * step), np.exp(theta * step * count)
    offered = total[place - count] * back  # in the tilt of the atom's new place
    return _taken(total, place, place - count, weight, wanted, offered, offered * pull)


def _merged_up(total: Floats, place: int, off: float, weight: float, step: float, theta: float, margin: float) -> bool:
    """Balance an atom at the grid loss above it with bins further above, nearest first."""
    if _nearby(step, theta) < 1:
        return False
    up = math.exp(theta * step)
    wanted = weight * up * math.expm1(step - off) * (1 + margin)
    count = np.arange(1, min(len(total) - place - 2, _nearby(step, theta)) + 1)
    pull, back = -np.expm1(-count * step), np.exp(-theta * step * count)
    offered = total[place + 1 + count] * back
    return _taken(total, place + 1, place + 1 + count, weight * up, wanted, offered, offered * pull)


def _nearby(step: float, theta: float) -> int:
    """Return how many bins away no exponential leaves the range of floats."""
    return math.floor(min(_LARGEST_TURN / (step * max(1.0, theta)), 1e9))


def _taken(
    total: Floats, target: int, places: Indices, weight: float, wanted: float, offered: Floats, pulls: Floats
) -> bool:
    """Move mass from bins to the target until their pull is what is wanted; say whether there was enough."""
    reached = np.cumsum(pulls)
    if not len(reached) or not np.isfinite(reached[-1]) or reached[-1] < wanted:
        return False
    end = int(np.searchsorted(reached, wanted))
    part = np.zeros(len(places))
    part[:end] = 1.0
    before = float(reached[end - 1]) if end else 0.0
    part[end] = min(max((wanted - before) / pulls[end], 0.0), 1.0) if pulls[end] > 0 else 0.0
    total[target] += (weight + float(np.dot(part, offered))) * (1 - 1e-12)
    total[places] *= (1 - part) * (1 - 4 * UNIT)
    return True
