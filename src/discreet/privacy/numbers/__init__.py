"""Numbers of prices: arguments checked, decimals as written, rounding towards safety."""

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
