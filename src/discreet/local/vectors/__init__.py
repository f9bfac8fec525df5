"""Means of unit vectors, each person reporting one direction."""

from __future__ import annotations

from discreet.local.vectors.aggregator import VectorAggregator
from discreet.local.vectors.result import VectorMean
from discreet.local.vectors.unit_vectors import UnitVectors

__all__ = ["UnitVectors", "VectorAggregator", "VectorMean"]
