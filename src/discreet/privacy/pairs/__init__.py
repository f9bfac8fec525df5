"""Pairs of laws that dominate every pair of neighbors: what a loss is made of."""
