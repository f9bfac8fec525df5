"""Posteriors measured: coverage, ranks, widths and times of every model of the room, with our own noise."""
