"""Noise beside opendp."""
