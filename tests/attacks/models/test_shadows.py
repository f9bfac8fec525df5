"""Membership by shadow models: plain models tell who is in them, private ones no more than their ceiling."""

from __future__ import annotations

import warnings
from itertools import product
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from discreet.attacks import ShadowMembership, area_ceiling, invented_labels, shadow_membership
from discreet.errors import InputError, ParameterError
from discreet.laws import RoundedGaussian
from tests.attacks.models import trained

PEOPLE = invented_labels(people=400, columns=40, seed=3)


def unregularized(rows, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may not converge where the classes can be told apart
        return LogisticRegression(C=1e9, max_iter=500).fit(rows, labels)


@pytest.mark.parametrize("train", [RandomForestClassifier(10, random_state=0).fit, unregularized])
def test_plain_models_tell_who_is_in_them(train):
    found = shadow_membership(train, *PEOPLE, models=48, seed=1)  # nothing is drawn but from seeds
    assert found.area >= 0.62
    assert found.area > 0.5 + 10 * found.area_error
    assert found.ceiling is None


@pytest.mark.theorem("shadow_membership.privacy")
def test_a_private_model_stays_below_its_ceiling(rounds):
    """At epsilon 1 the area is about 0.52, the ceiling 0.576, the standard error of 48 models 0.008.

    Three standard errors above the ceiling are ten above the mean.
    """
    mu = trained.mu(trained.labels(1))
    count = rounds(sample=48, full=400)
    found = shadow_membership(
        lambda rows, labels: trained.labels(1).fit(rows, labels), *PEOPLE, models=count, seed=1, mu=mu
    )
    assert found.ceiling is not None
    assert found.ceiling.upper == pytest.approx(NormalDist().cdf(mu / 2**0.5), abs=1e-9)
    assert found.area <= found.ceiling.upper + 3 * found.area_error


class Count:
    """A 'model' that publishes who is in it, each person with normal noise: as much as mu-Gaussian privacy allows."""

    classes_ = np.array([0, 1])
    scale = 1000

    def __init__(self, rows, mu):
        noise = RoundedGaussian(self.scale / mu).draw(2).astype(float)
        self.values = np.array([(rows[:, 0] == 0).any(), (rows[:, 0] == 1).any()]) * self.scale + noise
        self.mu = mu

    def predict_proba(self, rows):
        """Return chances whose logit is the noisy value of the first two people, and a coin's for everybody else."""
        shown = np.zeros(len(rows))
        first = rows[:, 0] < 2
        shown[first] = self.values[rows[first, 0].astype(int)] / self.scale
        chance = 1 / (1 + np.exp(-shown))
        return np.column_stack([1 - chance, chance])


@pytest.mark.theorem("shadow_membership.privacy")
def test_a_model_that_shows_all_it_may_reaches_the_ceiling_and_no_more():
    """Two of two people are shown with noise for one step: their area is Phi(mu / sqrt 2) but for what fitting loses.

    400 models have 2 x 200 members and outsiders, a standard error of about 0.018; the margin of six is 0.11.
    """
    mu, rows = 1.0, np.arange(4.0)[:, None]
    found = shadow_membership(lambda table, _: Count(table, mu), rows, np.ones(4, int), models=400, seed=1, mu=mu)
    shown = ShadowMembership(found.scores[:, :2].copy(), found.included[:, :2].copy(), None)
    top = area_ceiling(mu).upper
    assert top - 0.12 < shown.area < top + 0.11


def test_pairs_are_of_different_models_and_people():
    included = np.array([[True, False], [False, True], [True, False]])
    scores = np.array([[9.0, 0.0], [1.0, 5.0], [3.0, 2.0]])
    found = ShadowMembership(scores, included, None)
    # members (model, person, score): (0, 0, 9), (1, 1, 5), (2, 0, 3); outsiders: (0, 1, 0), (1, 0, 1), (2, 1, 2)
    pairs = [(9, 2), (5, None), (3, 0)]  # of different models and people: only these
    won = sum(1 for one, other in pairs if other is not None and one > other)
    assert found.area == pytest.approx(won / 2)


def test_pairs_are_counted_as_one_by_one_and_in_a_few_sorts():
    draw = np.random.default_rng(2)
    included = draw.integers(0, 2, (7, 6)).astype(bool)
    scores = draw.integers(0, 5, included.shape).astype(np.float64)
    wins, pairs = np.zeros((7, 7)), 0
    for one, person, other, stranger in product(range(7), range(6), range(7), range(6)):
        if one != other and person != stranger and included[one, person] and not included[other, stranger]:
            wins[one, other] += np.sign(scores[one, person] - scores[other, stranger]) / 2 + 0.5
            pairs += 1
    found = ShadowMembership(scores, included, None)._shares()
    assert np.allclose(found[0], wins.sum(axis=1) / (pairs / 7))
    assert np.allclose(found[1], wins.sum(axis=0) / (pairs / 7))


def test_the_area_of_many_models_takes_no_pair_of_models_by_itself(monkeypatch):
    sorted_before = []
    sort = np.sort
    monkeypatch.setattr(np, "sort", lambda *given: sorted_before.append(1) or sort(*given))
    included = np.random.default_rng(2).integers(0, 2, (200, 30)).astype(bool)
    assert ShadowMembership(included * 1.0, included, None).area == 1.0
    assert len(sorted_before) == 2 * (1 + 200 + 30)  # and not 200 * 199


def test_ties_count_half():
    included = np.random.default_rng(1).integers(0, 2, (8, 30)).astype(bool)
    assert ShadowMembership(np.zeros((8, 30)), included, None).area == pytest.approx(0.5)


def test_progress_counts_the_models_and_a_question_without_people_is_refused():
    seen: list[tuple[int, int | None]] = []
    rows, labels = invented_labels(people=40, columns=3, seed=1)
    found = shadow_membership(
        unregularized, rows, labels, models=8, seed=1, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(place, 8) for place in range(1, 9)]
    assert "area" in str(found)
    with pytest.raises(InputError, match="at least 4"):
        shadow_membership(unregularized, rows[:3], labels[:3], models=8, seed=1)


def test_a_frame_reaches_the_training_as_it_is():
    rows, labels = invented_labels(people=40, columns=3, seed=3)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    seen = []

    def train(table, own):
        seen.append(list(table.columns))
        return LogisticRegression().fit(table, own)

    found = shadow_membership(train, frame, labels, models=8, seed=1)
    same = shadow_membership(LogisticRegression().fit, rows, labels, models=8, seed=1)
    assert np.allclose(found.scores, same.scores, rtol=1e-6)  # the order of sums differs
    assert seen == [["a", "b", "c"]] * 8


def test_what_is_no_training_of_a_classifier_is_refused():
    with pytest.raises(ParameterError, match="must be a function of rows"):
        shadow_membership(LogisticRegression(), *PEOPLE, models=8, seed=1)
    with pytest.raises(ParameterError, match="predict_proba"):
        shadow_membership(Ridge().fit, *PEOPLE, models=8, seed=1)


def test_what_cannot_be_used_is_refused_before_a_model_is_trained():
    def never(*_):
        raise AssertionError("trained")

    rows, labels = invented_labels(people=20, columns=3, seed=1)
    for changed in ({"mu": "x"}, {"mu": -1}, {"models": 2.0}, {"seed": -1}, {"seed": "x"}, {"seed": 1.5}):
        with pytest.raises(ParameterError):
            shadow_membership(never, rows, labels, **{"models": 8, "seed": 1, **changed})
    for table in ([["Helen", 1.0]] * 20, [[1.0], [1.0, 2.0]] * 10, [[10**400]] * 20, None):
        with pytest.raises(InputError) as caught:
            shadow_membership(never, table, labels, models=8, seed=1)
        assert "Helen" not in str(caught.value)
        assert caught.value.__context__ is None


def test_models_that_give_no_chances_and_levels_that_are_none_are_refused():
    class Unsure:
        classes_ = (0, 1)

        def predict_proba(self, rows):
            return np.full((len(rows), 2), np.nan)

    rows, labels = invented_labels(people=20, columns=3, seed=1)
    for model, error in ((None, ParameterError), (Unsure(), InputError)):
        with pytest.raises(error, match="model"):
            shadow_membership(lambda *_, model=model: model, rows, labels, models=8, seed=1)
    found = shadow_membership(unregularized, rows, labels, models=8, seed=1)
    for level in (-0.1, 1.5, "x", None, float("nan")):
        with pytest.raises(ParameterError):
            found.found(level)
