"""Estimates from counts of reports: frequencies with intervals, top lists, tables."""
