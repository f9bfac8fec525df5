"""Points in time and spans in microseconds: what microseconds cannot say is missing, not another time.

numpy and Arrow convert between units by multiplication that wraps around: the year 300,000 becomes some other one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FINER = frozenset({"ns", "ps", "fs", "as"})


def in_microseconds(times: NDArray[Any]) -> NDArray[Any]:
    """Return datetime64 or timedelta64 of any unit in microseconds, NaT where they do not fit 64 bits.

    >>> in_microseconds(np.array(["2026-01-01", "300000-01-01"], dtype="datetime64[s]"))
    array(['2026-01-01T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    made = times.astype(f"{times.dtype.kind}8[us]")
    if np.datetime_data(times.dtype)[0] not in _FINER:
        # a time that wrapped around lies nearer to 1970 than any that does not fit, so it does not lead back
        made[made.astype(times.dtype) != times] = np.array("NaT", dtype=made.dtype)
    return made
