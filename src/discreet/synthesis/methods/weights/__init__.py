"""Multiplicative weights: a distribution over the domain, corrected round by round."""
