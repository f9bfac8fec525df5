"""How many examples an expensive property is tried on: a few as a rule, all that the deep profile asks for there."""

from __future__ import annotations

from hypothesis import settings

_EVERY_DAY = 60


def few(count: int) -> settings:
    """Return settings with fewer examples than usual, unless the profile asks for more than usual."""
    usual = settings.default.max_examples if settings.default else _EVERY_DAY
    return settings(max_examples=count if usual <= _EVERY_DAY else usual)
