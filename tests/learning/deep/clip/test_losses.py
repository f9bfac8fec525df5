"""Losses give one number a row, and nothing for a target that is out of range."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from discreet.errors import ParameterError  # noqa: E402
from discreet.learning.deep.clip import BinaryCrossEntropy, CrossEntropy, SquaredError  # noqa: E402


def gradient(loss, scores, targets):
    scores = scores.clone().requires_grad_()
    loss(scores, targets).sum().backward()
    return scores.grad


@pytest.mark.parametrize("bad", [-1, 4, -100, 2**40])
def test_a_class_out_of_range_has_loss_and_gradient_zero(bad):
    scores, targets = torch.randn(3, 4), torch.tensor([1, bad, 3])
    usual = torch.nn.functional.cross_entropy(scores, torch.tensor([1, 0, 3]), reduction="none")
    assert torch.equal(CrossEntropy(4)(scores, targets), torch.stack([usual[0], torch.zeros(()), usual[2]]))
    assert not gradient(CrossEntropy(4), scores, targets)[1].any()


@pytest.mark.parametrize(("kind", "classes", "beyond"), [(torch.uint8, 300, 255), (torch.int8, 200, -1)])
def test_classes_may_be_more_than_the_type_of_the_targets_holds(kind, classes, beyond):
    scores, targets = torch.randn(3, classes), torch.tensor([0, beyond, 100], dtype=kind)
    wanted = CrossEntropy(classes)(scores, targets.long())
    assert torch.equal(CrossEntropy(classes)(scores, targets), wanted)


def test_a_row_of_tokens_counts_as_a_whole_or_not_at_all():
    scores, targets = torch.randn(2, 5, 4), torch.randint(0, 4, (2, 5))
    targets[1, 2] = 9
    found = CrossEntropy(4)(scores, targets)
    usual = torch.nn.functional.cross_entropy(scores[0], targets[0])
    assert torch.allclose(found, torch.stack([usual, torch.zeros(())]))


def test_squared_error_cuts_targets_to_bounds_and_leaves_out_what_is_no_number():
    found = SquaredError((0, 1))(torch.zeros(4, 1), torch.tensor([0.5, 7.0, float("nan"), float("-inf")]))
    assert found.tolist() == [0.125, 0.5, 0.0, 0.0]


def test_binary_targets_are_zero_or_one():
    found = BinaryCrossEntropy()(torch.zeros(3, 1), torch.tensor([0, 1, 2]))
    assert torch.allclose(found, torch.tensor([0.6931472, 0.6931472, 0.0]))


@pytest.mark.parametrize("make", [lambda: CrossEntropy(1), lambda: CrossEntropy(True), lambda: SquaredError((1, 0))])
def test_public_numbers_must_make_sense(make):
    with pytest.raises(ParameterError, match=r"must be .*; got .*, write "):
        make()


def test_scores_must_have_one_column_a_class():
    with pytest.raises(ParameterError, match="must have shape"):
        CrossEntropy(5)(torch.zeros(2, 4), torch.zeros(2, dtype=torch.long))


def test_a_wrong_shape_is_named_by_what_is_wrong():
    with pytest.raises(ParameterError, match=r"a model with 4 outputs"):
        CrossEntropy(4)(torch.zeros(2, 3), torch.zeros(2, dtype=torch.long))
    with pytest.raises(ParameterError, match=r"targets must have shape \(2,\).*got \(2, 1\), write y.reshape"):
        CrossEntropy(4)(torch.zeros(2, 4), torch.zeros(2, 1, dtype=torch.long))
