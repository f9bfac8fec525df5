"""Values that no mechanism may stumble over: refused in clear words, or answered, never a crash."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

HOSTILE_VALUES: tuple[Any, ...] = (
    None,
    "",
    "41",
    "nan",
    b"41",
    True,
    np.bool_(False),
    1j,
    Decimal("1.5"),
    float("nan"),
    float("inf"),
    float("-inf"),
    -0.0,
    5e-324,
    1e308,
    -1e308,
    10**400,
    -(10**400),
    2**63,
    -(2**63) - 1,
    np.float16("nan"),
    np.float32("inf"),
    np.longdouble("1.5"),
    np.int8(-128),
    np.uint64(2**64 - 1),
    [],
    [1, "2"],
    (),
    {},
    {1: 2},
    object(),
    np.array([]),
    np.array([], dtype=np.int64),
    np.array([np.nan, 1.0]),
    np.array([np.inf]),
    np.array(["a", "b"]),
    np.array([None, 1], dtype=object),
    np.array([True, False]),
    np.array([[1, 2], [3, 4]]),
    np.array(5),
    np.array([1 + 2j]),
    np.array([np.datetime64("2020-01-01")]),
    np.array([2**63, 1], dtype=np.uint64),
    np.array([np.longdouble(1)]),
    np.zeros(3, dtype=[("a", np.int64)]),
    np.ma.masked_array([1, 2], mask=[True, False]),
    slice(1, 2),
    lambda: 3,
    float,
    iter([1, 2]),
)
"""Numbers, texts, arrays and objects of every kind, to be handed to a mechanism as its input."""
