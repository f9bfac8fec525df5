"""Choice by integer weights gives each outcome exactly its share."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import ParameterError
from discreet.randomness import AliasTable, choose_by_weights, words
from tests.chances import ALARM
from tests.randomness.sources import WORD, Script, swapped


def cut(points):
    """Return the masses between sorted cut points of [0, 2^64]."""
    ends = [0, *sorted(points), WORD]
    return [high - low for low, high in pairwise(ends)]


MASSES = st.lists(st.integers(0, WORD), max_size=40).map(cut) | st.lists(
    st.sampled_from([0, 1, 2, WORD // 2, WORD // 4, WORD // 3, WORD - 1, WORD]), max_size=9
).map(cut)


def masses_of(table: AliasTable, outcomes: int) -> list[int]:
    """Add up, in integers, how many of the 2^64 words lead to each outcome."""
    capacity = 1 << (64 - table.column_bits)
    masses = [0] * max(outcomes, 1 << table.column_bits)
    for column, (keep, alias) in enumerate(zip(table._keep.tolist(), table._alias.tolist(), strict=True)):
        masses[column] += keep
        masses[alias] += capacity - keep
    return masses


@given(MASSES)
def test_an_alias_table_gives_every_outcome_exactly_its_mass(masses):
    table = AliasTable(masses)
    found = masses_of(table, len(masses))
    assert found[: len(masses)] == masses
    assert not any(found[len(masses) :])


@given(MASSES)
def test_a_look_up_follows_the_columns_at_their_edges(masses):
    table = AliasTable(masses)
    capacity = 1 << (64 - table.column_bits)
    for column, (keep, alias) in enumerate(zip(table._keep.tolist(), table._alias.tolist(), strict=True)):
        for low in {0, max(keep - 1, 0), keep, capacity - 1}:
            word = np.array([column * capacity + low], dtype=np.uint64)
            assert table.lookup(word)[0] == (column if low < keep else alias)


@given(MASSES, st.integers(0, WORD - 1))
def test_a_table_with_names_returns_the_name_of_the_outcome(masses, word):
    names = np.array([-(7**place) for place in range(len(masses))], dtype=object) % 2**62
    words_around = np.array([word, 0, WORD - 1, WORD // 2], dtype=np.uint64)
    plain = AliasTable(masses).lookup(words_around)
    assert AliasTable(masses, names.astype(np.int64)).lookup(words_around).tolist() == names[plain].tolist()


@given(st.lists(st.integers(0, 200), min_size=1, max_size=8).filter(sum))
def test_small_tables_are_right_word_by_word(weights):
    total = sum(weights)
    unit = WORD // total
    masses = [weight * unit for weight in weights]
    masses[0] += WORD - sum(masses)
    assert masses_of(AliasTable(masses), len(masses))[: len(masses)] == masses


@pytest.mark.parametrize(
    "masses",
    [[WORD], [WORD, 0], [0, WORD], [1, WORD - 1], [WORD // 4] * 4, [0, 0, 0, 0, WORD], [WORD - 4, 1, 1, 1, 1]],
)
def test_tables_with_certain_or_tiny_outcomes_are_exact(masses):
    assert masses_of(AliasTable(masses), len(masses))[: len(masses)] == masses


def test_a_large_table_is_exact():
    cuts = words(9_999).tolist()
    masses = cut(cuts)
    assert masses_of(AliasTable(masses), len(masses))[: len(masses)] == masses


def test_draws_through_a_table_pass_a_chi_square_test(rounds):
    masses = [WORD // 10, WORD // 5, WORD // 3, 7]
    masses.append(WORD - sum(masses))
    drawn = AliasTable(masses).lookup(words(rounds(sample=100_000, full=5_000_000)))
    counts = np.bincount(drawn, minlength=5)
    expected = np.array([float(mass) for mass in masses]) / WORD * drawn.size
    assert counts[3] == 0  # 7 of 2^64
    keep = [0, 1, 2, 4]
    assert chisquare(counts[keep], expected[keep] * counts[keep].sum() / expected[keep].sum()).pvalue > ALARM


@pytest.mark.parametrize("masses", [[], [1], [WORD - 1], [WORD, 1], [WORD // 2] * 3])
def test_masses_that_do_not_fill_the_words_are_refused(masses):
    with pytest.raises(ParameterError) as refusal:
        AliasTable(masses)
    assert refusal.value.parameter == "masses"


def test_a_negative_mass_is_refused():
    with pytest.raises(ParameterError):
        AliasTable([WORD + 1, -1])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(sum))
def test_every_uniform_integer_below_the_sum_falls_into_its_prefix_interval(weights):
    total = sum(weights)
    width = (total - 1).bit_length()
    script = [value << (64 - width) if width else 0 for value in range(total)]
    with swapped(Script(script)):
        chosen = Counter(choose_by_weights(weights) for _ in range(total))
    assert [chosen[index] for index in range(len(weights))] == weights


@given(st.lists(st.integers(0, 2**300), min_size=1, max_size=6).filter(sum))
def test_weights_of_any_size_are_chosen_by_their_prefix_sums(weights):
    ends = list(accumulate(weights))
    for index, weight in enumerate(weights):
        if weight:
            first, last = ends[index] - weight, ends[index] - 1
            for value in (first, last):
                assert chosen_at(weights, value) == index


def chosen_at(weights: list[int], value: int) -> int:
    """Return the choice when the uniform integer is a given one."""
    width = (sum(weights) - 1).bit_length()
    full, rest = divmod(width, 64)
    script = [(value >> (width - 64 * (k + 1))) & (WORD - 1) for k in range(full)]
    if rest:
        script.append((value & ((1 << rest) - 1)) << (64 - rest))
    with swapped(Script(script)):
        return choose_by_weights(weights)


def test_choices_pass_a_chi_square_test(rounds):
    weights = [1, 0, 2, 3, 10**30, 5 * 10**29]
    heavy = [4, 5]
    count = rounds(sample=20_000, full=500_000)
    counts = np.bincount([choose_by_weights(weights) for _ in range(count)], minlength=6)
    assert counts[1] == 0
    assert chisquare(counts[heavy], np.array([2, 1]) * counts[heavy].sum() / 3).pvalue > ALARM


@pytest.mark.parametrize(
    "weights", [[], [0], [0, 0], [-1, 2], [1.0, 2], [True, 1], [None], ["1"], [float("nan")], [np.float64(1)]], ids=repr
)
def test_weights_that_are_not_non_negative_integers_with_a_positive_sum_are_refused(weights):
    with pytest.raises(ParameterError) as refusal:
        choose_by_weights(weights)
    assert refusal.value.parameter == "weights"
