"""The noisy histograms of a release: what was measured, with its law, and through a ledger."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.bayes.evidence import distinct_measurements, latent_counts
from discreet.errors import InputError, LedgerMismatch
from discreet.privacy import Relation
from discreet.query import Session
from discreet.statistics.pricing import NoisyVector
from discreet.synthesis import (
    Best,
    Domain,
    Independent,
    Mwem,
    Neighbors,
    NoisyAnswers,
    Residual,
    Reweighted,
    Tree,
    conjunctions,
    domain_of,
    marginals,
    synthesize,
)
from discreet.synthesis.sessions.stored import from_text, to_text

DOMAIN = Domain.of(sex=["f", "m"], rooms=range(1, 5), own=["yes", "no"], only=["one"])
PAIRS = marginals(DOMAIN, ways=2)
ADD = Neighbors(Relation.ADD_REMOVE, people=500)
HOW = {"independent": Independent, "tree": Tree, "residual": Residual, "answers": NoisyAnswers}


def frame(seed=1, people=500):
    draw = np.random.default_rng(seed)
    sex = draw.choice(["f", "m"], people)
    return pd.DataFrame(
        {
            "sex": sex,
            "rooms": draw.integers(1, 5, people),
            "own": np.where(draw.random(people) < 0.8, np.where(sex == "f", "yes", "no"), "yes"),
            "only": "one",
        }
    )


@pytest.mark.parametrize("name", HOW)
@pytest.mark.parametrize("price", [{"epsilon": 2}, {"rho": 1}, {"epsilon": 2, "delta": 1e-6}, {"mu": 1}])
def test_what_is_kept_is_what_was_counted(name, price, monkeypatch):
    monkeypatch.setattr(NoisyVector, "__call__", lambda _, value: value)
    table = frame()
    release = HOW[name].of(PAIRS, ADD, **price)(DOMAIN.encode(table))
    if name == "residual" and price != {"epsilon": 2}:  # residuals with Gaussian noise are no counts
        assert release.measurements == ()
        return
    assert release.measurements
    for one in release.measurements:
        held = table.groupby(list(one.plan.key_names)).size()
        expected = [int(held.get(key if len(key) > 1 else key[0], 0)) for key in one.plan.keys]
        assert list(one.released[0]) == expected
        assert one.plan.adds_up.once


def test_every_histogram_has_the_law_that_the_share_of_the_price_buys():
    method = Independent.of(PAIRS, ADD, epsilon=2)
    release = method(DOMAIN.encode(frame()))
    laws = [method.allowance.noise(share).noise for share in method.shares.values()]
    assert [one.plan.noise for one in release.measurements] == laws
    assert [one.plan.key_names for one in release.measurements] == [("sex",), ("rooms",), ("own",)]


def test_noisy_answers_to_marginals_have_the_noise_of_the_whole_vector():
    method = NoisyAnswers.of(PAIRS, ADD, epsilon=1, delta=1e-6)
    release = method(DOMAIN.encode(frame()))
    assert {one.plan.noise for one in release.measurements} == {method._noise(method.measurement).noise}
    assert len(release.measurements) == len(PAIRS.sets)


@pytest.mark.parametrize(
    "method",
    [
        Mwem.of(PAIRS, ADD, epsilon=1),
        Residual.of(PAIRS, ADD, rho=1),
        NoisyAnswers.of(conjunctions(DOMAIN, count=20), ADD, epsilon=1),
    ],
    ids=["mwem", "residual", "answers"],
)
def test_what_measures_something_else_has_none_and_says_so(method):
    release = method(DOMAIN.encode(frame()))
    assert release.measurements == ()
    with pytest.raises(InputError, match="measures no histogram with independent noise"):
        distinct_measurements(release)


def test_weights_on_a_tree_and_the_best_method_keep_what_the_base_measured():
    release = Reweighted.of(PAIRS, ADD, epsilon=2)(DOMAIN.encode(frame()))
    assert len(release.measurements) >= 3
    best = Best.of(PAIRS, Neighbors(Relation.ADD_REMOVE, 50), epsilon=0.1)(DOMAIN.encode(frame(people=50)))
    assert len(best.measurements) == 3


def test_a_missing_value_is_a_group_of_its_own():
    domain = Domain.of(sex=["f", "m"], missing=True)
    release = Independent.of(marginals(domain, ways=1), ADD, epsilon=2)(domain.encode({"sex": ["f", None, "?"]}))
    (measured,) = release.measurements
    assert measured.plan.keys == (("f",), ("m",), (None,))


def test_several_records_of_a_unit_are_not_counted_once():
    release = Independent.of(PAIRS, Neighbors(Relation.ADD_REMOVE, 500, rows=3), epsilon=2)(DOMAIN.encode(frame()))
    assert {one.plan.adds_up.why for one in release.measurements} == {"a unit counts for up to 3 records"}


def test_histograms_of_one_release_share_their_cells_and_crossing_ones_are_told_apart_by_name():
    release = Tree.of(PAIRS, ADD, epsilon=4)(DOMAIN.encode(frame()))
    alone = [one for one in release.measurements if one.plan.key_names == ("sex",)]
    assert len(latent_counts(alone, exhaustive=True).cells) == 2
    with pytest.raises(InputError, match="which cross"):
        latent_counts(distinct_measurements(release))
    other = Tree.of(PAIRS, ADD, epsilon=4)(DOMAIN.encode(frame()))
    with pytest.raises(InputError, match="same people"):
        distinct_measurements([release, other])


COLUMNS = {"sex": {"values": ["f", "m"]}, "rooms": {"values": [1, 2, 3, 4]}, "own": {"values": ["yes", "no"]}}


def session(**more):
    table = frame().assign(person=lambda held: np.arange(len(held)) // 2)
    columns = {**COLUMNS, "person": {"type": "integer"}}
    return Session.from_frames(
        **{"unit": "row", "budget": dp.PureDP(90), "lineage": "homes", "columns": columns, "homes": table, **more}
    )


@pytest.mark.parametrize("name", HOW)
def test_a_release_that_is_handed_out_again_measures_the_same(name):
    asked = session()
    workload = marginals(domain_of(asked, "homes", columns=list(COLUMNS)), ways=2)
    first = synthesize(asked, "homes", workload=workload, method=name, epsilon=2, people=500)
    spent = asked.balance.spent
    again = synthesize(asked, "homes", workload=workload, method=name, epsilon=2, people=500)
    assert again.evidence["record"]["replayed"]
    assert first.measurements == again.measurements
    assert distinct_measurements([first, again]) == first.measurements
    assert {one.plan.source.lineage for one in first.measurements} == {"homes"}
    assert asked.balance.spent == spent


def test_two_releases_of_rows_share_their_people_and_of_units_with_kept_rows_they_do_not():
    for more, shared in ({}, True), ({"unit": "person", "rows": 1}, False):
        asked = session(**more)
        workload = marginals(domain_of(asked, "homes", columns=["sex"]), ways=1)
        tables = [
            synthesize(asked, "homes", workload=workload, method="independent", epsilon=price, people=500).measurements[
                0
            ]
            for price in (1, 2)
        ]
        if shared:
            assert len(latent_counts(distinct_measurements(tables)).observations) == 6
        else:
            with pytest.raises(InputError, match="bounded in different ways"):
                latent_counts(distinct_measurements(tables))


def test_a_release_that_an_earlier_version_stored_reads_as_before_with_none():
    method = Independent.of(PAIRS, ADD, epsilon=2)
    release = method(DOMAIN.encode(frame()))
    fields = json.loads(to_text(release))
    del fields["histograms"]
    old = from_text(json.dumps(fields), method)
    assert old.measurements == ()
    assert np.array_equal(old.answers, release.answers)
    assert fields["format"] == 2


def test_stored_histograms_are_checked():
    method = Independent.of(PAIRS, ADD, epsilon=2)
    fields = json.loads(to_text(method(DOMAIN.encode(frame()))))
    kept = from_text(json.dumps(fields), method)
    assert [one.values.shape for one in kept.histograms] == [(2,), (4,), (2,)]
    parts = fields["histograms"]["list"][0]["list"]
    for place, wrong in itertools.product(range(4), (None, {"tuple": [1]}, "Laplace", 5)):
        spoiled = json.loads(json.dumps(fields))
        spoiled["histograms"]["list"][0]["list"][place] = wrong
        if wrong != parts[place]:
            with pytest.raises(LedgerMismatch):
                from_text(json.dumps(spoiled), method)
