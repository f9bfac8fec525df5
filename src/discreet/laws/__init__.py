"""Exact distributions: what they are, how they are drawn, and what a pair of them tells an adversary."""

from discreet.laws.choices.above_threshold import AboveThresholdGapLaw, AboveThresholdLaw
from discreet.laws.choices.noisy_max import NoisyMaxGapLaw, NoisyMaxLaw
from discreet.laws.choices.peeling import Peeling
from discreet.laws.choices.permute_and_flip import PermuteAndFlipLaw
from discreet.laws.choices.thresholded import Thresholded, ThresholdedTable
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.law import IntegerLaw, Law
from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.noise.location_pair import LocationPair
from discreet.laws.noise.on_grid import OnGrid
from discreet.laws.noise.product import Product, ProductPair
from discreet.laws.noise.truncated import Outside, Truncated
from discreet.laws.noise.truncated_laplace import TruncatedLaplace
from discreet.laws.pair import Pair
from discreet.laws.samplers.race import Race, Softmax
from discreet.laws.samplers.softmax_draws import SignedDraws, SoftmaxDraws, signed_draws

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
