"""Before paying: whether a model's intervals hold what they should, how wide they would be, and the price for that."""

from discreet.bayes.planning.coverage import CalibrationCheck, calibration
from discreet.bayes.planning.plans import counts_plan
from discreet.bayes.planning.width import CheapestPrice, ExpectedWidth, cheapest_price, expected_width
