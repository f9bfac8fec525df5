"""What tests of models of one release share: a fit that draws nothing."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def without_noise(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let fits add no noise, and return the list of the noises that they would have drawn."""
    seen: list[Any] = []

    def exact(noise: Any, sums: Any) -> Any:
        seen.append(noise)
        return sums

    monkeypatch.setattr("discreet.learning.exact.measurements.noisy", exact)
    return seen
