"""Figures of private learning."""
