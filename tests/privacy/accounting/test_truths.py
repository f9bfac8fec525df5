"""The numbers people quote: compositions of up to a million releases, each known to many digits."""

from __future__ import annotations

import pytest

from discreet.privacy import Relation, gaussian_loss, subsample
from tests.privacy.accounting import truths
from tests.privacy.accounting.compositions import loss_of

SAMPLED = [("gaussian", {"scale": 1.0, "rate": 0.01}, 10_000)]
# parts, the truth, how much of it is in doubt, and how wide the answer may be
KNOWN = {
    "a thousand Gaussians": ([("gaussian", {"scale": 50.0}, 1000)], truths.GAUSSIAN_THOUSAND, 0, 1e-8),
    "a million Gaussians": ([("gaussian", {"scale": 1000.0}, 10**6)], truths.GAUSSIAN_MILLION, 0, 1e-8),
    "a million Laplaces": ([("laplace", {"scale": 1000.0}, 10**6)], truths.LAPLACE_MILLION, 0, 1e-3),
    "a sampled Gaussian": (SAMPLED, truths.SUBSAMPLED_REMOVE, 0, 1e-6),
    "a thousand different Gaussians": (
        [("gaussian", {"scale": scale}, 1) for scale in truths.GAUSSIAN_SCALES],
        truths.GAUSSIAN_DIFFERENT,
        0,
        1e-4,
    ),
    "a thousand different Laplaces": (
        [("laplace", {"scale": scale}, 1) for scale in truths.LAPLACE_SCALES],
        truths.LAPLACE_DIFFERENT,
        truths.LAPLACE_DIFFERENT_DOUBT,
        1e-4,
    ),
    "a thousand pure guarantees": ([("guarantee", {"epsilon": 0.02}, 1000)], truths.PURE_THOUSAND, 0, 1e-6),
}


def assert_contains(found, truth, doubt=0.0):
    """Check an interval against a truth that was itself rounded to a float."""
    slack = doubt + 4e-16 * truth
    assert found.lower - slack <= truth <= found.upper + slack


@pytest.mark.parametrize(("parts", "truth", "doubt", "width"), KNOWN.values(), ids=KNOWN)
def test_the_interval_is_narrow_and_contains_the_truth(parts, truth, doubt, width):
    found = loss_of(parts).epsilon(truths.DELTA)
    assert_contains(found, truth, doubt)
    assert found.width <= width


def test_each_direction_has_its_own_truth():
    loss = subsample(gaussian_loss(1.0, relation=Relation.ADD_REMOVE), rate=0.01) * 10_000
    assert_contains(loss.remove.epsilon(truths.DELTA), truths.SUBSAMPLED_REMOVE)
    assert_contains(loss.add.epsilon(truths.DELTA), truths.SUBSAMPLED_ADD)


@pytest.mark.parametrize(("delta", "truth"), truths.SMALL_DELTAS.items())
def test_tiny_deltas_keep_relative_accuracy(delta, truth):
    found = (gaussian_loss(50.0) * 1000).epsilon(delta)
    assert_contains(found, truth)
    assert found.width <= 1e-3 * truth
