"""Reconstruction of census blocks from published tables."""
