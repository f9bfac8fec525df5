"""Invented genomes are what they say: independent bits of known frequencies, small in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Panel, genomes
from discreet.errors import InputError, ParameterError
from tests.chances import fewest, most


def bits(panel: Panel) -> np.ndarray:
    return np.concatenate(list(panel.bits()))


def test_the_same_seed_gives_the_same_genomes_and_another_others():
    one, two, other = (genomes(people=30, positions=701, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.cases.packed, two.cases.packed)
    assert np.array_equal(one.frequencies, two.frequencies)
    assert not np.array_equal(one.cases.packed, other.cases.packed)


def test_frequencies_are_public_and_lie_where_they_are_said_to():
    made = genomes(people=5, positions=20_000, seed=1)
    assert made.frequencies.min() >= 0.0499
    assert made.frequencies.max() <= 0.5
    assert made.frequencies.mean() == pytest.approx(0.275, abs=0.005)
    assert np.array_equal(made.frequencies * 2**16, np.rint(made.frequencies * 2**16))
    with pytest.raises(ValueError, match="read-only"):
        made.frequencies[0] = 0


def test_carriers_are_as_frequent_as_stated_in_every_group_and_independent():
    made = genomes(people=2000, positions=300, seed=2, outsiders=2000, reference=2000)
    for panel in (made.cases, made.outsiders, made.reference):
        for count, chance in zip(panel.counts, made.frequencies, strict=True):
            assert fewest(2000, chance) <= count <= most(2000, chance)
    table = bits(made.cases).astype(float)
    correlations = np.corrcoef(table.T) - np.eye(300)
    assert np.abs(correlations).max() < 8 / np.sqrt(2000)
    assert not np.array_equal(made.cases.packed, made.outsiders.packed)


@given(st.data())
def test_packed_bits_count_and_weigh_like_a_table(data):
    people, positions = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 40))
    table = np.random.default_rng(data.draw(st.integers(0, 2**32))).integers(0, 2, (people, positions))
    panel = Panel.of(table)
    assert (len(panel), panel.positions) == table.shape
    assert np.array_equal(bits(panel), table)
    assert np.array_equal(panel.counts, table.sum(axis=0))
    assert np.allclose(panel.frequencies, table.mean(axis=0))
    weights = np.linspace(-1, 2, positions)
    assert np.allclose(panel.weighed(weights), table @ weights)


def test_large_panels_are_worked_off_in_parts():
    made = genomes(people=300, positions=40_001, seed=3, outsiders=1, reference=1)
    parts = list(made.cases.bits())
    assert len(parts) > 1
    assert sum(len(part) for part in parts) == 300
    assert made.cases.packed.nbytes == 300 * 5001
    assert np.array_equal(made.cases.counts, np.concatenate(parts).sum(axis=0))
    weights = np.linspace(-1, 2, 40_001)
    assert np.allclose(made.cases.weighed(weights), np.concatenate(parts) @ weights)


def test_candidates_are_the_cases_and_then_the_outsiders():
    made = genomes(people=7, positions=33, seed=3, outsiders=5, reference=2)
    assert np.array_equal(bits(made.candidates)[made.members], bits(made.cases))
    assert np.array_equal(bits(made.candidates)[~made.members], bits(made.outsiders))
    assert "7 cases, 5 outsiders, 2 reference; 33 positions" in repr(made)
    assert repr(made.cases) == "Panel(7 people, 33 positions, synthetic)"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"people": 0}, "people"),
        ({"positions": 0}, "positions"),
        ({"positions": 2.0}, "positions"),
        ({"seed": -1}, "seed"),
        ({"outsiders": 0}, "outsiders"),
        ({"reference": True}, "reference"),
        ({"people": 10**7, "positions": 10**6}, "people times positions"),
    ],
)
def test_what_makes_no_genomes_is_refused_by_name(changed, named):
    with pytest.raises(ParameterError, match=named):
        genomes(**({"people": 10, "positions": 10, "seed": 1} | changed))


@given(st.integers(1, 3000), st.integers(0, 2**32), st.sampled_from([1e-300, 1.0, 1e300]))
def test_equal_bits_weigh_the_same_to_the_last_digit(positions, seed, size):
    random = np.random.default_rng(seed)
    row, weights = random.integers(0, 2, (1, positions)), size * random.normal(size=positions)
    alone = Panel.of(row).weighed(weights)
    assert set(Panel.of(np.repeat(row, 7, axis=0)).weighed(weights)) == set(alone)
    assert alone[0] == pytest.approx(float(row[0] @ weights), abs=1e-13 * np.abs(weights).sum())


def test_nobody_has_no_frequencies():
    empty = Panel.of(np.zeros((0, 2), dtype=int))
    assert empty.weighed([1.0, 2.0]).shape == (0,)
    with pytest.raises(InputError, match="nobody"):
        _ = empty.frequencies


@pytest.mark.parametrize("table", [[[0, 2]], [[0.5]], [0, 1], [["a"]], [[0], [0, 1]]])
def test_what_is_no_table_of_bits_is_refused(table):
    with pytest.raises(ParameterError, match="bits"):
        Panel.of(table)


def test_bytes_and_weights_of_another_length_are_refused():
    with pytest.raises(ParameterError, match="packed"):
        Panel(np.zeros((2, 2), dtype=np.uint8), 8)
    with pytest.raises(ParameterError, match="positions"):
        Panel(np.zeros((2, 0), dtype=np.uint8), -3)
    with pytest.raises(ParameterError, match="weights"):
        Panel.of([[0, 1]]).weighed([1.0, np.inf])
    with pytest.raises(ParameterError, match="weights"):
        Panel.of([[0, 1]]).weighed([1.0])
    with pytest.raises(ValueError, match="read-only"):
        Panel.of([[0, 1]]).packed[0] = 0
