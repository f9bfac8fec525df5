"""What so many draws could refute at most, and that verdicts say it."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, Outcome, audit, cap
from discreet.errors import ParameterError


@pytest.mark.parametrize(("draws", "value"), [(100, 3.28), (1000, 5.60), (10_000, 7.90), (100_000, 10.21)])
def test_the_cap_of_two_worlds(draws: int, value: float) -> None:
    assert cap(draws) == pytest.approx(value, abs=0.005)


def test_the_cap_grows_with_draws_and_falls_with_what_is_asked() -> None:
    assert cap(1000) < cap(1001)
    assert cap(1000, 0.99) < cap(1000, 0.95)
    assert cap(1000, suite=10) < cap(1000)
    assert cap(1000, delta=0.1) < cap(1000)
    assert cap(1) == 0.0


@pytest.mark.parametrize("wrong", [{"draws": 0}, {"draws": 5, "confidence": 1.0}, {"draws": 5, "suite": 0}])
def test_a_cap_needs_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        cap(**wrong)  # type: ignore[arg-type]


class Tell:
    """Gives the input away every time."""

    def runs(self, value: int, draws: int) -> np.ndarray:
        return np.full(draws, value)


def test_a_claim_above_the_cap_can_only_pass_and_the_verdict_says_so() -> None:
    verdict = audit(Tell(), dp.PureDP(8), neighbors=[(0, 1)], level=Level.STATISTICAL, draws=2000)  # type: ignore[arg-type]
    assert verdict.outcome is Outcome.NOT_REFUTED
    assert verdict.cap is not None
    assert verdict.cap - 0.5 < verdict.low <= verdict.cap < 8
    assert "can only pass" in str(verdict)
    assert f"at most epsilon {verdict.cap:.4g} can be refuted" in str(verdict)
    assert "can be refuted" in verdict._repr_html_()


def test_the_same_claim_is_refuted_with_enough_draws() -> None:
    verdict = audit(Tell(), dp.PureDP(8), neighbors=[(0, 1)], level=Level.STATISTICAL, draws=60_000)  # type: ignore[arg-type]
    assert verdict.refuted
    assert verdict.plot().svg().startswith("<?xml")
