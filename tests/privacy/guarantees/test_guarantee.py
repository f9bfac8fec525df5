"""Guarantees as values: what they accept, how they compare and how they read."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation, RenyiDP

EXAMPLES = [
    PureDP(0.5),
    ApproxDP(1, 1e-6, relation=Relation.ADD_REMOVE),
    ZCDP(0.5),
    ZCDP(Fraction(1, 3), 0.01, relation=Relation.CHANGE_ONE),
    RenyiDP(2.5, 1),
    GaussianDP(mu=1),
]

NOT_NUMBERS = [
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    np.True_,
    "1",
    b"1",
    None,
    Decimal("1"),
    1 + 0j,
    [1],
    np.array(1.0),
    np.array([1.0]),
    np.nan,
    np.float32("inf"),
    10**400,
    Fraction(10**400),
    object(),
]


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -1, -1e-300, -5e-324, Fraction(-1, 3)])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (PureDP, "epsilon"),
        (lambda bad: ApproxDP(bad, 0.1), "epsilon"),
        (lambda bad: ApproxDP(1, bad), "delta"),
        (ZCDP, "rho"),
        (lambda bad: ZCDP(1, bad), "delta"),
        (lambda bad: RenyiDP(bad, 1), "alpha"),
        (lambda bad: RenyiDP(2, bad), "epsilon"),
        (GaussianDP, "mu"),
    ],
)
def test_what_is_not_a_number_of_the_right_kind_is_refused_by_name(make, name, bad):
    with pytest.raises(ParameterError) as caught:
        make(bad)
    assert caught.value.parameter == name
    assert name in str(caught.value)


@pytest.mark.parametrize("bad", [1.0000000000000002, 2, 1e300])
def test_a_delta_above_one_is_refused(bad):
    for make in (lambda: ApproxDP(1, bad), lambda: ZCDP(1, bad)):
        with pytest.raises(ParameterError, match="probability"):
            make()


@pytest.mark.parametrize("bad", [1, 1.0, 0.5, 0])
def test_a_renyi_order_is_greater_than_one(bad):
    with pytest.raises(ParameterError, match="greater than 1"):
        RenyiDP(bad, 1)


@pytest.mark.parametrize("bad", ["add/remove", None, 1, Relation])
def test_a_relation_is_one_of_the_enum(bad):
    for make in (PureDP, GaussianDP, ZCDP):
        with pytest.raises(ParameterError, match="relation"):
            make(1, relation=bad)


def test_the_relation_is_never_positional():
    with pytest.raises(TypeError):
        PureDP(1, Relation.ADD_REMOVE)


@pytest.mark.parametrize(
    "value", [1, 1.0, Fraction(1), np.float64(1), np.float32(1), np.int8(1), np.uint64(1), np.int64(1)]
)
def test_one_is_one_in_every_type(value):
    assert PureDP(value) == PureDP(1)
    assert hash(PureDP(value)) == hash(PureDP(1))
    assert type(PureDP(value).epsilon) in (int, float, Fraction)


def test_numbers_are_kept_exactly_and_minus_zero_is_zero():
    assert PureDP(Fraction(1, 3)).epsilon == Fraction(1, 3)
    assert math.copysign(1.0, PureDP(-0.0).epsilon) == 1.0
    assert PureDP(5e-324).epsilon == 5e-324


@pytest.mark.parametrize("guarantee", EXAMPLES)
def test_the_repr_makes_the_same_guarantee_again(guarantee):
    names = {one.__name__: one for one in (PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP, Fraction)}
    assert eval(repr(guarantee), {**names, "Relation": Relation}) == guarantee  # noqa: S307  our own repr


@pytest.mark.parametrize("guarantee", EXAMPLES)
def test_guarantees_are_values(guarantee):
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee  # noqa: S301  our own bytes
    assert copy.deepcopy(guarantee) == guarantee
    for name in (guarantee._parameters()[0][0], "relation"):
        with pytest.raises(AttributeError):
            setattr(guarantee, name, 0)
    with pytest.raises((AttributeError, TypeError)):
        guarantee.note = "changed"


@pytest.mark.parametrize("guarantee", EXAMPLES)
def test_words_and_html_say_the_numbers_and_the_neighbors(guarantee):
    assert guarantee.relation.sentence in str(guarantee)
    html = guarantee._repr_html_()
    assert html.startswith("<dl>")
    for name, _ in guarantee._parameters():
        assert f"<dt>{name}</dt>" in html


def test_words_round_the_guarantee_up():
    assert "0.333334-diff" in str(PureDP(Fraction(1, 3)))
    assert "0.1-diff" in str(PureDP(0.1))
    assert "e^700 times" in str(PureDP(700))
    assert "1-diff" in str(PureDP(1))


def test_a_guarantee_is_restated_for_a_relation_without_changing():
    assert PureDP(1).under(Relation.ADD_REMOVE) == PureDP(1, relation=Relation.ADD_REMOVE)
    assert PureDP(1).relation is Relation.UNSTATED


def test_the_base_class_makes_no_guarantee():
    with pytest.raises(TypeError):
        Guarantee()


def test_making_a_guarantee_loads_neither_scipy_nor_flint():
    code = "import sys; from discreet.privacy import PureDP; PureDP(1); print({'scipy', 'flint'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  our own
    assert done.stdout.strip() == "set()"
