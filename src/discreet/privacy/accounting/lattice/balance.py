"""Balance bins about grid losses by exchanges with their neighbours, and put single atoms on the grid: one kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.accounting.lattice.cells import Indices
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats

_SWEEPS = 12
_MOST_GIVEN = 0.45
_LEAST = 1e-300
_MARGIN = 1e-9
_LARGEST_TURN = 500.0
_RESIDUALS = 10.0 ** np.arange(-19.0, -2.0)


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Tilted mass in each bin, and its residual: the mean of e^(grid loss - loss) minus 1."""

    mass: Floats
    residual: Floats
    crowd: int

    @classmethod
    def of(cls, index: Indices, weight: Floats, deviation: Floats, size: int) -> Bins:
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
    """Exchange once between all neighbours; shares are of a bin's own mass, whatever was decided for the others."""
    above, below = _shifted(residual, -1), _shifted(residual, 1)
    gap_above = -np.expm1(-step) - math.exp(-step) * above  # how far the bin above lies above, in units of e^-loss
    gap_below = np.expm1(step) + math.exp(step) * below
    want_above = _ratio(np.maximum(residual, 0.0), gap_above, gap_above > step / 4)
    want_below = _ratio(np.maximum(-residual, 0.0), gap_below, gap_below > step / 4)
    # P's mass of a neighbour in units of one's own: the tilted masses' ratio, tilted back
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
    """Return the values of the neighbours: by 1 those below, by -1 those above; 0 outside."""
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
