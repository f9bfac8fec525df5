"""Means of unit vectors, each person reporting one direction."""

from discreet.local.vectors.aggregator import VectorAggregator
from discreet.local.vectors.result import VectorMean
from discreet.local.vectors.unit_vectors import UnitVectors
