"""What is known of a fit before any row is read: its plan, its price, its noise, and how far the noise lets it go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.display import format_number
from discreet.display.result import told_in_rows
from discreet.privacy import Guarantee
from discreet.privacy.guarantees import with_notion


@told_in_rows
@dataclass(frozen=True, repr=False)
class FitExplanation:
    """A fit that could be made: everything about it is public, nothing is charged and no row is read."""

    estimator: str
    guarantee: Guarantee
    mu: float | None
    plan: Mapping[str, Any]
    regime: str
    noise: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "estimator": self.estimator,
            "guarantee": with_notion(self.guarantee),
            "mu": self.mu,
            "plan": dict(self.plan),
            "noise": dict(self.noise),
            "regime": self.regime,
        }

    def _rows(self) -> list[tuple[str, str | None]]:
        return [
            ("estimator", self.estimator),
            ("price", with_notion(self.guarantee)),
            ("Gaussian DP", None if self.mu is None else f"mu = {format_number(self.mu)}"),
            *((name, _words(value)) for name, value in self.plan.items()),
            *((f"noise: {name}", f"standard deviation {format_number(value)}") for name, value in self.noise.items()),
            ("expect", self.regime),
        ]


def regime(signal: float) -> str:
    """Say how much noise to expect at a given signal: people times mu, over the root of the number of weights.

    How good the model is follows from the rows as well, and is not promised: bounds of features or of a target that are
    much wider than the data make everything small that is to be told from noise.

    >>> regime(2.0)
    'mostly noise (signal 2): more people, fewer features or a larger price are needed'
    >>> regime(70.0)
    'little noise (signal 70), if the bounds are not much wider than the data'
    """
    told = format_number(signal)
    if signal < 4:
        return f"mostly noise (signal {told}): more people, fewer features or a larger price are needed"
    if signal < 30:
        return f"noise will show (signal {told})"
    return f"little noise (signal {told}), if the bounds are not much wider than the data"


def _words(value: Any) -> str:
    if isinstance(value, float):
        return format_number(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
