"""Measures: what can be asked about a group, each with its integers, its noise and its interval."""
