"""Certified deltas by a contour integral over the transform of the privacy loss."""
