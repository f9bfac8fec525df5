"""Reconstruction: a secret column from many answers about it."""
