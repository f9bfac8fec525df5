"""Model inversion: members of a plain model give their bit away, those of a private one no more than outsiders."""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from discreet.attacks import Inversion, gap_ceiling, invented_doses, inversion
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws import DiscreteLaplace
from discreet.privacy import GaussianDP, PrivacyLoss, PureDP, Relation
from tests.attacks.models import trained


def attacked(make, rounds, *, loss=None):
    """Attack a model of each of many invented groups of 60 people with 50 columns."""
    found = []
    for seed in range(rounds):
        members, outsiders = invented_doses(people=trained.PEOPLE, columns=trained.COLUMNS, seed=seed)
        found.append(inversion(make().fit(*members), members, outsiders, secret=0, loss=loss))
    return reduce(add, found)


def test_a_plain_model_tells_members_from_outsiders():
    found = attacked(LinearRegression, 100)  # nothing is drawn but from seeds
    assert found.gap >= 0.2
    assert found.member_rate > 0.75
    assert found.outsider_rate < 0.6


@pytest.mark.theorem("inversion.privacy")
def test_a_private_model_stays_below_the_ceiling(rounds):
    """The gap of one model lies in [-1, 1] with a deviation below 0.1, and its mean is about 0.015 at epsilon 1.

    With 400 models the standard error is below 0.005: 0.05 is seven of them away, the ceiling of 0.212 forty.
    """
    count = rounds(sample=400, full=4000)
    model = trained.doses(1)
    loss = model.fit(*invented_doses(people=trained.PEOPLE, columns=trained.COLUMNS, seed=0)[0]).loss_
    found = attacked(lambda: trained.doses(1), count, loss=loss)
    assert found.gap <= 0.05
    assert found.ceiling == pytest.approx(2 * NormalDist().cdf(trained.mu(trained.doses(1))) - 1, abs=1e-6)
    assert found.gap <= found.ceiling
    assert len(found.members) == count


class Release:
    """A 'model' that publishes the noisy sum of a column, and predicts nothing else."""

    def __init__(self, rows, epsilon):
        self.total = int(rows[:, 0].sum()) + int(DiscreteLaplace(1 / epsilon).draw(1)[0])
        self.people = len(rows)

    def predict(self, rows):
        """Return the label -1 for the bit that the sum makes more likely, 1 for the other."""
        return np.where((rows[:, 0] == 1) == (self.total >= 1), -1.0, 1.0)


@pytest.mark.theorem("inversion.privacy")
def test_the_best_attack_on_one_bit_stays_below_the_ceiling():
    """One member, whose bit is published with noise, is guessed rightly with the chance 1 / (1 + e^-epsilon).

    The gap of one run has a standard deviation below 0.68, so that of 4,000 runs one below 0.011; 0.075 is seven.
    """
    epsilon, runs = 1.0, 4000
    drawn = np.random.default_rng(1).integers(0, 2, (2 * runs, 1)).astype(float)
    gaps = [
        inversion(Release(one[None], epsilon), (one[None], [-1.0]), (other[None], [-1.0]), secret=0).gap
        for one, other in zip(drawn[:runs], drawn[runs:], strict=True)
    ]
    expected = 1 / (1 + math.exp(-epsilon)) - 0.5
    assert abs(np.mean(gaps) - expected) < 0.075
    # the sum moves by 1 where a bit is turned, one step; the ceiling is for records that are exchanged, two steps
    assert expected + 0.075 < gap_ceiling(PrivacyLoss.from_guarantee(PureDP(1, relation=Relation.ADD_REMOVE)))


@pytest.mark.parametrize("mu", [0.1, 0.268, 1.0])
def test_the_ceiling_of_gaussian_privacy_is_two_steps(mu):
    loss = PrivacyLoss.from_guarantee(GaussianDP(mu, relation=Relation.ADD_REMOVE))
    assert gap_ceiling(loss) == pytest.approx(2 * NormalDist().cdf(mu) - 1, abs=1e-9)
    assert gap_ceiling(loss) >= 2 * NormalDist().cdf(mu) - 1
    one = PrivacyLoss.from_guarantee(GaussianDP(mu, relation=Relation.CHANGE_ONE))
    assert gap_ceiling(one) == pytest.approx(2 * NormalDist().cdf(mu / 2) - 1, abs=1e-9)


def test_the_secret_is_never_read():
    members, outsiders = invented_doses(people=40, columns=20, seed=1)
    model = LinearRegression().fit(*members)
    found = inversion(model, members, outsiders, secret=0)
    turned = tuple((np.column_stack([1 - rows[:, 0], rows[:, 1:]]), doses) for rows, doses in (members, outsiders))
    other = inversion(model, *turned, secret=0)
    assert other.member_rate == pytest.approx(1 - found.member_rate)


def test_a_classifier_is_inverted_by_its_probabilities():
    (rows, doses), (others, theirs) = invented_doses(people=400, columns=3, seed=2)
    rows[:, 0], others[:, 0] = doses > 0, theirs > 0  # the bit is the label itself: everybody gives it away
    model = LogisticRegression().fit(rows, doses > 0)
    found = inversion(model, (rows, doses > 0), (others, theirs > 0), secret=0)
    assert found.member_rate == found.outsider_rate == 1.0


def test_the_frequency_of_the_bit_counts():
    members, outsiders = invented_doses(people=60, columns=5, seed=3)
    model = LinearRegression().fit(*members)
    sure = inversion(model, members, outsiders, secret=0, frequency=1 - 1e-12, deviation=0.5)
    assert sure.member_rate == members[0][:, 0].mean()
    with pytest.raises(MissingParameter, match="deviation must say"):
        inversion(model, members, outsiders, secret=0, frequency=0.3)


