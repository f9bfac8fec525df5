"""The sampler of a mean protocol as a mechanism: what audits and laws work on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from discreet.laws.law import Law
from discreet.mechanisms.mechanism import Mechanism
from discreet.privacy import PrivacyLoss, PureDP, Relation

if TYPE_CHECKING:
    from discreet.local.means.scalar_mean import ScalarMean
    from discreet.local.vectors.unit_vectors import UnitVectors


class MeanRandomizer(Mechanism):
    """The randomised map from a value to a report, without the memory of a client: made for tests and audits.

    Privacy. Each call is epsilon-private for a change of the value, whoever collects.
        Proof: it draws by the same code as a client; see `ScalarMean` and `UnitVectors`.

    >>> from fractions import Fraction
    >>> from discreet.local.means.one_bit_and_hybrid import DuchiBit
    >>> DuchiBit(epsilon=Fraction(1), lower=Fraction(0), upper=Fraction(10)).mechanism()(3.5) in (0, 1)
    True
    """

    relation = Relation.CHANGE_ONE

    def __init__(self, spec: ScalarMean | UnitVectors) -> None:
        """Keep the public spec; there is no other state."""
        self.spec = spec

    @property
    def guarantee(self) -> PureDP:
        """The promise of the spec."""
        return self.spec.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of one report."""
        return self.spec.loss

    def __call__(self, value: Any) -> int:
        """Report one value."""
        return int(self.spec.randomise(self.spec.items([value]))[0])

    def law(self, value: Any) -> Law[Any]:
        """Return the exact law of the report of one value."""
        return self.spec.law(value)

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of a few values, the two ends among them."""
        few = self.spec.corners()
        yield from ((few[i], few[j]) for i in range(len(few)) for j in range(len(few)) if i != j)

    def __repr__(self) -> str:
        """Show the protocol."""
        return f"MeanRandomizer({self.spec.protocol}, epsilon={float(self.spec.epsilon):.6g})"
