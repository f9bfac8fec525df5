"""Every result prints in readable lines, the rows of its HTML, while its repr stays one line about nobody."""

from __future__ import annotations

import re

import numpy as np
import pytest

from discreet.attacks import (
    AttackedRelease,
    averaging,
    block_tables,
    curse,
    differencing,
    exact_answers,
    fourier,
    fundamental_law,
    homogeneity,
    identify,
    link,
    membership,
    mondrian,
    reconstruct_block,
    uniques,
)
from discreet.data import census_block, genomes, ratings

TABLE = {"zip": ["a", "b", "b", "c"] * 3, "number": list(range(12))}
QUESTION = {"table": "t", "secret": "marker = 1", "target": "id = 1"}
SECRET = np.arange(31) % 3 == 0


def boxes():
    return mondrian(TABLE, k=3, columns=["number"])


def judged_members():
    people = genomes(people=20, positions=100, seed=1)
    return membership(people.cases.frequencies, people.frequencies, people.cases, reference=people.reference, people=20)


def differenced(**more):
    return differencing(lambda text: [(3 if "NOT" in text else 4,)], **QUESTION, **more)


RESULTS = {
    "reconstruction": lambda: fourier(exact_answers(SECRET), 31, truth=SECRET),
    "linkage": lambda: link(TABLE, TABLE, on=["number"]),
    "exposure": lambda: homogeneity(AttackedRelease(boxes(), TABLE["zip"], range(12))),
    "boxes": boxes,
    "averaging": lambda: averaging(lambda _: [(1,)], [("a",), ("b",)], deviation=1, truth=1),
    "membership": judged_members,
    "block": lambda: reconstruct_block(block_tables(census_block(5, seed=2))),
    "differencing": lambda: differenced(exact=True),
    "uniques": lambda: uniques(TABLE, ["zip", "number"]),
    "identification": lambda: identify(ratings(people=200, items=100, seed=1), known=(2, 4), targets=5, seed=2),
    "curse": lambda: curse(people=200, columns=(1, 2), seed=1),
    "map": lambda: fundamental_law(63, queries=[16, 32], errors=[0.1, 10.0], epsilon=1, delta=1e-6, seed=1),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_the_rows_of_its_html(name):
    found = RESULTS[name]()
    lines = str(found).splitlines()
    assert len(lines) > 1
    assert "\n" not in repr(found)
    for term, meaning in re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", found._repr_html_()):
        if name != "map":
            assert any(line.startswith(term) and line.endswith(meaning) for line in lines), term


def test_a_guess_is_printed_and_kept_out_of_the_repr():
    found = differenced()
    assert "guessed bit  1, from the difference 1" in re.sub(" {2,}", "  ", str(found))
    assert "guess" not in repr(found)
    assert "guess" not in found._repr_html_()


def test_the_bars_of_a_plot_grow_with_the_root_of_the_people():
    for people, bars in ((31, 8), (1023, 32), (2**14, 60)):
        secret = np.arange(people) % 3 == 0
        drawn = fourier(exact_answers(secret), people).plot().figure
        assert len(drawn.axes[0].patches) == bars
        assert drawn.get_suptitle() == "Estimates by Fourier"
