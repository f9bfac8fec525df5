"""What an audit found: the guarantee, what was certainly exceeded or certainly kept, and the witness.

Its picture shows the loss that was found, the guarantee beside it, and the cap of a sampling audit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from discreet.display import definition_list
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.privacy import ApproxDP, Guarantee, PureDP, Relation

_SMALL = 9e-4
_ONE_PAIR = 2


class Level(Enum):
    """How closely a mechanism is examined."""

    WIRE = "the format of its outputs and errors"
    EXACT = "its law on neighboring inputs"
    STATISTICAL = "many runs on neighboring inputs"


class Outcome(Enum):
    """What can be said about the guarantee."""

    REFUTED = "refuted: the guarantee is certainly exceeded"
    KEPT = "kept on everything that was searched"
    OPEN = "neither refuted nor certified"
    NOT_REFUTED = "not refuted by this many runs, which certifies nothing"


def as_confidence(confidence: float) -> str:
    """Write a confidence so that one close to 1 does not read as 1.

    >>> as_confidence(0.95), as_confidence(1 - 1e-9)
    ('0.95', '1 - 1e-9')
    """
    rest = 1.0 - confidence
    return f"{confidence:.6g}" if rest >= _SMALL else f"1 - {rest:.2g}".replace("e-0", "e-")


def refuted_at(confidence: float) -> str:
    """Say that a guarantee is refuted by sampling."""
    return f"refuted: the guarantee is exceeded (at confidence {as_confidence(confidence)})"


@dataclass(frozen=True, slots=True)
class Witness:
    """The neighboring inputs, and the event, on which the largest loss was found."""

    first: Any
    second: Any
    event: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding of an audit.

    For pure and approximate guarantees `low` and `high` are losses (for the latter at the guarantee's delta); for the
    other notions they are shares of what the guarantee allows, the worst over a range of deltas, so that 1 is the
    limit. `low` is certain: the mechanism's loss reaches at least that (at `confidence` where sampling was involved,
    which is None for exact audits). `high` bounds the loss on the inputs that were searched; None where the level
    cannot tell. `cap` is the largest loss that this number of samples could have refuted, had each of them told; None
    for exact audits. `pairs` counts the pairs of inputs in both directions, at every level. `conditions` are statements
    about the data that the guarantee takes on trust, each with the loss where it is false.
    """

    guarantee: Guarantee
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
    cap: float | None = None
    conditions: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether the guarantee is exceeded: certainly, or at the confidence stated where sampling was involved."""
        return self.outcome is Outcome.REFUTED

    @property
    def sentence(self) -> str:
        """The outcome in words that fit the level: only an exact audit is certain."""
        if self.outcome is Outcome.KEPT and self.level is Level.WIRE:
            return "nothing in the form of outputs tells; values were not examined"
        if self.outcome is Outcome.KEPT and self.conditions:
            return f"{self.outcome.value}, on condition"
        if not self.refuted or self.confidence is None:
            return self.outcome.value
        limit = float(self.guarantee.epsilon) if isinstance(self.guarantee, PureDP | ApproxDP) else 0.0
        if self.findings and self.low <= limit:
            return "refuted: outputs have a form that none may have"
        return refuted_at(self.confidence)

    @property
    def in_losses(self) -> bool:
        """Whether `low` and `high` are losses, and not shares of what the guarantee allows."""
        return isinstance(self.guarantee, PureDP | ApproxDP) or self.level is Level.WIRE

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order."""
        high = "" if self.high is None else f", at most {self.high:.6g} on the inputs searched"
        pairs = f"{self.pairs // 2} pair{'' if self.pairs == _ONE_PAIR else 's'} of neighbors in both directions"
        rows = [
            (
                "guarantee",
                self.guarantee.in_words() if self.guarantee.relation is Relation.UNSTATED else str(self.guarantee),
            ),
            ("verdict", self.sentence),
            ("loss" if self.in_losses else "share of the guarantee", f"at least {self.low:.6g}{high}"),
            ("examined", f"{self.level.value}; {pairs}, {self.samples} samples, {self.seconds:.2f} s"),
        ]
        if self.confidence is not None:
            rows.append(("confidence", as_confidence(self.confidence)))
        if self.cap is not None:
            what = "epsilon" if self.in_losses else "share of the guarantee"
            rows.append(("cap", f"with this many draws at most {what} {self.cap:.4g} can be refuted"))
        if self.witness is not None:
            rows.append(("witness", f"{self.witness.event}, inputs {self.witness.first} and {self.witness.second}"))
        rows += [("condition", condition) for condition in self.conditions]
        rows += [("finding", finding) for finding in self.findings]
        return rows

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        return definition_list(self._rows())

    def plot(self) -> Plot:
        """Draw what was found beside what was claimed: the interval of the loss, the guarantee, and the cap."""
        return drawn(self)


_BEYOND = 1.25
_VISIBLE = 1e-3


def drawn(verdict: Verdict) -> Plot:
    """Draw the interval of the loss as a bar, the guarantee as a line, and what could have been refuted as a range."""
    guarantee = _limit(verdict)
    known = [
        one for one in (verdict.low, verdict.high, verdict.cap, guarantee) if one is not None and math.isfinite(one)
    ]
    reach = _BEYOND * max([*known, 1e-9])
    low = min(verdict.low, reach)
    drawing = axes(
        title=f"{verdict.guarantee!r}: {verdict.sentence}",
        x_label="privacy loss" if verdict.in_losses else "share of what the guarantee allows",
        height=2.6,
    )
    if verdict.cap is not None:
        drawing.barh([0], [min(verdict.cap, reach)], height=0.72, color=SOFT, alpha=0.18, label="could be refuted")
    color = ORANGE if verdict.refuted else BLUE
    drawing.barh([0], [low], height=0.4, color=color, label=f"at least {verdict.low:.4g}")
    wider = 0.0 if verdict.high is None else min(verdict.high, reach) - low
    if wider > _VISIBLE * reach:
        drawing.barh([0], [wider], left=[low], height=0.4, color=color, alpha=0.3, label="possible")
    if guarantee is not None:
        drawing.axvline(
            guarantee, color=INK if verdict.refuted else GREEN, linewidth=2, linestyle="--", label="guarantee"
        )
    drawing.set_xlim(0.0, reach)
    drawing.set_yticks([])
    return explained(drawing, ncols=4)


def _limit(verdict: Verdict) -> float | None:
    """Return what the guarantee allows in the terms of the bounds; None for a loss against a whole curve."""
    if isinstance(verdict.guarantee, PureDP | ApproxDP):
        return float(verdict.guarantee.epsilon)
    return None if verdict.in_losses else 1.0


class Until(Enum):
    """When a statistical audit stops."""

    SPENT = "all runs are spent: the sharpest bound"
    DECIDED = "the guarantee is refuted, or can hardly be any more: the fewest runs"
