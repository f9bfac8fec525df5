"""Tracing: whether a person was in the data, from what was published about it."""
