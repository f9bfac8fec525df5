"""Forests: one-way and tree-shaped marginals measured with noise, and tables drawn from them."""

from __future__ import annotations

from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.forest.one_ways import Independent, default_rows, measured_attributes
from discreet.synthesis.methods.forest.tree import Tree, looks_at_pairs

__all__ = ["Forest", "Independent", "Tree", "default_rows", "looks_at_pairs", "measured_attributes"]
