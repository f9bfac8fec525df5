"""Columns of data: numbers, keys, units and how much of each person counts."""
