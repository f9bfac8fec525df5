"""What the results of attacks share: arrays that nobody changes, and shares on an axis."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

QUARTERS = ([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])


def read_only(*arrays: NDArray[Any] | None) -> None:
    """Let nobody change the arrays of a result."""
    for array in arrays:
        if array is not None:
            array.flags.writeable = False
