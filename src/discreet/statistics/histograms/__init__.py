"""Histograms: counts by public or by private keys, and the number of distinct values."""
