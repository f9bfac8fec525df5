"""The sampler of a protocol as a mechanism: what audits, laws and the conformance kit work on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.laws.law import Law
from discreet.mechanisms.mechanism import Mechanism
from discreet.privacy import PrivacyLoss, PureDP, Relation

if TYPE_CHECKING:
    from discreet.local.protocol.oracle import Oracle


class Randomizer(Mechanism):
    """The randomised map from a value to a report, without the memory of a client: made for tests and audits.

    A client answers once for its person; this answers as often as it is called, each time at the price of a report.

    Privacy. Each call is epsilon-private for a change of the value, whoever collects.
        Proof: it draws by the same code as a client; see `Oracle`.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> mechanism = DirectResponse(epsilon=1, values=4).mechanism()
    >>> mechanism(3) in range(4), mechanism.guarantee
    (True, PureDP(epsilon=1.0, relation=Relation.CHANGE_ONE))
    """

    relation = Relation.CHANGE_ONE

    def __init__(self, spec: Oracle) -> None:
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

    def __call__(self, value: Any) -> Any:
        """Report a value, or each of an array of values, one person each."""
        if _is_many(value):
            return self.spec.randomise(self.spec.items(value))
        return int(self.spec.randomise(self.spec.items([value]))[0])

    def law(self, value: Any) -> Law[Any]:
        """Return the exact law of the report of one value."""
        if _is_many(value):
            raise InputError("the law is that of one person's report; reports are independent")
        return self.spec.law(int(self.spec.items([value])[0]))

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of a few values, the first and the last among them."""
        size = self.spec.size
        few = sorted({0, 1, size // 2, size - 1})
        yield from ((first, second) for first in few for second in few if first != second)

    def __repr__(self) -> str:
        """Show the public parameters."""
        return f"Randomizer({self.spec!r})"


def _is_many(value: Any) -> bool:
    """Say whether a value stands for several people."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
