"""What an exhibit of the museum is: a mechanism with a guarantee, its runs, its exact law, and the verdict expected.

The noise of exhibits is drawn fast, on a grid, so that no last bit tells: for show, not for protection. Inputs are
neighboring answers of several queries, in the patterns on which counterexamples are usually found.

Reference. Ding, Wang, Wang, Zhang, Kifer 2018, table 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  a museum shows noise, it protects nobody
from numpy.typing import NDArray

from discreet.audit import Level, Outcome
from discreet.audit.exact import Varied
from discreet.laws import Pair
from discreet.privacy import ApproxDP, Guarantee, PureDP

Inputs = tuple[Any, Any]
LADDER = (-200.0, -100.0, -50.0, -20.0, -10.0, -5.0, -1.0, 0.0, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
ANSWERS = Varied(LADDER, (-1.0, 0.0, 1.0))  # many queries of sensitivity one, each moving its own way


@dataclass(frozen=True)
class Label:
    """The sign beside an exhibit: what it guarantees, what an audit must say, and at which level the fault shows."""

    name: str
    guarantee: Guarantee
    expected: Outcome  # KEPT for a right mechanism on its own neighbors, REFUTED for a wrong one
    level: Level  # the cheapest level that must see it (EXACT for right ones)
    story: str  # one sentence: what it does, and what is wrong with it
    reference: str


def right(name: str, guarantee: Guarantee, story: str, reference: str) -> Label:
    """Return the label of a right mechanism, which its exact law shows."""
    return Label(name, guarantee, Outcome.KEPT, Level.EXACT, story, reference)


def wrong(name: str, guarantee: Guarantee, story: str, reference: str, *, level: Level = Level.EXACT) -> Label:
    """Return the label of a wrong mechanism, and the cheapest level that must see it."""
    return Label(name, guarantee, Outcome.REFUTED, level, story, reference)


class Exhibit(ABC):
    """A mechanism that an audit looks at: it can be run very often at once, and where possible its law is known."""

    label: Label
    varied: ClassVar[Varied | None] = None  # what a search may try, where a pair takes a millisecond

    def __repr__(self) -> str:
        return f"<Exhibit {self.label.name}: guarantees {_short(self.guarantee)}>"

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee on its label."""
        return self.label.guarantee

    @abstractmethod
    def neighbors(self) -> list[Inputs]:
        """Return pairs of neighboring inputs; an audit looks at each in both directions."""

    @abstractmethod
    def runs(self, value: Any, draws: int) -> NDArray[Any]:
        """Run the mechanism `draws` times on one input: one row a run; outputs are numbers or short vectors of them."""

    def __call__(self, value: Any) -> Any:
        """Run once."""
        return self.runs(value, 1)[0]

    def pair(self, first: Any, second: Any) -> Pair | None:  # noqa: ARG002  for exhibits that know it
        """Return the exact loss pair of the outputs on two inputs, or None where it is not known."""
        return None


def _short(guarantee: Guarantee) -> str:
    """Return a guarantee in a few letters, such as 0.1-DP."""
    if isinstance(guarantee, PureDP):
        return f"{float(guarantee.epsilon):.4g}-DP"
    if isinstance(guarantee, ApproxDP):
        return f"({float(guarantee.epsilon):.4g}, {float(guarantee.delta):.2g})-DP"
    return repr(guarantee)


class NumericExhibit(Exhibit):
    """An exhibit whose runs come from numpy's generator: fast, in floating point, and never meant to protect."""

    def __init__(self, *, seed: int | None = None) -> None:
        self.random = seeded(seed)


Floats = NDArray[np.float64]
_GRID = 2.0**-24  # added to a multiple of it, the noise leaves no trace of the input in the last bits


def seeded(seed: int | None) -> Generator:
    """Return a generator, seeded by the operating system where no seed is given."""
    return default_rng(seed)


def laplace(random: Generator, scale: float, shape: tuple[int, ...]) -> Floats:
    """Draw Laplace noise as an exponential with a fair sign."""
    noise = random.standard_exponential(shape)
    noise *= scale / _GRID
    np.rint(noise, out=noise)
    noise *= _GRID
    flips = np.unpackbits(np.frombuffer(random.bytes(-(-noise.size // 8)), dtype=np.uint8), count=noise.size)
    np.negative(noise, out=noise, where=flips.view(np.bool_).reshape(shape))
    return noise


def exponential(random: Generator, scale: float, shape: tuple[int, ...]) -> Floats:
    """Draw exponential noise."""
    return np.rint(random.standard_exponential(shape) * (scale / _GRID)) * _GRID


def uniform(random: Generator, width: float, draws: int) -> Floats:
    """Draw uniform noise about zero."""
    return np.rint((random.random(draws) - 0.5) * (width / _GRID)) * _GRID


Vector = NDArray[np.float64]
Vectors = tuple[Vector, Vector]


def one_differs(length: int) -> list[Vectors]:
    """Return the patterns in which one answer moves by one: below and above the others."""
    base = np.ones(length)
    below, above = base.copy(), base.copy()
    below[0], above[0] = 0.0, 2.0
    return [(base, below), (base, above)]


def all_differ(length: int) -> list[Vectors]:
    """Return all eight patterns, in which every answer may move by one in its own direction."""
    base = np.ones(length)
    half = length // 2
    one_up, one_down = np.zeros(length), np.full(length, 2.0)
    one_up[0], one_down[0] = 2.0, 0.0
    first_half = np.where(np.arange(length) < half, 1.0, 0.0)
    others = [one_up, one_down, 2 * first_half, np.full(length, 2.0), np.zeros(length)]
    return [*one_differs(length), *((base, other) for other in others), (first_half, 1.0 - first_half)]
