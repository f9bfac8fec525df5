"""Numbers of prices: arguments checked by name, decimals as written, formulas rounded towards safety."""

from discreet.privacy.numbers.arguments import nonnegative, plain, positive, probability, renyi_order, whole
from discreet.privacy.numbers.decimal_reading import (
    as_computed,
    as_written,
    decimals,
    exactly,
    plainly,
    positive_price,
    printed,
    written,
    written_down,
    written_up,
)
from discreet.privacy.numbers.formulas import bounds, downward, normal_upper_tail, number, root_upward, upward
