"""Means of unit vectors, each person reporting one direction."""
