"""The picture of a verdict: the loss that was found, the claim beside it, and the cap of a sampling audit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.audit.verdict import Verdict

_BEYOND = 1.25
_VISIBLE = 1e-3


def drawn(verdict: Verdict) -> Plot:
    """Draw the interval of the loss as a bar, the claim as a line, and what could have been refuted as a range."""
    claim = _limit(verdict)
    known = [one for one in (verdict.low, verdict.high, verdict.cap, claim) if one is not None and math.isfinite(one)]
    reach = _BEYOND * max([*known, 1e-9])
    low = min(verdict.low, reach)
    drawing = axes(
        title=f"{verdict.claim!r}: {verdict.sentence}",
        x_label="privacy loss" if verdict.in_losses else "share of what the claim allows",
        height=2.6,
    )
    if verdict.cap is not None:
        drawing.barh([0], [min(verdict.cap, reach)], height=0.72, color=SOFT, alpha=0.18, label="could be refuted")
    colour = ORANGE if verdict.refuted else BLUE
    drawing.barh([0], [low], height=0.4, color=colour, label=f"at least {verdict.low:.4g}")
    wider = 0.0 if verdict.high is None else min(verdict.high, reach) - low
    if wider > _VISIBLE * reach:
        drawing.barh([0], [wider], left=[low], height=0.4, color=colour, alpha=0.3, label="possible")
    if claim is not None:
        drawing.axvline(claim, color=INK if verdict.refuted else GREEN, linewidth=2, linestyle="--", label="claim")
    drawing.set_xlim(0.0, reach)
    drawing.set_yticks([])
    figure = cast("Figure", drawing.figure)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, labelcolor=INK)
    return Plot(figure)


def _limit(verdict: Verdict) -> float | None:
    """Return what the claim allows in the terms of the bounds; None for a loss and a claim about a whole curve."""
    if isinstance(verdict.claim, PureDP | ApproxDP):
        return float(verdict.claim.epsilon)
    return None if verdict.in_losses else 1.0
