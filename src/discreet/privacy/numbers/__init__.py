"""Numbers of prices: arguments checked, decimals as written, rounding towards safety."""

from __future__ import annotations

from discreet.privacy.numbers.arguments import nonnegative, plain, positive, probability, renyi_order, whole
from discreet.privacy.numbers.rounding import bounds, downward, normal_upper_tail, number, root_upward, upward
from discreet.privacy.numbers.written import (
    as_computed,
    as_written,
    exactly,
    plainly,
    positive_price,
    printed,
    written,
    written_down,
    written_up,
)

__all__ = [
    "as_computed",
    "as_written",
    "bounds",
    "downward",
    "exactly",
    "nonnegative",
    "normal_upper_tail",
    "number",
    "plain",
    "plainly",
    "positive",
    "positive_price",
    "printed",
    "probability",
    "renyi_order",
    "root_upward",
    "upward",
    "whole",
    "written",
    "written_down",
    "written_up",
]
