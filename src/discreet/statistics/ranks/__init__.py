"""Choosing by rank: the exact draw that quantiles and medians share."""
