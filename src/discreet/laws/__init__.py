"""Exact distributions: what they are, how they are drawn, and what a pair of them tells an adversary."""

from discreet.laws.above_threshold import AboveThresholdLaw
from discreet.laws.above_threshold_gap import AboveThresholdGapLaw
from discreet.laws.discrete_gaussian import DiscreteGaussian
from discreet.laws.discrete_laplace import DiscreteLaplace
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.law import IntegerLaw, Law
from discreet.laws.location_pair import LocationPair
from discreet.laws.noisy_max import NoisyMaxLaw
from discreet.laws.noisy_max_gap import NoisyMaxGapLaw
from discreet.laws.on_grid import OnGrid
from discreet.laws.pair import Pair
from discreet.laws.peeling import Peeling
from discreet.laws.permute_and_flip import PermuteAndFlipLaw
from discreet.laws.product import Product, ProductPair
from discreet.laws.race import Race, Softmax
from discreet.laws.softmax_draws import SignedDraws, SoftmaxDraws, signed_draws
from discreet.laws.thresholded import Thresholded, ThresholdedTable
from discreet.laws.truncated import Outside, Truncated
from discreet.laws.truncated_laplace import TruncatedLaplace

__all__ = [
    "AboveThresholdGapLaw",
    "AboveThresholdLaw",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Enclosure",
    "Finite",
    "FinitePair",
    "IntegerLaw",
    "Law",
    "LocationPair",
    "NoisyMaxGapLaw",
    "NoisyMaxLaw",
    "OnGrid",
    "Outside",
    "Pair",
    "Peeling",
    "PermuteAndFlipLaw",
    "Product",
    "ProductPair",
    "Race",
    "SafeEnd",
    "SignedDraws",
    "Softmax",
    "SoftmaxDraws",
    "Thresholded",
    "ThresholdedTable",
    "Truncated",
    "TruncatedLaplace",
    "signed_draws",
]
