"""Counts, sums, means and variances of bounded numbers."""
