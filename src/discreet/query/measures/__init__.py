"""Measures: what can be asked about a group, each with its integers, its noise and its interval."""

from discreet.query.measures.mean import mean
from discreet.query.measures.measure import Additive, Estimated, Measure, Simple, Spend, count, total
from discreet.query.measures.private_keys import SelectedKeys
from discreet.query.measures.quantile import QuantilesOfGroups, quantiles
from discreet.query.measures.variance import variance
