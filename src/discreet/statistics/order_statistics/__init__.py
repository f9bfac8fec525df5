"""Quantiles: one, several, jointly, and clipping bounds made from them."""

from discreet.statistics.order_statistics.clipping_bounds import Bounds, ClippingBounds, clipping_bounds
from discreet.statistics.order_statistics.quantile import Quantile, quantile
from discreet.statistics.order_statistics.quantiles import Quantiles, quantiles
from discreet.statistics.order_statistics.tree import QuantileTree
