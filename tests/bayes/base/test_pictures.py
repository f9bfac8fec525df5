"""Every posterior can be drawn: groups as intervals, one number as its law."""

from __future__ import annotations

import re

import numpy as np
import pytest

from discreet.bayes import posterior
from discreet.bayes.base import DrawnMarginal, Parameter, Posterior
from discreet.errors import ParameterError
from discreet.privacy import Target
from tests.bayes.small_models import Coins, coins, released

TWO = {"north": 31, "$y_3$ <b>": 58}


@pytest.fixture(scope="module")
def found():
    return posterior(coins(TWO), Coins(100), seed=1)


@pytest.mark.parametrize("name", ["share", "heads"])
@pytest.mark.parametrize("group", [None, "north", "$y_3$ <b>"])
@pytest.mark.parametrize("chains", ["", "good"])
def test_intervals_and_laws_are_drawn(name, group, chains):
    made = posterior(coins(TWO), Coins(100, chains=chains), seed=1).plot(name, group=group)
    assert made.svg().startswith("<?xml")


def test_the_same_picture_is_drawn_twice(found):
    assert found.plot("share").svg() == found.plot("share").svg()


def test_what_was_released_is_drawn_beside_the_counts(found):
    assert len(found.plot("heads").figure.legends) == 1
    assert found.plot("share").figure.legends == []


def test_at_most_sixty_groups_are_drawn():
    many = posterior(coins({f"g{place}": place % 90 for place in range(70)}), Coins(100), seed=1)
    drawn = many.plot("heads").figure
    assert len(drawn.axes[0].get_yticks()) == 60
    assert re.search(r"the first\s+60 of 70", drawn._suptitle.get_text())


def test_wide_integers_and_constants_are_drawn():
    for draws in (np.arange(4000).reshape(4, 1000) * 97, np.ones((4, 1000)), np.full((4, 1000), 0.25)):
        one = Posterior(Coins(), (released(),), (Parameter("x", "", Target.TABLE),), {"x": draws}, "m")
        assert one.plot().svg().startswith("<?xml")
        assert isinstance(one.marginals("x")[0], DrawnMarginal)


def test_a_group_that_is_not_there_is_refused(found):
    with pytest.raises(ParameterError, match="there is no such group"):
        found.plot("share", group="west")
