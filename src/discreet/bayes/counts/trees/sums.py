"""Trees of sums: cells, and sums of cells of which something is known, down to one total.

Every cell has a weight, a function of its own count; so has every sum of which something was released. The weight of
all counts together is the product. It is added up from the cells: the message of a sum is the convolution of the
messages of its two parts, times its own weight. Counts are drawn from the total down: given a sum S, its first part is
l with a probability proportional to (message of the first)(l) (message of the second)(S - l).

Tilts. A message may be multiplied by e^(f t); one f for both parts of a sum multiplies their convolution by e^(f s),
which is divided out when the sum becomes a part itself. The tilts are chosen, by `tilts`, so that the mean of every
tilted convolution is where the posterior has its mass. Errors of transforms, and masses that are cut off, are small
against the largest masses of a message; with these tilts those are the masses that matter.

Accuracy. `collect` returns a bound on the relative error of the total, from the messages that were computed.
    Proof, upwards: a cell's cut-off mass is bounded by the theorem of `windows`. A convolution of two laws is off by at
    most the sum of the errors of both, plus its own. Multiplied by a weight L <= 1, an error e in the sum of absolute
    errors stays at most e, and every single error is at most e times the largest mass of the other part, m, so that
    after division by the total Z of the products it is at most e min(1, m sum L) / Z. At a public total n it is at most
    e m / q(n), q the law of the sum. Relative errors of rounding are added up beside that.
    The weight is scaled so that its largest value in the window is 1. What lies beyond the window is taken to go on
    falling as it does at its ends, which is so where products are log-concave; where they do not fall there, the error
    is infinite, and nothing is handed out. Tests compare with direct sums on wider windows.
Cost. A cell: its window, about 100 scales of noise. K cells: K convolutions of windows which grow as the square root of
    the number of cells below.
Reference. Messages on trees: Pearl 1988. Tilts: Daniels 1954.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.bayes.counts.trees.convolution import TRIMMED, Floats, Message, convolution, normalized
from discreet.bayes.counts.weights import Weight, WeightProduct
from discreet.bayes.counts.windows import CountWindow, window
from discreet.errors import InputError

_DEEP = 1e-150  # of the mass at either end, where nothing may be lost; products of two are still floats
_NOISE = 1e-14  # of the largest mass
_LOGARITHM = 1e-14  # relative error of a weight: of some logarithms of size 30, and of an exponential function
_UNIT, _PLAIN = 2.0**-52, 30.0  # logarithms of priors beyond this, as of millions, are rounded by more


@dataclass(eq=False)
class TreePart(ABC):
    """A cell or a sum of two parts. `outer` is the tilt of the sum that it is a part of.

    A `deep` one keeps masses down to 1e-150, and takes no transform: slow, and right whatever the tilt.
    """

    weight: Weight | None = None
    outer: float = field(default=0.0, kw_only=True)
    deep: bool = field(default=False, kw_only=True)
    message: Message = field(init=False)

    @property
    def trimmed(self) -> float:
        """What may be left out at either end, of all mass."""
        return _DEEP if self.deep else TRIMMED

    def below(self) -> Iterator[TreePart]:
        """Yield all parts of this part, parts before their sum, and this part last."""
        yield self

    def sums(self) -> list[SumPart]:
        """Return all sums in a tree, those above before those below."""
        return [part for part in reversed(list(self.below())) if isinstance(part, SumPart)]

    def cells(self) -> list[CellPart]:
        """Return all cells in a tree, in order."""
        return [part for part in self.below() if isinstance(part, CellPart)]

    @abstractmethod
    def copied(self, twins: dict[TreePart, TreePart]) -> TreePart:
        """Return a copy of a tree without its messages; remember which part is a copy of which."""

    @abstractmethod
    def collect(self) -> None:
        """Compute the message, those of the parts being there."""

    def multiply(self, weight: Weight) -> None:
        """Take one more weight in."""
        if self.weight is None:
            self.weight = weight
            return
        own = self.weight.factors if isinstance(self.weight, WeightProduct) else (self.weight,)
        self.weight = WeightProduct((*own, weight))


@dataclass(eq=False)
class CellPart(TreePart):
    """A cell: a count between `low` and `high`."""

    low: int = field(default=0, kw_only=True)
    high: int | None = field(default=None, kw_only=True)

    def copied(self, twins: dict[TreePart, TreePart]) -> CellPart:
        """Return a copy."""
        found = CellPart(self.weight, low=self.low, high=self.high)
        twins[self] = found
        return found

    def window(self, left_out: float) -> CountWindow:
        """Return the weights that matter under the tilt."""
        found = window(
            self.weight or WeightProduct(()), bottom=self.low, top=self.high, tilt=self.outer, left_out=left_out
        )
        if found is None:
            raise InputError("the posterior of a count must be proper; got a cell whose count nothing bounds")
        return found

    def collect(self) -> None:
        """Compute the message: the tilted weights."""
        found = self.window(self.trimmed)
        tilted = found.logs + self.outer * np.arange(len(found.logs))
        top = float(tilted.max())
        rounding = _UNIT * max(0.0, float(found.logs[tilted.argmax()]) - _PLAIN)
        rough = Message(found.start, np.exp(tilted - top), top, rounding=rounding)
        self.message = normalized(rough, tilt=self.outer, trimmed=found.left_out)


@dataclass(eq=False)
class SumPart(TreePart):
    """The sum of two parts, which are under `tilt`. A sum without a weight is under the tilt that its parts are under.

    `factor` is the weight, tilted and scaled, at the counts of the message. `span` holds the sum between two counts.
    """

    parts: tuple[TreePart, TreePart] = field(kw_only=True)
    tilt: float = field(default=0.0, kw_only=True)
    span: tuple[int, int] | None = field(default=None, kw_only=True)
    inner: Message = field(init=False)
    factor: Floats | None = field(default=None, init=False)

    def below(self) -> Iterator[TreePart]:
        """Yield all parts of this sum, and this sum last."""
        for part in self.parts:
            yield from part.below()
        yield self

    def copied(self, twins: dict[TreePart, TreePart]) -> SumPart:
        """Return a copy of this sum and of its parts."""
        first, second = self.parts
        found = SumPart(self.weight, parts=(first.copied(twins), second.copied(twins)))
        twins[self] = found
        return found

    def set_tilt(self, tilt: float) -> None:
        """Tilt the parts, and the parts of those that have no weight of their own."""
        self.tilt = tilt
        if self.weight is None:
            self.outer = tilt
        for part in self.parts:
            part.outer = tilt
            if isinstance(part, SumPart) and part.weight is None:
                part.set_tilt(tilt)

    def collect(self) -> None:
        """Compute the message from those of the parts."""
        first, second = (part.message for part in self.parts)
        self.inner = convolution(first, second, tilt=self.tilt, trimmed=self.trimmed, direct=self.deep)
        self.factor, self.message = None, self.inner
        if self.weight is not None:
            self._weigh(self.weight, self.inner)

    @property
    def smoothest(self) -> float:
        """The largest mass of the smoother part: it bounds how much an error can add to any one mass of the sum."""
        return min(float(part.message.masses.max()) for part in self.parts)

    def _weigh(self, weight: Weight, inner: Message) -> None:
        """Multiply the message by the weight, and change its tilt to that of the sum above."""
        size = len(inner.masses)
        logs = weight.log(inner.start, size) + (self.outer - self.tilt) * np.arange(size)
        if self.span is not None:
            low, high = (max(0, end - inner.start) for end in self.span)
            logs[:low] = logs[high + 1 :] = -math.inf
        top = float(logs[inner.masses > 0].max())
        if top == -math.inf:
            raise InputError("what was released of a sum must be possible; got counts of its parts that rule it out")
        factor = np.exp(np.minimum(logs - top, 0.0))
        products = inner.masses * factor
        error = inner.error * min(1.0, self.smoothest * float(factor.sum())) + self._beyond(products)
        rough = Message(inner.start, products, inner.log_scale + top, error, inner.rounding + _LOGARITHM)
        self.message = normalized(rough, tilt=self.outer, trimmed=self.trimmed)
        first = self.message.start - inner.start
        self.factor = factor[first : first + len(self.message.masses)]

    def _beyond(self, products: Floats) -> float:
        """Return about how much of the products lies beyond the ends of the window, if they go on as they end.

        Where they do not fall at an end, tilts have missed the place that matters, and it may be anything.
        """
        if self.span is not None or self.weight is None:
            return 0.0
        if len(products) == 1:
            change, place = self.outer - self.tilt, self.inner.start
            fall = self.weight.fall(place) - change if place else 0.0
            return self.inner.error * math.exp(min(max(self.weight.rise(place) + change, fall, 0.0), 700.0))
        highs = [cell.high for cell in self.cells()]
        rest = 0.0
        if self.inner.start > sum(cell.low for cell in self.cells()):
            rest += _rest(products[::-1])
        if None in highs or self.inner.stop <= sum(high for high in highs if high is not None):
            rest += _rest(products)
        return rest


def _rest(masses: Floats) -> float:
    """Return the sum of what follows a sequence, if it goes on falling as it did over its last twentieth.

    Where the end is nothing but the error of a transform, that is taken to go on as long again.
    """
    stretch = len(masses) // 20 + 1
    last, before = float(masses[-1]), float(masses[-stretch - 1])
    if last <= _NOISE * float(masses.max()):
        return last * len(masses)
    ratio = (last / before) ** (1 / stretch) if last < before else 1.0
    return last * ratio / (1.0 - ratio) if ratio < 1.0 else math.inf


def nested(cells: Sequence[CellPart], sets: Iterable[tuple[frozenset[int], Weight]]) -> list[TreePart]:
    """Return the trees that hold all cells, where something is known of some sets of them, nested or disjoint."""
    holder: dict[int, tuple[frozenset[int], TreePart]] = {
        place: (frozenset((place,)), cell) for place, cell in enumerate(cells)
    }
    for members, weight in sorted(sets, key=lambda one: len(one[0])):
        tops = list({id(holder[place][1]): holder[place] for place in sorted(members)}.values())
        if frozenset().union(*(held for held, _ in tops)) != members:
            raise InputError(
                "released counts must be of groups that are nested or disjoint; got two that cross, or a total of yes "
                "over groups whose numbers of people are unknown, give one of the answers, state people=, or write "
                "DirichletMultinomial(1, exhaustive=True) where every row is in a listed group"
            )
        joined = balanced([part for _, part in tops])
        joined.multiply(weight)
        for place in members:
            holder[place] = (members, joined)
    return list({id(part): part for _, part in holder.values()}.values())


def balanced(parts: Sequence[TreePart]) -> TreePart:
    """Return the sum of parts as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    return SumPart(parts=(balanced(parts[:half]), balanced(parts[half:])))


def collect(root: TreePart, total: int | None = None) -> tuple[float, float]:
    """Compute all messages of a tree whose tilts are known; return ln of the total weight, and its relative error.

    With a public total the weight is that of all counts that add up to it.
    """
    for part in root.below():
        part.collect()
    found = root.message
    if total is None:
        return found.log_scale, found.error + found.rounding  # the outer tilt is 0, and the masses add up to 1
    place = total - found.start
    if not 0 <= place < len(found.masses) or found.masses[place] <= 0.0:
        raise InputError("people must be a number that the released counts can add up to; got one out of reach")
    mass = float(found.masses[place])
    smoothest = root.smoothest if isinstance(root, SumPart) else 1.0
    return math.log(mass) + found.log_scale - root.outer * place, found.error * smoothest / mass + found.rounding
