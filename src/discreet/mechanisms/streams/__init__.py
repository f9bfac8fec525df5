"""Mechanisms that watch a stream."""

from discreet.mechanisms.streams.above_threshold import AboveThreshold, Split
