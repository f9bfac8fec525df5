"""Choosing by rank: the exact draw that quantiles and medians share."""

from discreet.statistics.ranks.cells import CountsAround, weighed
from discreet.statistics.ranks.choice import (
    MOST_STEPS,
    RankChoice,
    RankFlip,
    exact_level,
    guarantee,
    one_price,
    range_of_rho,
    stated_steps,
)
from discreet.statistics.ranks.draw import draw_by_rank, toss
from discreet.statistics.ranks.error import rank_error
from discreet.statistics.ranks.interval import HALVES, RankInterval
from discreet.statistics.ranks.law import ListedLaw, chances
from discreet.statistics.ranks.ranked import (
    TIE_BITS,
    Integers,
    Ranked,
    checked_positions,
    most_ties,
    stated_tie_bits,
    told_apart,
    told_apart_in_order,
)
