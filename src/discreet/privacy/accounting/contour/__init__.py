"""Certified deltas by a contour integral over the transform of the privacy loss."""

from discreet.privacy.accounting.contour.answers import ContourEngine, met
from discreet.privacy.accounting.contour.families import flattened, gathered, moment_factor, says_more, total_square
from discreet.privacy.accounting.contour.moments import Unsuitable
