"""Forests: one-way and tree-shaped marginals measured with noise, and tables drawn from them."""

from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.forest.one_ways import Independent, default_size, measured_attributes
from discreet.synthesis.methods.forest.tree import Tree, looks_at_pairs
