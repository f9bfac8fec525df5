"""Figures of mechanisms."""
