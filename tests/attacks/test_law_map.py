"""The map of the fundamental law: what the attacks reach, what theory says they reach, and where answers are safe."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.attacks.law_map import LawRegion, fundamental_law, reconstruction_line, tracing_line
from discreet.attacks.reconstructing.fourier_attack import recovered_fraction
from discreet.errors import ParameterError
from discreet.privacy import gaussian_loss
from tests.chances import fewest, most

QUERIES = (64, 1024, 8192)
ERRORS = (0.25, 4.0, 16.0, 2000.0)


@pytest.fixture(scope="module")
def found():
    return fundamental_law(1023, queries=QUERIES, errors=ERRORS, epsilon=1, delta=1e-6, seed=3)


@pytest.mark.theorem("fundamental_law.accuracy")
def test_reconstruction_follows_its_formula_in_every_cell(found):
    for row, asked in enumerate(QUERIES):
        attacked = min(asked - 1, 1023)
        people = attacked * -(-400 // attacked)  # few people are attacked again and again
        for column, error in enumerate(ERRORS):
            share = recovered_fraction(error**2, queries=asked)
            right = round(found.recovered[row, column] * people)
            # normal noise: everybody is recovered independently of the others
            assert fewest(people, share) <= right <= most(people, share)


@pytest.mark.theorem("fundamental_law.accuracy")
def test_on_the_lines_the_attacks_reach_what_the_map_asks_for():
    for people, asked in ((1023, 1024), (255, 16), (255, 65536)):
        line = reconstruction_line(people, asked)
        assert recovered_fraction(line**2, queries=asked) == pytest.approx(0.95, abs=1e-9)
    for asked in (2048, 65536):
        assert tracing_line(1023, asked) > reconstruction_line(1023, asked)
    assert tracing_line(1023, 512) == 0.0


def test_many_published_counts_give_members_away_and_few_do_not(found):
    assert found.traced[2, 0] > 0.3
    assert found.traced[0].max() < 0.3
    assert found.traced[:, -1].max() < 0.2


@pytest.mark.theorem("fundamental_law.privacy")
@pytest.mark.parametrize("row", range(len(QUERIES)))
def test_from_the_safe_noise_on_the_counts_keep_the_guarantee_together(found, row):
    safe = float(found.safe[row])
    assert (gaussian_loss(safe) * QUERIES[row]).delta(1.0).upper <= 1e-6
    assert (gaussian_loss(safe * 0.999) * QUERIES[row]).delta(1.0).lower > 1e-6


def test_regions_are_named_by_what_happened(found):
    assert found.regions[1].tolist() == [
        LawRegion.RECONSTRUCTED,
        LawRegion.RECONSTRUCTED,
        LawRegion.BETWEEN,
        LawRegion.SAFE,
    ]
    assert set(np.unique(found.regions[:, -1].astype(str))) == {str(LawRegion.SAFE)}


def test_the_table_and_the_plot_show_the_borders(found):
    text = str(found.table())
    assert "reconstructed up to" in text
    assert "8,192" in text
    names = [handle.get_label() for handle in found.plot().figure.legends[0].legend_handles]
    assert LawRegion.SAFE.value in names
    assert "1,023" in repr(found)
    assert "queries" in found._repr_html_()


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"people": 3}, "people"),
        ({"people": 10**9}, "people"),
        ({"queries": [3]}, "powers of two"),
        ({"queries": []}, "powers of two"),
        ({"queries": [8]}, "powers of two"),
        ({"errors": ["a"]}, "errors"),
        ({"errors": [0.0]}, "errors"),
        ({"errors": [float("nan")]}, "errors"),
        ({"errors": []}, "errors"),
        ({"epsilon": -1}, "epsilon"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(wrong, word):
    asked = {"people": 255, "queries": [64], "errors": [1.0], "epsilon": 1, "delta": 1e-6, "seed": 1} | wrong
    with pytest.raises(ParameterError, match=word):
        fundamental_law(asked.pop("people"), **asked)


def test_progress_is_told_the_rows_done_and_all():
    told = []
    given = {"queries": [16, 32], "errors": [1.0, 2.0], "epsilon": 1, "delta": 1e-6, "seed": 1}
    fundamental_law(63, **given, progress=lambda *step: told.append(step))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("people", [16, 255])
def test_luck_with_few_people_is_not_taken_for_success(people):
    # noise of a thousand people and more: nothing but luck is left
    found = fundamental_law(
        people, queries=[16, 32, 64], errors=np.logspace(3, 5, 21).tolist(), epsilon=1, delta=1e-6, seed=1
    )
    assert set(found.regions.ravel().tolist()) == {LawRegion.SAFE}


def test_the_largest_seed_and_a_single_cell_make_a_map():
    found = fundamental_law(63, queries=[16], errors=[1.0], epsilon=1, delta=1e-6, seed=2**63 - 1)
    assert found.plot().svg().startswith("<?xml")


def test_the_map_is_reached_from_the_room():
    assert dp.attacks.fundamental_law is fundamental_law
