"""Exact distributions: what they are, how they are drawn, and what a pair of them tells an adversary."""

from discreet.laws.above_threshold import AboveThresholdLaw
from discreet.laws.discrete_gaussian import DiscreteGaussian
from discreet.laws.discrete_laplace import DiscreteLaplace
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.law import IntegerLaw, Law
from discreet.laws.location_pair import LocationPair
from discreet.laws.noisy_max import NoisyMaxLaw
from discreet.laws.on_grid import OnGrid
from discreet.laws.pair import Pair
from discreet.laws.product import Product, ProductPair
from discreet.laws.race import Race, Softmax
from discreet.laws.truncated import Outside, Truncated

__all__ = [
    "AboveThresholdLaw",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Enclosure",
    "Finite",
    "FinitePair",
    "IntegerLaw",
    "Law",
    "LocationPair",
    "NoisyMaxLaw",
    "OnGrid",
    "Outside",
    "Pair",
    "Product",
    "ProductPair",
    "Race",
    "SafeEnd",
    "Softmax",
    "Truncated",
]
