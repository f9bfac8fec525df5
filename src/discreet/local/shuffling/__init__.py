"""Shuffled reports: what the crowd adds to the privacy of each."""

from __future__ import annotations

from discreet.local.shuffling.shuffled import Shuffled

__all__ = ["Shuffled"]
