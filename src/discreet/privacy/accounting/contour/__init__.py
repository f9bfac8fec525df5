"""Certified deltas by a contour integral over the transform of the privacy loss."""

from discreet.privacy.accounting.contour.answers import Bounds, ContourEngine
from discreet.privacy.accounting.contour.factor import Factor, Unsuitable
from discreet.privacy.accounting.contour.families import flattened, gathered, total_square
from discreet.privacy.accounting.contour.promises import ClaimFactor, LesserFactor
