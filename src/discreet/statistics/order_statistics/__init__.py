"""Quantiles: one, several, jointly, and clipping bounds made from them."""
