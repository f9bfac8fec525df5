"""Means of bounded numbers, each person reporting one randomized number."""
