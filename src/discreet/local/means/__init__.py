"""Means of bounded numbers and of unit vectors, each person reporting one randomized number or direction."""

from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.scalar_mean import LocalMean, ScalarMean
from discreet.local.means.unit_vectors import UnitVectors
from discreet.local.means.vector_aggregator import VectorAggregator, VectorMean
