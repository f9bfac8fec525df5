"""Trackers pass a minimum size exactly when their theorem says so, by trying every size of every small table."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks import MinimumSize, tracker
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws import DiscreteLaplace

QUESTION = {"table": "patients", "secret": "marker = 1", "target": "id = 1"}
CROWD, WOMEN = "practice % 2 = 0", "sex = 'female'"


def counting(people: int, has: bool):
    """Answer the texts of a tracker about person 0 of so many, of whom `pad` meets the first few or the last few."""
    ids = np.arange(people)

    def run(text: str):
        condition = text.split("WHERE ")[1].replace("NOT", "~").replace("AND", "&").replace("OR", "|")
        selected = eval(condition, {"id": ids, "secret": (ids == 0) & has, "__builtins__": {}})  # noqa: S307  own texts
        return [(int(np.sum(selected)),)]

    return run


@pytest.mark.theorem("tracker.accuracy")
@pytest.mark.parametrize("people", range(2, 15))
def test_a_tracker_of_one_person_passes_exactly_when_its_theorem_says_so(people):
    question = {"table": "t", "secret": "(secret)", "target": "(id == 0)"}
    for least, size, has in product(range(1, people + 1), range(people + 1), (False, True)):
        runs = [MinimumSize(counting(people, has), least=least, people=most) for most in (None, people)]
        one_sided, two_sided = (tracker(run, **question, pad=f"(id < {size})", exact=True) for run in runs)
        if least <= size <= people - least:
            assert one_sided.guess == has
            assert one_sided.refused == 0
        if least + 1 <= size <= people - least - 1:
            assert two_sided.guess == has
        if size < least or size > people - least:
            assert one_sided.refused > 0
            assert one_sided.guess is None
        within = [tracker(run, **question, within=f"(id < {size})", exact=True) for run in runs]
        if size >= least + 1:
            assert within[0].guess == has
        if least + 1 <= size <= people - least:
            assert within[1].guess == has
        if size == least and size > 0:
            assert within[0].refused > 0


@pytest.mark.theorem("tracker.accuracy")
@pytest.mark.parametrize("people", range(2, 13))
def test_a_general_tracker_for_all_small_sets_exists_exactly_up_to_a_quarter(people):
    def passes(least: int, size: int) -> bool:
        """Whether every set of fewer than `least` people is counted, by sizes inside the padding and outside."""
        sizes = (
            (inside, outside)
            for inside, outside in product(range(size + 1), range(people - size + 1))
            if inside + outside < least
        )
        asked = ((size + outside, people - size + inside, size, people - size) for inside, outside in sizes)
        return all(least <= one <= people - least for sets in asked for one in sets)

    for least in range(1, people + 1):
        found = [size for size in range(people + 1) if passes(least, size)]
        assert found == list(range(2 * least - 1, people - 2 * least + 2))
        assert bool(found) == (least <= (people + 2) / 4)


@given(st.data())
def test_the_padded_count_is_an_identity_of_sets(data):
    people = data.draw(st.integers(1, 30))
    sets = st.sets(st.integers(0, people - 1))
    chosen, padding = data.draw(sets), data.draw(sets)
    others = set(range(people)) - padding
    assert len(chosen) == len(chosen | padding) + len(chosen | others) - len(padding) - len(others)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({}, MissingParameter),
        ({"within": CROWD, "pad": WOMEN}, ConflictingParameters),
        ({"pad": WOMEN, "exact": True, "noise": DiscreteLaplace(1)}, ParameterError),
    ],
)
def test_a_tracker_without_one_group_is_refused(changed, error):
    with pytest.raises(error):
        tracker(lambda _: pytest.fail("asked"), **QUESTION, **changed)
