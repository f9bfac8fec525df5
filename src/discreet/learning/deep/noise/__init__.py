"""Noise for clipped gradients: exact integers on a public grid, drawn ahead of each step."""

from discreet._optional import listing
from discreet.learning.deep.noise.correlated_release import CorrelatedRelease, SecretSums
from discreet.learning.deep.noise.float_release import FloatRelease
from discreet.learning.deep.noise.grid import GradientGrid
from discreet.learning.deep.noise.integer_release import IntegerRelease

__all__ = ["CorrelatedRelease", "FloatRelease", "GradientGrid", "IntegerRelease", "SecretSums"]

__dir__ = listing("discreet.learning.deep.noise")
