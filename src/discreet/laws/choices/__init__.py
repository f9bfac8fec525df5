"""Laws of what choosing mechanisms put out."""

from discreet.laws.choices.above_threshold import AboveThresholdGapLaw, AboveThresholdLaw, Hit
from discreet.laws.choices.noisy_max import NoisyMaxGapLaw, NoisyMaxLaw, Winner, leader
from discreet.laws.choices.peeling import Peeling
from discreet.laws.choices.permute_and_flip import HighestOfExponentials, PermuteAndFlipLaw
from discreet.laws.choices.thresholded import Thresholded, ThresholdedTable
