"""Mechanisms that choose among candidates or answers."""
