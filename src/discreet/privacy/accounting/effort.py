"""How much work a certified answer is worth."""

from __future__ import annotations

from enum import Enum


class Effort(Enum):
    """How much work an answer is worth; all of it depends on public numbers only."""

    QUICK = "transforms of at most 2^18 points"
    USUAL = "transforms of at most 2^22 points, one tilt"
    PATIENT = "transforms of at most 2^22 points, several tilts, and atoms split from below too"
