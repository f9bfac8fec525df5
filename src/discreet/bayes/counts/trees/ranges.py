"""Where counts can be: what the noise of what was released allows, and public numbers that it cannot reach."""

from __future__ import annotations

import math
from collections.abc import Iterator

from discreet.bayes.counts.people import PoissonWeight, ScaledCellWeight
from discreet.bayes.counts.trees.sums import CellPart, SumPart, TreePart
from discreet.bayes.counts.weights import ReleasedWeight, Weight, WeightProduct
from discreet.bayes.counts.windows import window
from discreet.errors import InputError, ParameterError

_WIDER = 6  # times as wide as where a likelihood has fallen by 40: there it has fallen by 240
_MOST_COUNTS = 1 << 26  # each takes some 50 bytes
_EVERYWHERE = 1e-100  # e^-230


def require_reachable(root: TreePart, total: int | None) -> None:
    """Refuse a public number of people that is only possible where a likelihood has fallen by e^-40."""
    _require_few(root)
    ranges = []
    for cell in root.cells():
        low, high = _range(cell.weight, 1)
        high = high if cell.high is None else min(high, cell.high)
        if low > high:
            raise InputError(
                "people, and what was released of one count, must be possible together; got numbers further apart than "
                "their noise, so that people= cannot reach what was released: write the number of people in these very "
                "groups, or None"
            )
        ranges.append((low, high))
    if total is not None and not sum(one[0] for one in ranges) <= total <= sum(one[1] for one in ranges):
        raise InputError(
            f"people must be a number that the released counts can add up to; got {total}, which they cannot reach "
            "within their noise, write the number of people in these very groups, or people=None"
        )


def _require_few(root: TreePart) -> None:
    """Refuse noise so wide, on so many cells, that the sums over their counts would take all memory."""
    counts = 0
    for cell in root.cells():
        reach = min((one.reach for one in factors(cell.weight) if isinstance(one, ReleasedWeight)), default=0)
        counts += 2 * reach if cell.high is None else min(2 * reach, cell.high)
    if counts > _MOST_COUNTS:
        raise ParameterError(
            f"the noise must leave at most {_MOST_COUNTS:,} counts of all cells together possible; got a scale so wide "
            f"for {len(root.cells()):,} cells that more are, give the model fewer cells, or ask with more privacy "
            "budget",
            parameter="released",
        )


def _range(weight: Weight | None, times: int) -> tuple[float, float]:
    """Return where the released integers and a prior of a total allow a count to be."""
    low, high = 0.0, math.inf
    for one in factors(weight):
        if isinstance(one, ReleasedWeight):
            middle = one.released // one.weight
            low, high = max(low, middle - times * one.reach), min(high, max(0, middle + times * one.reach))
    return low, high


def log_likelihood(root: TreePart) -> float:
    """Return the logarithm of the largest likelihood of all that was released."""
    seen = [one for part in root.below() for one in factors(part.weight) if isinstance(one, ReleasedWeight)]
    return sum(float(one.noise.log_pmf(0)) for one in seen)


def factors(weight: Weight | None) -> Iterator[Weight]:
    """Yield the factors of a weight."""
    if isinstance(weight, WeightProduct):
        yield from weight.factors
    elif weight is not None:
        yield weight


def bound_cells(root: TreePart, total: int | None) -> float:
    """Bound the cells that nothing was released of by what is left of the sums they are in.

    Returns the logarithm of what may be left out by that, relative to the largest likelihood: beyond these ranges one
    likelihood at least has fallen by e^-240, or the prior of the total has less than 1e-100.
    """
    unseen = [cell for cell in root.cells() if not any(isinstance(one, ReleasedWeight) for one in factors(cell.weight))]
    if not unseen:
        return -math.inf
    ranges: dict[TreePart, tuple[float, float]] = {}
    for part in root.below():
        ranges[part] = _joint_range(part, ranges)
    if total is not None:
        ranges[root] = (total, total)
    for part in root.sums():
        low, high = ranges[part]
        for half, other in (part.parts, part.parts[::-1]):
            least, most = ranges[other]
            own = ranges[half]
            ranges[half] = (max(own[0], 0 if most == math.inf else low - most), min(own[1], high - least))
    for cell in unseen:
        low, high = ranges[cell]
        cell.low = max(cell.low, int(low))
        cell.high = cell.high if high == math.inf else max(cell.low, int(high))
    return math.log(_EVERYWHERE)


def _joint_range(part: TreePart, ranges: dict[TreePart, tuple[float, float]]) -> tuple[float, float]:
    """Return where a leaf or a sum may be, from its parts and from what is known of it alone."""
    low, high = _range(part.weight, _WIDER)
    if isinstance(part, CellPart):
        high = high if part.high is None else min(high, part.high)
        return max(low, part.low), max(high, low, part.low)
    if not isinstance(part, SumPart):
        return low, high
    first, second = (ranges[one] for one in part.parts)
    low, high = max(low, first[0] + second[0]), min(high, first[1] + second[1])
    for one in factors(part.weight):
        if isinstance(one, PoissonWeight | ScaledCellWeight):
            prior = window(one, left_out=_EVERYWHERE)
            high = high if prior is None else min(high, prior.stop)
    return (low, high) if low <= high else (first[0] + second[0], first[1] + second[1])
