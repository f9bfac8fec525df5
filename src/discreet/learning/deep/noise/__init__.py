"""Noise for clipped gradients: exact integers on a public grid, drawn ahead of each step."""

from discreet._optional import listing
from discreet.learning.deep.noise.grid import Grid
from discreet.learning.deep.noise.integer_release import IntegerRelease

__all__ = ["Grid", "IntegerRelease"]

__dir__ = listing("discreet.learning.deep.noise")
