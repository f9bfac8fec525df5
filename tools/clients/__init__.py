"""Vectors that clients in other languages are held to."""
