"""What an exhibit of the museum is: a mechanism with a claim, its runs, its exact law, and the verdict expected."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from discreet.audit.exact.search import Varied
from discreet.audit.verdict import Level, Outcome
from discreet.laws.pairs.pair import Pair
from discreet.privacy import ApproxDP, Guarantee, PureDP
from discreet.testing.museum.noise import seeded

Inputs = tuple[Any, Any]
LADDER = (-200.0, -100.0, -50.0, -20.0, -10.0, -5.0, -1.0, 0.0, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
ANSWERS = Varied(LADDER, (-1.0, 0.0, 1.0))  # many queries of sensitivity one, each moving its own way


@dataclass(frozen=True)
class Label:
    """The sign beside an exhibit: what it claims, what an audit must say, and at which level the fault shows."""

    name: str
    claim: Guarantee
    expected: Outcome  # KEPT for a right mechanism on its own neighbours, REFUTED for a wrong one
    level: Level  # the cheapest level that must see it (EXACT for right ones)
    story: str  # one sentence: what it does, and what is wrong with it
    reference: str


class Exhibit(ABC):
    """A mechanism that an audit looks at: it can be run very often at once, and where possible its law is known."""

    label: Label
    varied: ClassVar[Varied | None] = None  # what a search may try, where a pair takes a millisecond

    def __repr__(self) -> str:
        """Say the name and the claim, as code would write it where it has no short form."""
        return f"<Exhibit {self.label.name}: claims {_short(self.claim)}>"

    @property
    def claim(self) -> Guarantee:
        """The guarantee on its label."""
        return self.label.claim

    @abstractmethod
    def neighbours(self) -> list[Inputs]:
        """Return pairs of neighbouring inputs; an audit looks at each in both directions."""

    @abstractmethod
    def runs(self, value: Any, draws: int) -> NDArray[Any]:
        """Run the mechanism so many times on one input: one row a run; outputs are numbers or short vectors of them."""

    def __call__(self, value: Any) -> Any:
        """Run once."""
        return self.runs(value, 1)[0]

    def pair(self, first: Any, second: Any) -> Pair | None:  # noqa: ARG002  for exhibits that know it
        """Return the exact loss pair of the outputs on two inputs, or None where it is not known."""
        return None


def _short(claim: Guarantee) -> str:
    """Return a claim in a few letters, such as 0.1-DP."""
    if isinstance(claim, PureDP):
        return f"{float(claim.epsilon):.4g}-DP"
    if isinstance(claim, ApproxDP):
        return f"({float(claim.epsilon):.4g}, {float(claim.delta):.2g})-DP"
    return repr(claim)


class NumericExhibit(Exhibit):
    """An exhibit whose runs come from numpy's generator: fast, in floating point, and never meant to protect."""

    def __init__(self, *, seed: int | None = None) -> None:
        """Take a seed for runs that can be repeated."""
        self.random = seeded(seed)
