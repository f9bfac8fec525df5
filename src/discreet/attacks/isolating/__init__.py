"""Isolating one person by differences, trackers and averages."""
