"""Mechanisms that watch a stream."""

from __future__ import annotations

from discreet.mechanisms.streams.above_threshold import AboveThreshold, Split

__all__ = ["AboveThreshold", "Split"]
