"""Mechanisms that decide which keys may be named."""
