"""Numbers of prices: arguments checked by name, decimals as written, formulas rounded towards safety."""

from discreet.privacy.numbers.formulas import (
    bounds,
    downward,
    normal_upper_tail,
    number,
    rational_root,
    root_upward,
    upward,
)
from discreet.privacy.numbers.reading import (
    as_computed,
    as_written,
    decimals,
    exactly,
    nonnegative,
    plain,
    plainly,
    positive,
    positive_price,
    printed,
    probability,
    renyi_order,
    whole,
    written,
    written_down,
    written_up,
)
