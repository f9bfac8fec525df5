"""Figures of the local model."""
