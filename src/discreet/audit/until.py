"""When a statistical audit stops."""

from __future__ import annotations

from enum import Enum


class Until(Enum):
    """When a statistical audit stops."""

    SPENT = "all runs are spent: the sharpest bound"
    DECIDED = "the claim is refuted, or can hardly be any more: the fewest runs"
