"""The loss pair of anything that can be audited exactly: it knows its pairs, or it has a law."""

from __future__ import annotations

from typing import Any, Protocol

from discreet.errors import ParameterError
from discreet.laws import Law, Pair


class Lawful(Protocol):
    """Something that has a law on every input."""

    def law(self, value: Any, /) -> Law[Any]:
        """Return the law of the output on an input."""


class Compared(Protocol):
    """Something that gives the loss pair of two inputs itself, such as an exhibit of the museum."""

    def pair(self, first: Any, second: Any, /) -> Pair | None:
        """Return the pair of the outputs on two inputs, or None where it is not known."""

    def neighbors(self) -> Any:
        """Return pairs of neighboring inputs."""


def compared(mechanism: Any, first: Any, second: Any) -> Pair:
    """Return the loss pair of a mechanism on two inputs."""
    if not callable(getattr(mechanism, "pair", None)):
        laws = [mechanism.law(value) for value in (first, second)]
        if not all(isinstance(law, Law) for law in laws):
            raise ParameterError(
                "law(value) must return a law of discreet, such as laws.Finite(outcomes, chances)",
                parameter="mechanism",
            )
        pair: Pair = laws[0].pair(laws[1])
        return pair
    known: Pair | None = mechanism.pair(first, second)
    if known is None:
        raise ParameterError(
            "the law of this mechanism is not known; audit it at Level.STATISTICAL or Level.WIRE", parameter="mechanism"
        )
    return known
