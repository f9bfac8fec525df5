"""Heavy hitters end to end: private reports, planted keys found, frequencies confirmed by people who were held out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import InputError, MissingParameter, ParameterError, StreamSpent
from discreet.local import Aggregator, Spec, TextKeys
from discreet.local.heavy_hitters.protocol import HeavyHitters, Hitters
from discreet.privacy import Target
from discreet.randomness.rigor import ball, precision
from tests.conftest import Rounds
from tests.local.claims.enumeration import exact_law

CERTAIN = 1 - 1e-12  # of 2^64 keys that nobody holds one is listed with a probability of less than 1e-10
PLANTED = {"north.example/home": 0.3, "süd": 0.2, "": 0.15, "north.example/hom": 0.1}
KINDS: dict[str, tuple[tuple[int, ...], list[Any]]] = {
    "integer:30": ((16, 24, 30), [0, 77_777_777]),
    "integer:70": ((32, 48, 64, 80, 96, 104), [0, 2**70 - 1]),
    "text:2": ((32, 40, 48), ["", "ü"]),
    "bytes:2": ((32, 40, 48), [b"\0\0", b"\xff\0"]),
}


def tiny(epsilon: Fraction = Fraction(1)) -> HeavyHitters:
    """A spec of which every report can be listed."""
    return HeavyHitters(
        epsilon=epsilon,
        keys="integer:30",
        people=9,
        prime=3,
        dimension=3,
        levels=(16, 24, 30),
        rows=(2, 1, 1, 1),
        seed=4,
    )


def people_of(frequencies: list[float], count: int, rest: int) -> NDArray[np.int64]:
    """So many people: the first keys 0, 1, ... with these frequencies, and `rest` keys for all the others."""
    held = [round(frequency * count) for frequency in frequencies]
    others = len(frequencies) + np.arange(count - sum(held)) % rest
    return np.concatenate([np.repeat(np.arange(len(frequencies)), held), others])


@cache
def found_numbers() -> tuple[HeavyHitters, Hitters, dict[int, float]]:
    """Six keys of 64 bits with frequencies of 6 to 20 %, 60 000 people, epsilon 4."""
    frequencies = [0.2, 0.15, 0.12, 0.1, 0.08, 0.06]
    spec = HeavyHitters.plan(people=60_000, epsilon=4, keys="integer:64", seed=11)
    keys = coins(3).integers(0, 2**64, size=10_006, dtype=np.uint64)
    held = keys[people_of(frequencies, 60_000, 10_000)]
    found = spec.find(spec.aggregator().add(spec.client().report_many(held)), certainty=CERTAIN)
    return spec, found, {int(key): frequency for key, frequency in zip(keys, frequencies, strict=False)}


@cache
def found_texts() -> tuple[HeavyHitters, Hitters]:
    """Four texts, one the beginning of another and one empty, 80 000 people, epsilon 5."""
    spec = HeavyHitters.plan(people=80_000, epsilon=5, keys=TextKeys(18), seed=12)
    names = [*PLANTED, *(f"other/{number}" for number in range(3_000))]
    held = [names[place] for place in people_of(list(PLANTED.values()), 80_000, 3_000)]
    return spec, spec.find(spec.aggregator().add(spec.client().batch(held)), k=8, certainty=CERTAIN)


@pytest.mark.theorem("HeavyHitters.privacy")
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_no_report_of_any_level_is_more_than_e_to_epsilon_times_as_likely_for_another_key(epsilon: Fraction) -> None:
    spec = tiny(epsilon)
    laws = [spec.law(key).probabilities for key in range(0, 2**30, 2**26 + 12345)]
    assert all(sum(law) == 1 for law in laws)
    worst = max(max(column) / min(column) for column in zip(*laws, strict=True))
    with precision(256):
        assert float((ball(epsilon).exp() - ball(worst)).lower()) >= 0
    assert float(worst) > 0.999 * np.exp(float(epsilon))


@pytest.mark.theorem("HeavyHitters.privacy")
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_client_draws_from_the_law_of_its_key_at_every_level(
    kind: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels, keys = KINDS[kind]
    if not compiled:
        monkeypatch.setattr("discreet.local.keys.hashing.available", lambda: False)
        monkeypatch.setattr("discreet.local.frequency.geometry.available", lambda: False)
    spec = HeavyHitters(
        epsilon=Fraction(2),
        keys=kind,
        people=9,
        prime=2,
        dimension=3,
        levels=levels,
        rows=(2,) + (1,) * len(levels),
        seed=4,
    )
    laws = []
    for key in keys:
        drawn = exact_law(spec.randomize, spec.items([key]))
        laws.append([drawn[report] for report in range(spec.cells)])
        assert laws[-1] == list(spec.law(key).probabilities)
    with precision(256):
        worst = max(max(column) / min(column) for column in zip(*laws, strict=True))
        assert float((ball(spec.epsilon).exp() - ball(worst)).lower()) >= 0
    assert worst > 1


@pytest.mark.theorem("HeavyHitters.privacy")
def test_a_key_prefers_one_plane_in_every_row_whatever_its_level() -> None:
    spec = tiny()
    rows = spec.preferred(12345) // spec.geometry.points
    assert np.bincount(rows).tolist() == [spec.geometry.on_plane] * sum(spec.rows)
    assert spec.inside == len(rows)


def test_every_level_and_the_held_out_people_have_hashes_of_their_own() -> None:
    spec = tiny()
    assert len({group.seed for group in spec.groups}) == len(spec.groups) == len(spec.rows)


def test_reports_are_in_range_and_every_row_is_drawn() -> None:
    spec = tiny()
    reports = spec.client().report_many(np.arange(20_000))
    assert reports.min() >= 0
    assert reports.max() < spec.cells
    assert np.unique(reports // spec.geometry.points).size == sum(spec.rows)


def test_a_client_reports_once_and_refuses_what_is_no_key_without_showing_it() -> None:
    client = HeavyHitters.plan(people=100, epsilon=1, keys="text:4", seed=1).client()
    for hostile in ["secret", 5, None, b"ab", "a\0b", "\ud800"]:
        with pytest.raises(InputError) as refused:
            client.report(hostile)
        assert str(hostile) not in str(refused.value)
    client.report("fine")
    with pytest.raises(StreamSpent):
        client.report("fine")


@pytest.mark.theorem("HeavyHitters.accuracy")
def test_planted_numbers_are_found_and_nothing_else() -> None:
    _, found, planted = found_numbers()
    assert set(found) == set(planted)
    assert all(found.probabilities >= CERTAIN)


@pytest.mark.theorem("HeavyHitters.accuracy")
def test_shares_come_from_the_held_out_people_and_are_right_to_eight_errors() -> None:
    spec, found, planted = found_numbers()
    truth = np.array([planted[key] for key in found])
    assert np.all(np.abs(found.value - truth) < 8 * found.standard_error)
    part = spec.rows[-1] / sum(spec.rows)
    assert abs(found.held_out - 60_000 * part) < 7 * np.sqrt(60_000 * part)
    assert np.all(found.standard_error < 0.02)


@pytest.mark.theorem("HeavyHitters.accuracy")
def test_what_is_found_does_not_depend_on_the_held_out_reports() -> None:
    spec = HeavyHitters.plan(people=20_000, epsilon=5, keys="integer:24", seed=1)
    aggregator = spec.aggregator().add(spec.client().report_many([77] * 12_000 + list(range(8_000))))
    before = spec.find(aggregator)
    start = (sum(spec.rows) - spec.rows[-1]) * spec.geometry.points
    aggregator.counts[start:] = 1
    after = spec.find(aggregator)
    assert before.keys == after.keys
    assert np.array_equal(before.probabilities, after.probabilities)
    assert not np.array_equal(before.value, after.value)


def test_intervals_widen_with_confidence_and_together() -> None:
    _, found, planted = found_numbers()
    truth = [planted[key] for key in found]
    narrow, wide = found.intervals(confidence=0.5), found.intervals(confidence=1 - 1e-10, together=True)
    assert wide.contain(truth).all()
    assert np.all(wide.low < narrow.low)
    assert np.all(narrow.high < wide.high)
    assert narrow.target is Target.POPULATION
    together, each = found.intervals(confidence=0.94, together=True), found.intervals(confidence=0.99)
    assert together.low == pytest.approx(each.low)
    assert together.high == pytest.approx(each.high)
    with pytest.raises(ParameterError):
        found.intervals(confidence=95)


def test_texts_of_any_length_are_found_with_their_beginnings_kept_apart() -> None:
    _, found = found_texts()
    assert found.keys == tuple(PLANTED)
    assert np.all(np.abs(found.value - list(PLANTED.values())) < 8 * found.standard_error)


def test_an_alphabet_hides_what_it_cannot_spell() -> None:
    spec = HeavyHitters.plan(people=40_000, epsilon=6, keys="text:6", seed=2)
    aggregator = spec.aggregator().add(spec.client().report_many(["abba"] * 20_000 + ["xyz"] * 20_000))
    assert set(spec.find(aggregator, certainty=CERTAIN)) == {"abba", "xyz"}
    assert spec.find(aggregator, certainty=CERTAIN, alphabet="ab").keys == ("abba",)
    for alphabet in ["", 5, b""]:
        with pytest.raises(ParameterError):
            spec.find(aggregator, alphabet=alphabet)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ("integer:12", 77),
        ("integer:20", 2**19),
        ("integer:83", 2**83 - 9),
        ("bytes:6", b"\0a\0\xff\0\0"),
        ("text:1", ""),
    ],
)
def test_every_kind_of_key_can_be_found(keys: str, key: object) -> None:
    spec = HeavyHitters.plan(people=30_000, epsilon=6, keys=keys, seed=3)
    found = spec.find(spec.aggregator().add(spec.client().report_many([key] * 30_000)), certainty=CERTAIN)
    assert found.keys == (key,)
    assert abs(found.value[0] - 1) < 8 * found.standard_error[0]


def test_nothing_is_listed_when_everybody_differs() -> None:
    spec = HeavyHitters.plan(people=50_000, epsilon=2, keys="integer:64", seed=3)
    keys = coins(4).integers(0, 2**64, size=50_000, dtype=np.uint64)
    found = spec.find(spec.aggregator().add(spec.client().report_many(keys)), certainty=CERTAIN)
    assert len(found) == 0
    assert "0 keys" in repr(found)
    assert "key" in str(found)


def test_without_certainty_the_list_is_filled_with_guesses() -> None:
    spec = HeavyHitters.plan(people=5_000, epsilon=2, keys="integer:32", seed=3)
    aggregator = spec.aggregator().add(spec.client().report_many(np.arange(5_000)))
    found = spec.find(aggregator, k=5, certainty=0)
    assert len(found) == 5
    assert len(found.intervals()) == 5


def test_so_few_people_that_a_level_is_empty_are_refused_and_a_hundred_who_agree_are_enough() -> None:
    spec = tiny(Fraction(6))
    points = spec.geometry.points
    rows = np.arange(sum(spec.rows))
    for missing in rows[2:]:
        with pytest.raises(InputError, match="levels have no report"):
            spec.find(spec.aggregator().add(np.repeat(rows[rows != missing] * points, 20)))
    with pytest.raises(InputError, match="no reports"):
        spec.find(spec.aggregator())
    assert len(spec.find(spec.aggregator().add(rows[1:] * points))) <= 16


def test_merged_aggregators_find_the_same_in_any_order() -> None:
    spec = HeavyHitters.plan(people=20_000, epsilon=4, keys="integer:32", seed=5)
    reports = spec.client().report_many([9] * 10_000 + list(range(10_000)))
    parts = [spec.aggregator().add(reports[start::7]) for start in range(7)]
    forward, backward = spec.aggregator(), spec.aggregator()
    for part in parts:
        forward.merge(part)
    for part in reversed(parts):
        backward.merge(part)
    assert forward.to_bytes() == backward.to_bytes() == spec.aggregator().add(reports).to_bytes()
    assert spec.find(forward).table().rows == spec.find(backward).table().rows


def test_the_plan_is_a_function_of_public_numbers() -> None:
    first, again = (HeavyHitters.plan(people=10**6, epsilon=1, keys="integer:48", seed=7) for _ in range(2))
    assert first == again
    assert first.digest == again.digest
    assert HeavyHitters.plan(people=10**6, epsilon=1, keys="integer:48").seed != first.seed
    assert sum(HeavyHitters.plan(people=10**9, epsilon=4, keys="integer:48", seed=7).rows) == 512
    assert Spec.from_json(first.to_json()) == first
    assert isinstance(Spec.from_json(first.to_json()), HeavyHitters)


def test_half_as_many_people_see_shares_that_are_larger_by_the_root_of_two() -> None:
    spec = HeavyHitters.plan(people=10**6, epsilon=1, keys="integer:48", seed=7)
    assert spec.detectable(500_000) == pytest.approx(2**0.5 * spec.detectable())
    assert 8 < spec.detectable() / spec.optimum(10**6) ** 0.5 < 9
    longer = HeavyHitters.plan(people=10**6, epsilon=1, keys="text:32", seed=7)
    assert longer.detectable(length=8) < longer.detectable()


def test_a_spec_of_other_levels_rows_or_keys_is_refused() -> None:
    good: dict[str, Any] = {"epsilon": 1, "keys": "integer:30", "people": 9, "prime": 3, "dimension": 3, "seed": 4}
    fine: dict[str, Any] = {"levels": (16, 24, 30), "rows": (2, 1, 1, 1)}
    changes: list[dict[str, Any]] = [
        {"levels": (16, 24)},
        {"levels": (15, 24, 30)},
        {"levels": (16, 30, 24)},
        {"levels": (16, 24.0, 30)},
        {"levels": ()},
        {"rows": (2, 1, 1)},
        {"rows": (2, 1, 1, 0)},
        {"rows": (2, 1, 1, True)},
        {"rows": (2, 1, 1, 1 << 24)},
        {"rows": (2, 1, 1, (1 << 16) + 1), "prime": 2},
        {"people": 0},
        {"people": 1 << 53},
        {"seed": -1},
        {"keys": "integer:7"},
        {"keys": "text:65"},
        {"keys": "float:8"},
    ]
    for change in changes:
        with pytest.raises((ParameterError, InputError)):
            HeavyHitters(**{**good, **fine, **change})
    with pytest.raises(ParameterError, match="steps"):
        HeavyHitters(**{**good, "keys": "integer:48", "levels": (16, 48), "rows": (1, 1, 1)})
    with pytest.raises(MissingParameter):
        HeavyHitters.plan(people=9, epsilon=1, keys=None)  # type: ignore[arg-type]


def test_reports_of_another_spec_and_bad_questions_are_refused() -> None:
    spec, other = tiny(), tiny(Fraction(2))
    full = spec.aggregator().add(np.arange(spec.cells))
    with pytest.raises(InputError, match="another spec"):
        spec.find(other.aggregator())
    with pytest.raises(InputError):
        spec.find(np.arange(5))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no reports"):
        spec.find(spec.aggregator())
    for question in [{"k": 0}, {"k": 10**6}, {"k": 2.5}, {"certainty": 1.5}, {"certainty": -1}, {"alphabet": "ab"}]:
        with pytest.raises(ParameterError):
            spec.find(full, **question)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        full.estimate()
    with pytest.raises(InputError):
        spec.sketches(np.zeros(3, dtype=np.int64))


def test_hostile_reports_are_counted_and_bring_nothing_down(rounds: Rounds) -> None:
    spec = tiny()
    noise = coins(6).integers(-5, spec.cells + 5, size=rounds(sample=2_000, full=200_000))
    aggregator: Aggregator = spec.aggregator().add(noise)
    assert aggregator.refused == int(((noise < 0) | (noise >= spec.cells)).sum())
    assert len(spec.find(aggregator, certainty=0)) == 16
    same = spec.aggregator().add(np.zeros(5_000, dtype=np.int64)).add(np.arange(spec.cells))
    assert np.isfinite(spec.find(same, certainty=0).value).all()
    assert spec.poisoning_gain > 1


def test_progress_grows_level_by_level_and_ends_at_the_total_whether_or_not_anything_is_found() -> None:
    spec = tiny(Fraction(6))
    nothing = spec.aggregator().add(np.arange(spec.cells))
    told: list[tuple[int, int | None]] = []
    assert len(spec.find(nothing, progress=lambda *seen: told.append(seen))) == 0
    assert told == [(1, 6), (2, 6), (3, 6), (6, 6)]
    something = HeavyHitters.plan(people=20_000, epsilon=6, keys="integer:24", seed=1)
    reports = something.client().report_many([5] * 20_000)
    told.clear()
    collected = something.aggregator().add(reports)
    assert something.find(collected, certainty=CERTAIN, progress=lambda *seen: told.append(seen)).keys == (5,)
    steps = 2 * len(something.levels)
    assert told == [(step + 1, steps) for step in range(steps)]


def test_results_show_themselves() -> None:
    _, found, _ = found_numbers()
    assert len(found.table().rows) == len(found) == 6
    assert found.table().columns == ("key", "frequency", "standard error", "low", "high", "probability")
    assert "held out" in str(found)
    assert "<table" in found._repr_html_()
    assert "Hitters(6 keys, 60,000 people" in repr(found)
    assert found.plot().svg().startswith("<?xml")


def test_a_list_without_keys_shows_itself_and_says_why_nothing_is_drawn() -> None:
    _, found, _ = found_numbers()
    nothing = replace(found, keys=(), probabilities=found.probabilities[:0], estimates=())
    assert "Hitters(0 keys" in repr(nothing)
    assert not nothing.table().rows
    with pytest.raises(InputError, match="no key was found"):
        nothing.plot()


@pytest.mark.parametrize("length", [0, -1, 5, 1.5, "x", True])
def test_a_length_that_no_key_has_is_refused(length) -> None:
    spec = HeavyHitters.plan(people=1000, epsilon=4, keys="text:4", seed=1)
    with pytest.raises(ParameterError, match="length"):
        spec.detectable(length=length)
    assert spec.detectable(length=4) == spec.detectable()
