"""The price of a report is that of its exact law at every level: for the ends of the range and for opposite vectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.local import DuchiBit, HybridGeometry, HybridMean, ProjectiveGeometry, Randomizer, UnitVectors

ONE = {"bounds": (-1, 1)}
PAIRS: list[tuple[Any, Any, Any]] = [
    (DuchiBit(epsilon=Fraction(1, 2), **ONE), -1, 1),
    (HybridMean(epsilon=Fraction(2), steps=4, window=3, weight=Fraction(5, 8), **ONE), -1, 1),
    (HybridMean(epsilon=Fraction(1), steps=2, window=5, weight=Fraction(1), **ONE), -1, 1),
    (UnitVectors(epsilon=Fraction(2), dimension=3, codewords=8, cap=3, codebooks=5), (1.0, 0, 0), (-1.0, 0, 0)),
    (UnitVectors(epsilon=Fraction(1), dimension=2, codewords=4, cap=2, codebooks=3), (0.6, 0.8), (-0.6, -0.8)),
    (ProjectiveGeometry(epsilon=Fraction(1), categories=13, prime=3, dimension=3), 0, 1),
    (HybridGeometry(epsilon=Fraction(1), categories=14, blocks=2, prime=2, dimension=3), 0, 1),
]


@pytest.mark.theorem("Randomizer.privacy")
@pytest.mark.parametrize(("spec", "first", "second"), PAIRS, ids=lambda value: getattr(value, "protocol", ""))
def test_the_loss_is_that_of_the_two_laws_that_differ_most(spec: Any, first: Any, second: Any) -> None:
    pair = spec.law(first).pair(spec.law(second))
    for level in (0.0, 0.3, 0.49, float(spec.epsilon) - 0.001):
        stated, exact = spec.loss.delta(level), pair.delta(level)
        assert stated.upper >= exact.lower
        assert stated.lower <= exact.upper
        assert stated.upper == pytest.approx(exact.upper, rel=1e-9)


@pytest.mark.parametrize(("spec", "first", "second"), PAIRS[:5], ids=lambda value: getattr(value, "protocol", ""))
def test_the_mechanism_says_what_the_spec_says(spec: Any, first: Any, second: Any) -> None:
    mechanism = spec.mechanism()
    assert isinstance(mechanism, Randomizer)
    assert mechanism.guarantee == spec.guarantee
    assert mechanism.law(first).pmf(0) == spec.law(first).pmf(0)
    assert 0 <= mechanism(second) < spec.cells
    assert repr(mechanism) == f"Randomizer({spec!r})"
