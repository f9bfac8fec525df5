"""Quantiles: one, several, jointly, and clipping bounds made from them."""

from discreet.statistics.order_statistics.clipping import Bounds, ClippingBounds, clipping_bounds
from discreet.statistics.order_statistics.intervals import QuantileIntervals
from discreet.statistics.order_statistics.one_quantile import Quantile, quantile
from discreet.statistics.order_statistics.several_quantiles import Quantiles, quantiles
from discreet.statistics.order_statistics.tree import QuantileTree
