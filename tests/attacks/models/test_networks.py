"""Inversion and membership on a small network, trained plainly and by a plan: the plan takes away what they find."""

from __future__ import annotations

import math
from functools import reduce
from operator import add

import pytest

from discreet.attacks import invented_doses, invented_labels, inversion, shadow_membership
from discreet.privacy import Relation

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from sklearn.neural_network import MLPClassifier, MLPRegressor  # noqa: E402

from discreet.learning.deep import DeepClassifier, DeepRegressor  # noqa: E402

MADE = {"epsilon": 1, "delta": 1e-5, "relation": Relation.ADD_REMOVE, "unit": "person", "hidden": (16,), "steps": 10}
PLAIN = {"hidden_layer_sizes": (16,), "activation": "tanh", "solver": "lbfgs", "alpha": 0, "random_state": 0}


def inverted(make, models, *, private):
    found = []
    for seed in range(models):
        members, outsiders = invented_doses(people=60, columns=50, seed=seed)
        model = make().fit(*members)
        loss = model.loss_ if private else None
        found.append(inversion(model, members, outsiders, secret=0, loss=loss))
    return reduce(add, found)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_plain_network_gives_away_the_bits_of_its_members():
    """Everything is seeded, so that nothing is left to chance; 44 % more of members' bits than of outsiders'."""
    found = inverted(lambda: MLPRegressor(max_iter=300, **PLAIN), 5, private=False)
    assert found.member_rate > 0.95
    assert found.outsider_rate < 0.7


def test_a_private_network_gives_away_less_than_the_ceiling():
    """The gap of a model has a deviation of 0.08, that of eight a standard error of 0.028, about nothing.

    The ceiling, 0.21, is seven and a half of these away: once in 1e13 runs.
    """
    private = {**MADE, "people": 60, "bounds": (0, 1), "target_bounds": (-3, 3)}
    found = inverted(lambda: DeepRegressor(**private), 8, private=True)
    assert found.ceiling == pytest.approx(0.212, abs=0.002)
    assert found.gap < found.ceiling


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_shadow_models_find_the_members_of_a_plain_network():
    rows, labels = invented_labels(people=200, columns=20, seed=3)
    network = MLPClassifier(max_iter=200, **PLAIN)
    assert shadow_membership(network.fit, rows, labels, models=16, seed=1).area > 0.7


def test_shadow_models_find_hardly_anybody_in_a_private_network():
    """The area is a half with a standard error of 0.016, and in expectation at most 0.575; 0.65 is rarer than 1e-9."""
    rows, labels = invented_labels(people=200, columns=20, seed=3)
    private = {**MADE, "people": 100, "bounds": (-3, 3), "classes": [0, 1]}
    plan = DeepClassifier(**private).fit(rows[:100], labels[:100]).training_plan_
    mu = math.sqrt(plan.steps) / float(plan.noise.scale)
    found = shadow_membership(
        lambda some, said: DeepClassifier(**private).fit(some, said), rows, labels, models=16, seed=1, mu=mu
    )
    assert found.ceiling.upper == pytest.approx(0.575, abs=0.002)
    assert found.area < 0.65
