"""A recipe follows from public numbers alone, is certified, and trains through the trainer."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.data import glyphs, messages  # noqa: E402
from discreet.errors import DiscreetError, InputError, ParameterError  # noqa: E402
from discreet.learning.deep.clip import ClippedSum  # noqa: E402
from discreet.learning.deep.plan import Clip  # noqa: E402
from discreet.learning.deep.recipes import (  # noqa: E402
    BagOfEmbeddings,
    HashedWords,
    OneHot,
    Scattering,
    SmallTransformer,
    convolutional,
    linear,
    perceptron,
    recipe,
)
from discreet.learning.deep.training import train  # noqa: E402
from discreet.learning.deep.training.averages import TailAverage  # noqa: E402
from discreet.privacy import Relation  # noqa: E402

STATED = {"epsilon": 3, "delta": 1e-5, "relation": Relation.ADD_REMOVE, "unit": "person"}


def trained(made, rows, labels):
    return train(
        made.model(),
        made.data(rows, labels),
        made.plan(),
        made.loss,
        optimizer=made.optimizer,
        physical=made.physical,
        average=TailAverage(made.tail),
    ).model


@pytest.mark.theorem("recipe.privacy")
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
def test_the_plan_of_a_recipe_keeps_epsilon_and_delta(relation):
    made = recipe(OneHot({"a": (1, 2)}), people=1000, classes=2, **(STATED | {"relation": relation}))
    plan = made.plan()
    assert plan.epsilon(1e-5).upper <= 3
    assert plan.epsilon(1e-5).upper >= 2.99
    assert plan.divisor == 1000
    assert plan.exact


def test_the_rate_grows_with_people_and_price_and_halves_where_neighbors_are_twice_as_far():
    kind = OneHot({"a": (1, 2)})
    base = recipe(kind, people=1000, classes=2, **STATED)
    assert recipe(kind, people=2000, classes=2, **STATED).rate == pytest.approx(2 * base.rate)
    assert recipe(kind, people=1000, classes=2, **(STATED | {"epsilon": 6})).rate > base.rate
    halved = recipe(kind, people=1000, classes=2, **(STATED | {"relation": Relation.CHANGE_ONE}))
    assert halved.rate == pytest.approx(base.rate / 2)
    # all noise together: 70 steps of deviation sqrt(70) / mu, times the clip, over people, gathered by the momentum
    noise = base.rate / (1 - 0.8) * 0.25 * 70 / base.signal
    assert noise == pytest.approx(1.2)
    told = repr(base.explain())
    assert "signal" in told
    assert "1.2" in told


def test_glyphs_are_learnt_through_the_trainer_with_exact_noise():
    made = glyphs(people=1500, seed=3, side=8, characters="01247")
    task = recipe(Scattering(side=8), people=1000, classes=5, **STATED)
    model = trained(task, made.images[:1000] / 255, made.labels[:1000])
    found = np.array(task.predict(model, made.images[1000:] / 255))
    # 20 runs: mean .995, deviation .003 from run to run, so .8 is 60 deviations away; chance is .2
    assert np.mean(found == made.labels[1000:]) > 0.8


def test_messages_are_learnt_through_the_trainer_with_exact_noise():
    made = messages(people=2500, seed=3, topics=3)
    task = recipe(HashedWords(columns=512), people=2000, classes=("x", "y", "z"), **STATED)
    names = np.array(["x", "y", "z"])[made.topic]
    model = trained(task, made.text[:2000].tolist(), names[:2000].tolist())
    found = np.array(task.predict(model, made.text[2000:].tolist()))
    # 20 runs: mean .998, deviation .002 from run to run; chance is .33
    assert np.mean(found == names[2000:]) > 0.8


def test_a_row_with_an_unknown_label_counts_for_nothing():
    task = recipe(OneHot({"a": (1, 2)}), people=10, classes=("no", "yes"), **STATED)
    features, codes = task.data({"a": [1, 2, 2]}, ["no", "perhaps", "yes"])
    assert codes.tolist() == [0, 0, 1]
    assert torch.isnan(features[1]).all()
    assert torch.isfinite(features[[0, 2]]).all()
    with pytest.raises(InputError, match="one a row"):
        task.data({"a": [1, 2, 2]}, ["no"])


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (linear(6, 3), torch.randn(4, 6)),
        (perceptron(6, 3, hidden=(5, 4)), torch.randn(4, 6)),
        (convolutional(9, 3, width=8), torch.randn(4, 1, 9, 9)),
        (BagOfEmbeddings(20, 3, width=4), torch.randint(0, 20, (4, 5))),
        (SmallTransformer(20, 5, 3, width=8, heads=2, blocks=1), torch.randint(0, 20, (4, 5))),
    ],
)
def test_networks_can_be_clipped_and_keep_rows_apart(model, inputs):
    targets = torch.tensor([0, 1, 2, 0])

    def loss(scores, codes):
        return torch.nn.functional.cross_entropy(scores, codes, reduction="none")

    clipped = ClippedSum(model, loss, Clip(1.0), physical=4, exact=True, example=(inputs[:1], targets[:1]))
    alone = torch.tensor([True, False, False, False])
    sums = clipped(inputs, targets, alone)
    assert sum(float((one.double() ** 2).sum()) for one in sums) <= 1 + 1e-9
    assert sum(float(one.abs().sum()) for one in sums) > 0


def test_an_empty_text_has_finite_scores():
    empty = torch.zeros((2, 5), dtype=torch.int64)
    assert torch.isfinite(SmallTransformer(20, 5, 3, width=8, heads=2)(empty)).all()
    assert torch.isfinite(BagOfEmbeddings(20, 3)(empty)).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "images"},
        {"people": 0},
        {"people": 2.5},
        {"epsilon": 0},
        {"delta": 2},
        {"classes": 1},
        {"classes": ("a", "a")},
        {"classes": "ab"},
        {"relation": Relation.UNSTATED},
    ],
)
def test_what_makes_no_recipe_is_refused(wrong):
    stated = {"kind": OneHot({"a": (1, 2)}), "people": 10, "classes": 2} | STATED | wrong
    with pytest.raises((ParameterError, DiscreetError), match="must"):
        recipe(stated.pop("kind"), **stated)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"relation": "add or remove"}, "relation must say who is a neighbor"),
        ({"relation": Relation.UNSTATED}, "relation must say who is a neighbor"),
        ({"people": 0}, "people must be a whole number from 1 .*; got 0, write"),
        ({"people": [70, 20]}, "people must be a whole number from 1 .*; got list, write"),
        ({"classes": ("a", "a", "b")}, "got 3 values, some of them equal"),
        ({"classes": ("a",)}, "got 1 values, write"),
        ({"classes": "ab"}, "got str, write"),
        ({"unit": None}, "unit must say who is protected; got NoneType"),
        ({"unit": ""}, "unit must say who is protected; got an empty text"),
        ({"delta": 0}, "delta must be greater than 0"),
    ],
)
def test_what_a_recipe_cannot_keep_is_refused_before_any_feature_is_computed(changed, said):
    with pytest.raises(ParameterError, match=said):
        recipe(HashedWords(columns=16), **{"people": 100, "classes": 2, **STATED, **changed})


def test_a_relation_may_be_stated_by_its_name_as_in_a_plan():
    made = recipe(HashedWords(columns=16), people=100, classes=2, **{**STATED, "relation": "add/remove"})
    assert made.relation is Relation.ADD_REMOVE
    assert made.plan().relation is Relation.ADD_REMOVE


def test_an_explanation_says_that_nothing_was_tuned_on_private_rows():
    told = recipe(HashedWords(columns=16), people=100, classes=2, **STATED).explain()
    assert told.to_dict()["tuned"].startswith("nothing")
    assert "tuned on private rows" in repr(told)


def test_classes_may_be_an_array():
    made = recipe(HashedWords(columns=16), people=100, classes=np.array(["no", "yes"]), **STATED)
    assert made.classes == ("no", "yes")
