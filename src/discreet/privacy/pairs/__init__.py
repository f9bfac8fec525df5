"""Pairs of laws that dominate every pair of neighbors: what a loss is made of."""

from discreet.privacy.pairs.balls_in_bins import BallsInBinsPair
from discreet.privacy.pairs.bounded_range import BoundedRangePair
from discreet.privacy.pairs.derived import ComposedPair, FixedSizePair, PoissonPair, Side, worst_of
from discreet.privacy.pairs.laplace import LaplacePair
from discreet.privacy.pairs.moments import LossMoments, moments_of
from discreet.privacy.pairs.tradeoff import TradeOff, normal_pair_is_worse, tradeoff_from_deltas, tradeoff_lines
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair, boundary, enclosed
