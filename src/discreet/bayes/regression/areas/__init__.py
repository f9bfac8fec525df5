"""Small areas that borrow strength from each other: rates and shares, with two numbers that all areas share."""

from discreet.bayes.regression.areas.small_area_rates import SmallAreaRates
from discreet.bayes.regression.areas.small_area_shares import SmallAreaShares
