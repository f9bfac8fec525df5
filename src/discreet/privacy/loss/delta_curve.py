"""The whole curve of delta against epsilon, between certified bounds, and its picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from discreet.display.plots import Plot


@dataclass(frozen=True, slots=True, eq=False)
class DeltaCurve:
    """Bounds on delta(epsilon) at increasing epsilons; `upper` is the safe end."""

    epsilon: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @classmethod
    def monotone(
        cls, epsilon: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> DeltaCurve:
        """Sharpen bounds at increasing levels by the fact that delta does not grow with epsilon."""
        return cls(epsilon, np.maximum.accumulate(lower[::-1])[::-1], np.minimum.accumulate(upper))

    def __len__(self) -> int:
        return len(self.epsilon)

    def plot(self) -> Plot:
        """Draw the certified band, delta on a logarithmic axis; needs the extra `plot`."""
        from discreet.display.plots import plot_curve

        drawn = self.upper > 0
        floor = self.upper[drawn].min() if np.any(drawn) else 1.0
        return plot_curve(
            self.epsilon[drawn],
            np.maximum(self.lower[drawn], floor / 10),
            self.upper[drawn],
            title="Price of the releases together",
            x_label="epsilon",
            y_label="delta",
            names=("certified band", "estimate"),
            log_y=True,
        )
