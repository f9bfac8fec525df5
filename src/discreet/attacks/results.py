"""What the results of attacks share: arrays that nobody changes, shares on an axis, and a legend below a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from discreet.display.plots import INK, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUARTERS = ([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])


def explained(drawn: Axes, *, columns: int) -> Plot:
    """Return the drawing with a legend of some columns below it."""
    figure = cast("Figure", drawn.figure)
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, labelcolor=INK)
    return Plot(figure)


def read_only(*arrays: NDArray[Any] | None) -> None:
    """Let nobody change the arrays of a result."""
    for array in arrays:
        if array is not None:
            array.flags.writeable = False
