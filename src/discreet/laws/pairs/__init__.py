"""Pairs of laws: the divergence between neighbors, certified."""