def test_what_is_no_question_is_refused():
    members, outsiders = invented_doses(people=10, columns=5, seed=3)
    model = LinearRegression().fit(*members)
    with pytest.raises(ParameterError, match="secret must be the number of a column"):
        inversion(model, members, outsiders, secret=5)
    with pytest.raises(InputError, match="must hold bits"):
        inversion(model, (members[0] * 2, members[1]), outsiders, secret=0)
    with pytest.raises(InputError, match="as many labels"):
        inversion(model, (members[0], members[1][:3]), outsiders, secret=0)
    with pytest.raises(ParameterError, match="frequency must lie"):
        inversion(model, members, outsiders, secret=0, frequency=1)


def test_a_column_of_predictions_is_as_good_as_a_list_of_them():
    members, outsiders = invented_doses(people=60, columns=10, seed=1)
    plain = LinearRegression().fit(*members)
    column = LinearRegression().fit(members[0], members[1][:, np.newaxis])
    found = [inversion(model, members, outsiders, secret=0) for model in (plain, column)]
    assert found[0].members.tolist() == found[1].members.tolist()


class _Says:
    """A classifier of two classes that says the same of everybody."""

    def __init__(self, *chances):
        self.chances, self.classes_ = chances, [0, 1]

    def predict_proba(self, rows):
        return np.tile(self.chances, (len(rows), 1))


def test_a_label_that_a_model_never_saw_is_as_unlikely_with_either_bit():
    class Sure(_Says):
        def predict_proba(self, rows):
            return np.column_stack([rows[:, 0], 1 - rows[:, 0]])

    people = np.array([[1.0], [0.0], [0.0]])
    assert inversion(Sure(), (people, [0, 1, 1]), (people, [0, 7, 7]), secret=0).outsiders.tolist() == [1]


@pytest.mark.parametrize("model", [_Says(math.nan, math.nan), _Says(0.3, 0.3, 0.4)])
def test_a_model_that_gives_no_chances_is_refused(model):
    people = (np.array([[1.0], [0.0]]), [0, 1])
    with pytest.raises(InputError, match="chance"):
        inversion(model, people, people, secret=0)


@pytest.mark.parametrize(
    "people",
    [None, 5, (), ([[1.0]],), ([["Helen"]], [1]), ([[10**400]], [1]), ([[1.0], [1.0, 2.0]], [1, 2]), ([[1j]], [1])],
)
def test_what_is_no_table_is_refused_without_showing_a_cell(people):
    known, _ = invented_doses(people=10, columns=1, seed=3)
    with pytest.raises(InputError) as caught:
        inversion(LinearRegression().fit(*known), people, known, secret=0)
    assert "Helen" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("label", ["Helen", None, math.nan, math.inf, 1j])
def test_a_regression_has_labels_that_are_numbers(label):
    known, _ = invented_doses(people=10, columns=1, seed=3)
    with pytest.raises(InputError, match="finite numbers"):
        inversion(LinearRegression().fit(*known), ([[1.0]], [label]), known, secret=0)


def test_results_add_up():
    one, other = (Inversion(np.array([share]), np.array([0.5]), top) for share, top in ((0.6, 0.2), (0.8, 0.3)))
    both = one + other
    assert both.gap == pytest.approx(0.2)
    assert both.gap_error == pytest.approx(0.1)
    assert both.ceiling == 0.3
    assert one.gap_error is None
    assert (one + Inversion(np.array([0.5]), np.array([0.5]), None)).ceiling is None
    assert "gap" in str(both)
    with pytest.raises(TypeError):
        _ = one + 1


def test_a_frame_reaches_the_model_as_it_is_and_is_not_changed():
    members, outsiders = invented_doses(people=60, columns=5, seed=3)
    names = ["bit", "b", "c", "d", "e"]
    framed = [
        (pd.DataFrame(rows, columns=names).assign(bit=rows[:, 0].astype(int)), y) for rows, y in (members, outsiders)
    ]
    before = framed[0][0].copy()
    model = LinearRegression().fit(*framed[0])  # warnings are errors: it is asked by the names that it was fitted with
    found = inversion(model, *framed, secret=names[0])
    same = inversion(LinearRegression().fit(*members), members, outsiders, secret=0)
    assert (found.member_rate, found.outsider_rate) == (same.member_rate, same.outsider_rate)
    assert framed[0][0].equals(before)
    with pytest.raises(ParameterError, match="or its name in a frame"):
        inversion(model, *framed, secret=names[0] + "s")


@pytest.mark.parametrize("labels", [["sick", "hale"], [0, 1], [None, 1.5]])
def test_labels_none_of_which_the_model_knows_are_refused(labels):
    rows = np.array([[0.0, 1.0], [1.0, 0.0]] * 5)
    model = LogisticRegression().fit(rows, ["ill", "well"] * 5)
    with pytest.raises(InputError, match="classes that the model knows"):
        inversion(model, (rows, labels * 5), (rows, ["ill", "well"] * 5), secret=0)


@pytest.mark.parametrize("cells", [["Helen", 1], [pd.NA, 1], ["0", "1"], [[1], 1]])
def test_a_secret_column_of_a_frame_that_holds_no_bits_is_refused_without_showing_a_cell(cells):
    name = "bit"
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object), "b": [1.0, 2.0]})
    with pytest.raises(InputError, match="must hold bits") as caught:
        inversion(_Says(0.5, 0.5), (frame, [0, 1]), (frame, [0, 1]), secret=name)
    assert "Helen" not in str(caught.value)
    assert caught.value.__context__ is None
