"""One id in twelve spellings: equal numbers of different types, which a list or an object column can hold."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

SPELLINGS: Sequence[Any] = (
    1,
    True,
    1.0,
    Decimal(1),
    Decimal("1.00"),
    Fraction(1),
    np.int8(1),
    np.uint64(1),
    np.float32(1),
    np.float64(1),
    np.longdouble(1),
    np.True_,
)


def spelled(rows: int) -> list[Any]:
    """Return the ids of `rows` rows of one person, in every spelling by turns.

    >>> spelled(3)
    [1, True, 1.0]
    """
    return [SPELLINGS[row % len(SPELLINGS)] for row in range(rows)]
