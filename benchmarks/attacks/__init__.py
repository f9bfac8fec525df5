"""Attacks at full size beside their theory."""
