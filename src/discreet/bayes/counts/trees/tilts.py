"""Tilts of a tree of sums: chosen so that every convolution has its mean where the posterior has its mass.

Every law is replaced by its mean and variance. Upwards, means and variances of parts add up, and a weight on a sum
turns the normal law of the sum into another one. Downwards, what is known of the total moves the means of its parts,
each by its share of the variance; moving the mean of a sum by d takes d / variance more tilt. Then means and variances
are computed again under the new tilts. For one public total that is Newton's method for the saddle point, where the
tilted mean of the sum is the total.

The tilts decide how small the errors are, never what is computed: `sums` bounds the errors that are left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.bayes.counts.trees.ranges import factors
from discreet.bayes.counts.trees.sums import CellPart, SumPart, TreePart
from discreet.bayes.counts.weights import CellWeight, Weight
from discreet.bayes.counts.windows import CountWindow

_SWEEPS = 100
_NEAR = 0.1  # standard deviations between a tilted mean and where it should be
_ROUGH = 1e-6  # of its mass may be missing while tilts are sought
_LEAST = 1e-12  # variance
_POINTS, _DEVIATIONS = 160, 9.0


@dataclass
class _Moments:
    """Means and variances of a part: of its own law under its outer tilt, and before its weight under its own tilt.

    Means count from `base`, an integer, so that huge counts keep their digits.
    """

    base: int
    mean: float
    variance: float
    inner_mean: float = 0.0
    inner_variance: float = 0.0


@dataclass
class _Steps:
    """How far the tilt of a sum may move in a sweep: half as far whenever it turns back, as a variance may jump."""

    stride: float = 4.0  # standard deviations
    last: float = 0.0

    def taken(self, wanted: float, deviation: float) -> float:
        """Return the step that is taken of the one that is wanted."""
        turned = wanted * self.last < 0.0
        self.stride = 0.5 * self.stride if turned else min(4.0, 1.5 * self.stride)
        most = self.stride / max(deviation, 1.0)
        self.last = min(max(wanted, -most), most)
        return self.last


def tilt(root: TreePart, total: int | None = None) -> None:
    """Set the tilts of a tree, given its public total or none."""
    start(root, total)
    steps = {part: _Steps() for part in root.sums()}
    kinds: dict[tuple[Weight | None, int, int | None], int] = {}
    cells = [(cell, kinds.setdefault((cell.weight, cell.low, cell.high), len(kinds))) for cell in root.cells()]
    for _ in range(_SWEEPS):
        found = _of_cells(cells)
        for part in reversed(root.sums()):
            found[part] = _of_sum(part, found)
        aim = found[root].mean if total is None else float(total - found[root].base)
        if _aimed(root, aim, found, steps) <= _NEAR:
            return


def start(root: TreePart, total: int | None) -> None:
    """Start without tilts, but for sums of cells that nothing bounds, or whose prior outweighs what was released."""
    for part in root.sums():
        if part is not root and part.weight is None:
            continue  # it is under the tilt of the sum above
        tilt = -1.0 / (1.0 + (total or 0) + _scale(part)) if _room(part) <= 0.0 else 0.0
        ways, seen = sum(map(_ways, _near_cells(part))), sum(map(_seen, _near_cells(part)))
        if total is None and ways > seen:
            tilt = min(tilt, -math.log1p(ways / (1.0 + seen)))
        part.set_tilt(tilt)


def _ways(cell: CellPart) -> float:
    """Return a of c(t, a), which grows as a^t: a large one hides what was released until it is tilted away."""
    return sum(one.a for one in factors(cell.weight) if isinstance(one, CellWeight) and one.log_q == 0.0)


def _seen(cell: CellPart) -> float:
    """Return about how many people a cell has, and how many the noise may hide."""
    weight = cell.weight
    return 64.0 if weight is None or weight.center is None else weight.center + float(weight.reach)


def _scale(part: TreePart) -> float:
    """Return about how large a sum is."""
    if part.weight is None or part.weight.center is None:
        return 64.0
    return part.weight.center + float(part.weight.reach)


def _near_cells(part: SumPart) -> list[CellPart]:
    """Return the cells below a sum that are under its own tilt."""
    found: list[CellPart] = []
    for one in part.parts:
        if isinstance(one, CellPart):
            found.append(one)
        elif isinstance(one, SumPart) and one.weight is None:
            found.extend(_near_cells(one))
    return found


def _room(part: SumPart) -> float:
    """Return the least tilt under which the weights of some cell stop falling; a bound makes up for no likelihood."""
    decays = [(one.weight.decay if one.weight else 0.0, one.high) for one in _near_cells(part)]
    return min((decay for decay, high in decays if decay > 0.0 or high is None), default=math.inf)


def _of_sum(part: SumPart, found: dict[TreePart, _Moments]) -> _Moments:
    """Return means and variances of a sum from those of its parts."""
    first, second = (found[one] for one in part.parts)
    base, mean, variance = first.base + second.base, first.mean + second.mean, first.variance + second.variance
    if part.weight is None:
        return _Moments(base, mean, variance, mean, variance)
    own = _weighted(part.weight, part.outer - part.tilt, base, mean, max(variance, _LEAST))
    return _Moments(base, *own, mean, variance)


def _of_cells(cells: Sequence[tuple[CellPart, int]]) -> dict[TreePart, _Moments]:
    """Return means and variances of cells, computed once where kind and tilt are equal: most counts are small."""
    known: dict[tuple[int, float], _Moments] = {}
    for cell, kind in cells:
        if (kind, cell.outer) not in known:
            known[kind, cell.outer] = _of_cell(cell)
    return {cell: known[kind, cell.outer] for cell, kind in cells}


def _of_cell(part: CellPart) -> _Moments:
    """Return mean and variance of a cell under its tilt."""
    found = part.window(_ROUGH)
    law = CountWindow(found.start, found.logs + part.outer * np.arange(len(found.logs))).masses
    places = np.arange(len(law))
    mean = float(law @ places)
    return _Moments(found.start, mean, float(law @ (places - mean) ** 2))


def _weighted(weight: Weight, change: float, base: int, mean: float, variance: float) -> tuple[float, float]:
    """Return mean and variance of the normal law times w(s) e^(change s), by sums over two lattices.

    One lattice spans the normal law, the other the likelihood within it, which may be much narrower. All but the counts
    that the weight is asked for is relative to `base`.
    """
    span = _DEVIATIONS * math.sqrt(variance)
    lattices = [_lattice(mean - span, mean + span, -base)]
    if weight.center is not None and abs(weight.center - base - mean) < span:
        middle = weight.center - base
        lattices.append(_lattice(middle - weight.reach, middle + weight.reach, -base))
    logs = np.concatenate([weight.log(base + start, size, step) for start, size, step in lattices])
    places = np.concatenate([start + float(step) * np.arange(size) for start, size, step in lattices])
    order = np.argsort(places, kind="stable")
    places, logs = places[order], logs[order]
    widths = np.gradient(places) if len(places) > 1 else np.ones(1)
    logs = logs + change * (places - mean) - 0.5 * (places - mean) ** 2 / variance
    law = np.exp(logs - logs.max()) * widths
    law /= law.sum()
    found = float(law @ places)
    return found, max(float(law @ (places - found) ** 2), _LEAST)


def _lattice(low: float, high: float, least: int) -> tuple[int, int, int]:
    """Return start, number and step of integers from low to high, none below `least`."""
    start = max(least, math.floor(low))
    stop = max(start, math.ceil(high))
    step = max(1, (stop - start) // _POINTS)
    return start, (stop - start) // step + 1, step


def _aimed(part: TreePart, aim: float, found: dict[TreePart, _Moments], steps: dict[SumPart, _Steps]) -> float:
    """Move the tilts below a part so that its mean becomes `aim`; return the largest miss, in standard deviations."""
    if not isinstance(part, SumPart):
        return 0.0
    own = found[part]
    deviation = math.sqrt(max(own.inner_variance, _LEAST))
    wanted = steps[part].taken((aim - own.inner_mean) / deviation**2, deviation)
    change = min(wanted, 0.9 * (_room(part) - part.tilt))
    part.set_tilt(part.tilt + change)
    miss = abs(aim - own.inner_mean) / deviation
    return max(miss, *(_aimed_below(one, change, found, steps) for one in part.parts))


def _aimed_below(part: TreePart, change: float, found: dict[TreePart, _Moments], steps: dict[SumPart, _Steps]) -> float:
    """Go on below a sum whose tilt has changed, which moves the mean of each part by its variance times the change."""
    if isinstance(part, SumPart) and part.weight is None:
        return max(_aimed_below(one, change, found, steps) for one in part.parts)
    return _aimed(part, found[part].mean + found[part].variance * change, found, steps)
