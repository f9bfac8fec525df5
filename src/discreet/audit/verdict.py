"""What an audit found: the claim, what was certainly exceeded or certainly kept, and the witness."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from discreet.display.html import definition_list
from discreet.privacy import ApproxDP, Guarantee, PureDP


class Level(Enum):
    """How closely a mechanism is examined."""

    WIRE = "the format of its outputs and errors"
    EXACT = "its law on neighbouring inputs"


class Outcome(Enum):
    """What can be said about the claim."""

    REFUTED = "refuted: the claim is certainly exceeded"
    KEPT = "kept on everything that was searched"
    OPEN = "neither refuted nor certified"


@dataclass(frozen=True, slots=True)
class Witness:
    """The neighbouring inputs, and the event, on which the largest loss was found."""

    first: Any
    second: Any
    event: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding of an audit.

    For pure and approximate claims `low` and `high` are losses (for the latter at the claim's delta); for the other
    notions they are shares of what the claim allows, the worst over a range of deltas, so that 1 is the limit. `low` is
    certain: the mechanism's loss reaches at least that (at `confidence` where sampling was involved, which is None for
    exact audits). `high` bounds the loss on the inputs that were searched; None where the level cannot tell.
    """

    claim: Guarantee
    level: Level
    outcome: Outcome
    low: float
    high: float | None
    confidence: float | None
    witness: Witness | None
    findings: tuple[str, ...]
    pairs: int
    samples: int
    seconds: float

    @property
    def refuted(self) -> bool:
        """Whether the claim is certainly exceeded."""
        return self.outcome is Outcome.REFUTED

    def __str__(self) -> str:
        """Say it in a few lines."""
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order."""
        high = "" if self.high is None else f", at most {self.high:.6g} on the inputs searched"
        direct = isinstance(self.claim, PureDP | ApproxDP) or self.level is Level.WIRE
        rows = [
            ("claim", str(self.claim)),
            ("verdict", self.outcome.value),
            ("loss" if direct else "share of the claim", f"at least {self.low:.6g}{high}"),
            (
                "examined",
                f"{self.level.value}; {self.pairs} pairs of neighbours, {self.samples} samples, {self.seconds:.2f} s",
            ),
        ]
        if self.confidence is not None:
            rows.append(("confidence", f"{self.confidence:.6g}"))
        if self.witness is not None:
            rows.append(("witness", f"{self.witness.event}, inputs {self.witness.first} and {self.witness.second}"))
        rows += [("finding", finding) for finding in self.findings]
        return rows

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        return definition_list(self._rows())
