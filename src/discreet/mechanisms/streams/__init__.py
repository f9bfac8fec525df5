"""Mechanisms that watch a stream."""
