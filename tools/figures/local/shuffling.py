"""Draw what shuffling makes of a local epsilon: the central one against the number of people, by three bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, Plot, axes
from discreet.errors import NoSoundConversion
from discreet.local import ProjectiveGeometry, Shuffled
from tools.figures.panels import logarithmic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS, DELTA, VALUES = (4, 2, 1), 1e-6, 1024
CROWDS = tuple(round(10 ** (power / 2)) for power in range(6, 19))
STYLES = {"this protocol": "-", "any protocol": "--", "closed form, where it holds": ":"}


def shuffling() -> Plot:
    """Draw the epsilon of shuffled reports against people, for three local epsilons."""
    title = f"Shuffled reports of projective geometry, delta {DELTA:g}"
    drawn = axes(title=title, x_label="people shuffled together", y_label="epsilon for the collector", height=4.8)
    for epsilon, color in zip(EPSILONS, (ORANGE, BLUE, GREEN), strict=True):
        spec = ProjectiveGeometry.best(epsilon=epsilon, categories=VALUES)
        guarantees = [Shuffled(spec, people=people, delta=DELTA) for people in CROWDS]
        for name, style in STYLES.items():
            known = [(shuffled.people, _bound(shuffled, name)) for shuffled in guarantees]
            points = [(people, height) for people, height in known if height is not None]
            drawn.plot(*zip(*points, strict=True), style, color=color, linewidth=2.0)
        end = (CROWDS[-1], guarantees[-1].epsilon)
        drawn.annotate(f"one report: {epsilon}", end, (6, -4), textcoords="offset points", color=color)
    for name, style in STYLES.items():
        drawn.plot([], [], style, color=INK, linewidth=2.0, label=name)
    ticks = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
    logarithmic(drawn, x=ticks, y=(1e-4, 1e-3, 1e-2, 0.1, 1, 4))
    drawn.set_xticks(ticks, ["1,000", "10⁴", "10⁵", "10⁶", "10⁷", "10⁸", "10⁹"])
    drawn.set_xlim(700, 2e10)
    drawn.legend(loc="lower left", frameon=False, labelcolor=INK)
    return Plot(cast("Figure", drawn.figure))


def _bound(shuffled: Shuffled, name: str) -> float | None:
    """Return one of the three bounds, None where the closed form does not hold."""
    if name == "this protocol":
        return shuffled.epsilon
    if name == "any protocol":
        return float(shuffled.generic.epsilon)
    try:
        return float(shuffled.closed_form.epsilon)
    except NoSoundConversion:
        return None
