"""Marginals count through codes what the general form counts through bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError, UnknownName
from discreet.synthesis import Domain, Marginals, Records, Workload, marginals
from discreet.synthesis.workloads import counting

HOME = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"], floor=range(4))


def people(domain: Domain, rows: int, seed: int = 1) -> Records:
    """Return records with uniform codes."""
    coins = np.random.default_rng(seed)
    return Records(domain, np.stack([coins.integers(0, size, rows) for size in domain.sizes]).astype(np.uint16))


@st.composite
def some_marginals(draw: st.DrawFn) -> Marginals:
    """Draw a domain and a few marginals of it, of different widths."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    domain = Domain.of({f"a{place}": range(size) for place, size in enumerate(sizes)})
    subsets = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True)
    return Marginals(domain, draw(st.lists(subsets, min_size=1, max_size=4)))


def in_general_form(cells: Marginals) -> Workload:
    """Return the same queries without the short cut."""
    return Workload(cells.domain, cells.literals, cells.members, cells.parity, cells.negated, "cells")


@given(some_marginals(), st.integers(0, 2**32), st.sampled_from([0, 1, 65, 200]))
def test_cells_are_counted_as_the_general_form_counts_them(cells: Marginals, seed: int, rows: int) -> None:
    records, general = people(cells.domain, rows, seed), in_general_form(cells)
    weights = np.random.default_rng(seed).random(rows)
    assert len(general) == len(cells)
    assert cells.counts(records).tolist() == general.counts(records).tolist()
    assert counting.counts(cells, records).tolist() == general.counts(records).tolist()
    np.testing.assert_allclose(
        cells.weighted_counts(records, weights), general.weighted_counts(records, weights), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(cells.frequencies(records), general.frequencies(records), rtol=1e-12)
    for record in records.codes.T[:5]:
        assert cells.truths(record).tolist() == general.truths(record).tolist()
        assert cells.cells_of(record).tolist() == np.flatnonzero(general.truths(record)).tolist()


@given(some_marginals())
def test_each_marginal_adds_up_to_all_records(cells: Marginals) -> None:
    counts = cells.counts(people(cells.domain, 77))
    for place, one in enumerate(cells.sets):
        table = cells.table(place, counts)
        assert table.shape == tuple(cells.domain.sizes[attribute] for attribute in one)
        assert table.sum() == 77


def test_a_table_has_an_axis_for_each_attribute() -> None:
    cells = marginals(HOME, attributes=[("rooms", "sex"), ("floor",)])
    records = people(HOME, 300)
    table = cells.table(0, cells.counts(records))
    for rooms in range(5):
        for sex in range(2):
            assert table[rooms, sex] == np.sum((records.codes[1] == rooms) & (records.codes[0] == sex))
    assert cells.table(-1, cells.counts(records)).tolist() == np.bincount(records.codes[3], minlength=4).tolist()
    assert cells.text(3) == "rooms = 2 and sex = 'm'"


def test_members_are_made_only_when_asked_for() -> None:
    wide = Domain.of({f"a{place}": range(10) for place in range(20)})
    cells = marginals(wide, ways=3)
    cells.counts(people(wide, 50))
    cells.truths(people(wide, 1).codes[:, 0])
    assert len(cells) == 1140 * 1_000
    assert len(cells.digest) == 64
    assert not {"_form", "members", "literals", "parity", "negated"} & set(vars(cells))


def test_random_marginals_are_different_and_repeat_by_their_seed() -> None:
    wide = Domain.of({f"a{place}": range(2) for place in range(12)})
    some = marginals(wide, ways=3, count=64, seed=5)
    assert len(set(some.sets)) == 64
    assert all(list(one) == sorted(set(one)) and len(one) == 3 for one in some.sets)
    assert some.sets == marginals(wide, ways=3, count=64, seed=5).sets
    assert marginals(wide, ways=3, count=220).sets == marginals(wide, ways=3).sets


def test_marginals_say_what_to_change() -> None:
    with pytest.raises(ParameterError, match="state ways="):
        marginals(HOME)
    with pytest.raises(ParameterError, match="state ways="):
        marginals(HOME, ways=2, attributes=[("sex",)])
    with pytest.raises(ParameterError, match="state ways="):
        marginals(HOME, attributes=[("sex",)], count=1)
    with pytest.raises(ParameterError, match="5 different attributes cannot be had from 4"):
        marginals(HOME, ways=5)
    with pytest.raises(ParameterError, match="only 6 such marginals"):
        marginals(HOME, ways=2, count=7)
    with pytest.raises(ParameterError, match="each once"):
        marginals(HOME, attributes=[("sex", "sex")])
    with pytest.raises(ParameterError, match="each once"):
        marginals(HOME, attributes=[])
    with pytest.raises(ParameterError, match="a list of names"):
        marginals(HOME, attributes=["sex"])
    with pytest.raises(UnknownName, match="no attribute 'height'"):
        marginals(HOME, attributes=[("height",)])
    with pytest.raises(ParameterError, match="of the domain"):
        Marginals(HOME, [(0, 4)])


def test_marginals_too_large_to_hold_are_refused_before_they_are_made() -> None:
    wide = Domain.of({f"a{place}": range(100) for place in range(1000)})
    with pytest.raises(ParameterError, match="such marginals; state count="):
        marginals(wide, ways=3)
    with pytest.raises(ParameterError, match="cells, more than"):
        marginals(wide, ways=3, count=200)


def test_answers_weights_and_records_must_belong_to_the_marginals() -> None:
    cells, records = marginals(HOME, ways=1), people(HOME, 3)
    with pytest.raises(InputError, match="one number for each cell"):
        cells.table(0, np.zeros(3))
    with pytest.raises(InputError, match="one number for each record"):
        cells.weighted_counts(records, np.ones(2))
    with pytest.raises(InputError, match="same domain as the workload"):
        cells.counts(people(Domain.of(a=[1, 2]), 3))
    with pytest.raises(IndexError):
        cells.table(4, np.zeros(len(cells)))
