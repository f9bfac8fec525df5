"""A tree of sums that has been added up: how likely the release was, draws of all counts, the law of each.

An unknown total may be spread much wider than any one tilted law of the sum: where A is large and the noise too, the
product of the cells has its mass within n / sqrt(A) of n, whatever n is. Then the totals are cut into spans, each with
tilts for its middle, as if that were public, and each span is added up by itself.

Where released sums, or a tiny concentration, leave several hills, no tilt is right for all of them. Small trees are
then added up without transforms, and next to nothing is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.counts.marginals import IntegerMarginal
from discreet.bayes.counts.trees.convolution import Floats
from discreet.bayes.counts.trees.descent import drawn, law, outsides, within
from discreet.bayes.counts.trees.ranges import bound_cells, log_likelihood, require_reachable
from discreet.bayes.counts.trees.sums import SumPart, TreePart, collect
from discreet.bayes.counts.trees.tilts import start, tilt
from discreet.errors import InputError, NotConverged, ParameterError

_LARGEST_ERROR = 1e-6  # with more the sums are not handed out
_SMALL_ERROR = 1e-8  # with more an unknown total is cut into spans
_REACH = 1e-5  # of the largest mass of a tilted sum: as far as its span goes
_BEYOND = math.log(1e-20)  # relative to the heaviest total: where the spans end
_SPANS = 100
_WIDEST = 1 << 22  # counts in the windows of a span
_DEEPEST = 1 << 13  # counts in all windows of a tree that is added up without transforms: a second at most
_INT64 = 1 << 62


class SolvedTree:
    """All that follows from a tree of sums, with a public total or none."""

    def __init__(self, root: TreePart, total: int | None = None) -> None:
        self.root = root
        require_reachable(root, total)
        beyond = bound_cells(root, total)
        self._spans = _added_up(root, total)
        self.log_weight, self._shares = _weighed(self._spans)
        self.error = _error(self._spans) + math.exp(min(beyond + log_likelihood(root) - self.log_weight, 0.0))
        if not self.error <= _LARGEST_ERROR:
            raise NotConverged(
                "the sums over counts lost too many digits, because what was released of cells and of their totals, or "
                "people=, are too far apart; check people=, or give the model one of them"
            )

    def drawn(self, size: int, generator: np.random.Generator) -> dict[TreePart, NDArray[Any]]:
        """Draw the counts of all cells and sums, `size` times."""
        sizes = generator.multinomial(size, self._shares / self._shares.sum())
        draws = [span.drawn(int(some), generator) for span, some in zip(self._spans, sizes, strict=True) if some]
        if len(draws) == 1:
            return draws[0]
        order = generator.permutation(size)
        return {part: np.concatenate([one[part] for one in draws])[order] for part in draws[0]}

    def law(self, part: TreePart) -> IntegerMarginal:
        """Return the posterior law of a cell or a sum."""
        laws = [span.law(part) for span in self._spans]
        if len(laws) == 1:
            return laws[0]
        start = min(one.start for one in laws)
        masses = np.zeros(max(one.start + len(one.masses) for one in laws) - start)
        for one, share in zip(laws, self._shares, strict=True):
            masses[one.start - start : one.start - start + len(one.masses)] += share * one.masses
        return IntegerMarginal(start, masses)

    def pairs(self, both: SumPart) -> int:
        """Return how many pairs of counts of the two parts of a sum are listed."""
        tables = [[len(span.own(part).message.masses) for part in both.parts] for span in self._spans]
        return sum(first * second for first, second in tables)

    def joint(self, both: SumPart) -> Iterator[tuple[int, int, Floats]]:
        """Yield tables of the posterior masses of the two parts of a sum, with the counts at which they start."""
        for span, share in zip(self._spans, self._shares, strict=True):
            first, second, masses = span.joint(both)
            yield first, second, share * masses


@dataclass(eq=False)
class _Span:
    """A tree that is added up, its total public or between two ends; `twins` says which part is a copy of which."""

    root: TreePart
    log_weight: float
    error: float
    total: int | None = None
    twins: dict[TreePart, TreePart] | None = None

    @classmethod
    def whole(cls, root: TreePart, total: int | None) -> _Span:
        """Add up all totals, or the public one."""
        return cls(root, *collect(root, total), total)

    @classmethod
    def around(cls, root: SumPart, middle: int) -> _Span:
        """Add up a copy of a tree with tilts for one total, as far around it as the tilted sum has its mass."""
        twins: dict[TreePart, TreePart] = {}
        copy = root.copied(twins)
        tilt(copy, middle)
        collect(copy)
        masses = copy.inner.masses
        reached = np.flatnonzero(masses >= _REACH * masses.max())
        return cls(copy, 0.0, 0.0, None, twins).between(
            copy.inner.start + int(reached[0]), copy.inner.start + int(reached[-1])
        )

    def between(self, low: int, high: int) -> _Span:
        """Hold the total between two ends."""
        root = self.root
        if isinstance(root, SumPart):
            root.span = (low, high)
            root.collect()
        return _Span(root, root.message.log_scale, root.message.error + root.message.rounding, None, self.twins)

    @property
    def ends(self) -> tuple[int, int]:
        """The ends of the total."""
        span = self.root.span if isinstance(self.root, SumPart) else None
        return span or (self.root.message.start, self.root.message.stop - 1)

    @property
    def heaviest(self) -> float:
        """Ln of the largest weight of one total."""
        return self.root.message.log_scale + math.log(float(self.root.message.masses.max()))

    def log_mass(self, total: int) -> float:
        """Return ln of the weight of one total, minus infinity where it was trimmed."""
        found = self.root.message
        mass = found.masses[total - found.start] if found.start <= total < found.stop else 0.0
        return found.log_scale + math.log(mass) if mass > 0.0 else -math.inf

    def own(self, part: TreePart) -> TreePart:
        """Return the copy of a part."""
        return part if self.twins is None else self.twins[part]

    @cached_property
    def outsides(self) -> dict[TreePart, Floats]:
        """What all else says of every part."""
        return outsides(self.root, self.total)

    def law(self, part: TreePart) -> IntegerMarginal:
        """Return the posterior law of a part."""
        return law(self.own(part), self.outsides[self.own(part)])

    def drawn(self, size: int, generator: np.random.Generator) -> dict[TreePart, NDArray[Any]]:
        """Draw the counts of all parts."""
        places = drawn(self.root, size, generator, self.total)
        parts = places if self.twins is None else self.twins
        return {part: _counts(self.own(part).message.start, places[self.own(part)]) for part in parts}

    def joint(self, both: SumPart) -> tuple[int, int, Floats]:
        """Return the joint posterior law of the two parts of a sum."""
        found = self.own(both)
        first, second = (self.own(part).message for part in both.parts)
        known = within(found, self.outsides[found]) if isinstance(found, SumPart) else np.ones(1)
        places = np.arange(len(first.masses))[:, None] + np.arange(len(second.masses))
        places += first.start + second.start - found.message.start
        inside = (places >= 0) & (places < len(known))
        masses = np.outer(first.masses, second.masses) * np.where(inside, known[np.where(inside, places, 0)], 0.0)
        return first.start, second.start, masses / masses.sum()


def _added_up(root: TreePart, total: int | None) -> Sequence[_Span]:
    """Add up a tree: as a whole, cut into spans, or without transforms, whichever is right."""
    refused: InputError | ParameterError | None = None
    found: Sequence[_Span] = []
    tilt(root, total)
    try:
        found = [_Span.whole(root, total)]
        if total is None and found[0].error > _SMALL_ERROR and isinstance(root, SumPart):
            found = min(found, _spans(root), key=_error)
    except (InputError, ParameterError) as error:  # perhaps the tilts have missed what is possible
        refused = error
    if found and _error(found) <= _LARGEST_ERROR:
        return found
    deep = _deeply(root, total)
    if deep is None and refused is not None:
        raise refused
    return min((one for one in (found, deep) if one), key=_error)


def _deeply(root: TreePart, total: int | None) -> Sequence[_Span] | None:
    """Add up a small tree without transforms, its tilts as at first; None where it is large, or nothing is possible."""
    start(root, total)
    for part in root.below():
        part.deep = True
    try:
        if sum(len(cell.window(cell.trimmed).logs) for cell in root.cells()) <= _DEEPEST:
            return [_Span.whole(root, total)]
    except (InputError, ParameterError):
        return None
    return None


def _weighed(spans: Sequence[_Span]) -> tuple[float, Floats]:
    """Return ln of the total weight of spans, and the share of each."""
    logs = np.array([span.log_weight for span in spans])
    total = float(logs.max() + math.log(np.exp(logs - logs.max()).sum()))
    return total, np.exp(logs - total)


def _error(spans: Sequence[_Span]) -> float:
    """Return the relative error of the sum of all spans."""
    return float(_weighed(spans)[1] @ [span.error for span in spans])


def _counts(start: int, places: NDArray[np.int64]) -> NDArray[Any]:
    """Return counts, as Python integers where int64 is too narrow."""
    return places + start if start < _INT64 else places.astype(object) + start


def _spans(root: SumPart) -> list[_Span]:
    """Cut the totals into spans, from the heaviest in both directions until what follows is negligible.

    Where the spans end before that, the error of the last one is infinite.
    """
    found = [_Span.around(root, root.message.start + int(np.argmax(root.message.masses)))]
    best = found[0].heaviest
    for step in (1, -1):
        last = found[0]
        while ((edge := last.ends[step > 0]) > 0 or step > 0) and last.log_mass(edge) >= best + _BEYOND:
            low, high = last.ends
            after = _next(root, edge + step, step * max(1, (high - low) // 2)) if len(found) < _SPANS else None
            if after is None:
                last.error = math.inf
                break
            found.append(after)
            if sum(len(cell.message.masses) for cell in after.root.cells()) > _WIDEST:
                after.error = math.inf  # tilted so far that hardly a weight falls: it takes minutes and gains nothing
                break
            best, last = max(best, after.heaviest), after
    return found


def _next(root: SumPart, edge: int, distance: int) -> _Span | None:
    """Return the span that begins at `edge`, its middle at most a distance away; None where no total can follow."""
    while distance:
        found = _Span.around(root, max(0, edge + distance))
        low, high = found.ends
        if low <= edge <= high:
            return found.between(edge, high) if distance > 0 else found.between(low, edge)
        distance = int(distance / 2)
    return None
