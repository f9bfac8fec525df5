"""Frequency protocols over a public list of values."""
