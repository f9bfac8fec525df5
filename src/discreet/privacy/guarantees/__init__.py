"""Guarantees: the notions of privacy, how they compare, convert and add up."""
