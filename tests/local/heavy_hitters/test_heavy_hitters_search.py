"""The parts of the search for heavy hitters: addresses, levels, evidence that adds up, and peeling."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.local.heavy_hitters.addresses import Address, Fingerprinted, ScrambledNumber, address_of, as_words
from discreet.local.heavy_hitters.levels import choose_levels, signal_needed, survivors
from discreet.local.heavy_hitters.protocol import HeavyHitters, _confirmed
from discreet.local.heavy_hitters.search import (
    FoundAddresses,
    _per_node,
    _relatives,
    _together,
    _walked,
    likelihood_ratio,
    peeled,
    possible,
    search,
    sketch_variance,
    tempered,
)
from discreet.local.keys.hashed_geometry import HashedGeometry
from discreet.local.keys.keys import BytesKeys, IntegerKeys, Keys, TextKeys
from discreet.local.keys.sketch import Sketch

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


def walked(kind: Keys, key: object, alphabet: str | bytes | None = None) -> list[int]:
    """Follow a key from the root to its whole address; return how many children its prefixes have."""
    address = address_of(kind, seed=5, alphabet=alphabet)
    whole = address.of(kind.encode([key]))
    assert address.genuine(whole).all()
    levels = choose_levels(address, error=0.001, points=3000).lengths
    counts = []
    for length, longer in pairwise(levels):
        children, families, weights = address.children(address.prefix(whole, length), length, longer)
        assert families.tolist() == [len(children)] == [len(weights)]
        assert (children == address.prefix(whole, longer)).all(axis=1).sum() == 1
        counts.append(len(children))
    return counts


def expected(spec: HashedGeometry, frequencies: dict[int, float], people: int) -> Sketch:
    """A sketch of reports that are exactly as frequent as their laws say, up to rounding."""
    total = np.zeros(spec.cells)
    for key, frequency in frequencies.items():
        total += frequency * people * np.array([float(mass) for mass in spec.law(key).probabilities])
    return spec.sketch(np.rint(total).astype(np.int64))


@given(TEXTS)
@settings(deadline=None)
def test_every_text_is_a_path_from_the_root(text: str) -> None:
    walked(TextKeys(20), text)


@given(st.binary(min_size=5, max_size=5), st.integers(0, 2**70 - 1), st.integers(0, 2**33 - 1))
@settings(deadline=None)
def test_every_number_and_every_bytes_is_a_path_from_the_root(data: bytes, large: int, small: int) -> None:
    assert walked(BytesKeys(5), data) == [256] * 4 + [walked(BytesKeys(5), data)[-1]]
    walked(IntegerKeys(70), large)
    assert walked(IntegerKeys(33), small) == [16, 16, 32, 16]


def test_an_ended_text_goes_on_in_one_way_only() -> None:
    assert walked(TextKeys(8), "ab")[3:] == [1] * 5


def test_a_letter_of_many_bytes_goes_on_with_continuation_bytes() -> None:
    counts = walked(TextKeys(9), "a\U0001f600b")
    assert counts[2:5] == [64, 64, 64]
    assert walked(TextKeys(9), "é", alphabet="éa")[:2] == [2, 1]


def test_a_whole_key_must_agree_with_its_fingerprint() -> None:
    address = Fingerprinted(TextKeys(6), seed=3)
    whole = address.of(TextKeys(6).encode(["abc", "abd"]))
    assert address.genuine(whole).tolist() == [True, True]
    whole[:, 0] ^= np.uint32(1)
    assert address.genuine(whole).tolist() == [False, False]
    illegal = as_words(np.frombuffer(b"a\0b\0\0\0\0\0\xff\xff\0\0\0\0\0\0", dtype=np.uint8).reshape(2, 8))
    assert address.genuine(address.of(illegal)).tolist() == [False, False]


def test_prefixes_of_neighbors_scatter() -> None:
    address = ScrambledNumber(IntegerKeys(48), seed=3)
    prefixes = address.prefix(address.of(IntegerKeys(48).encode(np.arange(1_000))), 20)
    assert len(np.unique(prefixes, axis=0)) > 990
    texts = TextKeys(24)
    fingerprints = Fingerprinted(texts, seed=3)
    names = texts.encode([f"www.example.com/{number}" for number in range(1_000)])
    assert len(np.unique(fingerprints.prefix(fingerprints.of(names), 40), axis=0)) > 990


def test_levels_reach_the_whole_address_and_hold_out_a_tenth() -> None:
    for kind in [IntegerKeys(8), IntegerKeys(21), IntegerKeys(64), IntegerKeys(200), BytesKeys(64), TextKeys(1)]:
        address = address_of(kind, seed=1)
        levels = choose_levels(address, error=0.001, points=3000)
        assert levels.lengths[0] == address.first
        assert levels.lengths[-1] == address.bits
        assert len(levels.rows) == len(levels.lengths) + 1
        assert min(levels.rows) >= 2
        assert 0.08 < levels.rows[-1] / sum(levels.rows) < 0.12


def test_more_people_or_fewer_buckets_want_more_rows_within_limits() -> None:
    address = address_of(IntegerKeys(48), seed=1)
    rows = [sum(choose_levels(address, error=error, points=1000).rows) for error in (0.01, 3e-4, 2e-4, 1e-5)]
    assert rows == [128, 267, 400, 512]


def test_fewer_paths_are_followed_where_each_has_more_children() -> None:
    assert survivors(32, 48) == 1 << 10
    assert survivors(32, 49) == 1 << 12
    assert survivors(1 << 30, 48) == 16
    assert signal_needed(48) == pytest.approx(math.sqrt(2 * (48 * math.log(2) - math.log(4))))


def test_keys_that_cannot_be_searched_are_refused() -> None:
    for kind, alphabet in [
        (IntegerKeys(7), None),
        (TextKeys(65), None),
        (IntegerKeys(48), "01"),
        (IntegerKeys(80), "01"),
        (TextKeys(5), ""),
    ]:
        with pytest.raises(ParameterError):
            address_of(kind, 1, alphabet)


def test_the_evidence_is_the_likelihood_ratio_of_the_reports() -> None:
    spec = HashedGeometry(epsilon=Fraction(2), keys="integer:16", prime=7, dimension=3, rows=4, seed=2)
    sketch = expected(spec, {5: 1.0}, 100_000)
    p, r = float(spec.preference), float(spec.shared)
    chance = r + (p - r) * 0.25
    direct = 1000 * (chance * math.log(chance / r) + (1 - chance) * math.log((1 - chance) / (1 - r)))
    found = likelihood_ratio(np.array([0.25, 0.0, -0.5, 50.0]), 1000, sketch)
    assert found[0] == pytest.approx(direct)
    assert found[1:3].tolist() == [0.0, 0.0]
    assert np.isfinite(found[3])


def test_a_child_that_stands_out_takes_from_its_relatives_and_from_nobody_else() -> None:
    odds = np.array([50.0, 20.0, 19.0, -5.0, -6.0, -5.5])
    against = _relatives(odds, np.array([4, 4, 4, 9, 9, 9]))
    assert against[0] == pytest.approx(20 + math.log1p(math.exp(-1)), abs=1e-6)
    assert against[1:3] == pytest.approx([50, 50])
    assert np.all(against[3:] < 0.02)
    assert _relatives(odds, np.arange(6)).tolist() == [0.0] * 6


def test_equal_children_keep_equal_odds() -> None:
    against = _relatives(np.full(4, 3.0), np.zeros(4, dtype=np.int64))
    assert against == pytest.approx([math.log1p(3 * math.exp(3)), *[math.log1p(4 * math.exp(3))] * 3])
    assert np.ptp(against) < 2 * math.log(2)
    assert np.isfinite(against).all()


def test_peeling_takes_a_heavy_key_out_of_what_collides_with_it() -> None:
    spec = HashedGeometry(epsilon=Fraction(2), keys="integer:16", prime=7, dimension=3, rows=8, seed=2)
    frequencies = {7: 0.6, 8: 0.28, 9: 0.1, 10: 0.02}
    sketch = expected(spec, frequencies, 1_000_000)
    nodes = spec.kind.encode(np.arange(2_000))
    error = math.sqrt(sketch_variance(sketch))
    assert np.sort(sketch.frequencies(nodes))[-20] > 10 * error
    cleared, found, estimates = peeled(sketch, nodes, sketch.frequencies(nodes), error)
    assert sorted(found.tolist()) == [7, 8, 9, 10]
    assert {
        int(place): round(float(frequency), 2) for place, frequency in zip(found, estimates, strict=True)
    } == frequencies
    assert np.abs(cleared.frequencies(nodes)).max() < 5 * error


def test_peeling_finds_nothing_where_nothing_stands_out() -> None:
    spec = HashedGeometry(epsilon=Fraction(2), keys="integer:16", prime=7, dimension=3, rows=4, seed=2)
    sketch = spec.sketch(np.full(spec.cells, 50))
    nodes = spec.kind.encode(np.arange(100))
    cleared, found, estimates = peeled(sketch, nodes, sketch.frequencies(nodes), 0.01)
    assert (found.size, estimates.size) == (0, 0)
    assert np.array_equal(cleared.table, sketch.table)


def test_what_is_left_of_a_heavy_key_is_divided_by_the_noise_of_its_holders() -> None:
    spec = HashedGeometry(epsilon=Fraction(4), keys="integer:16", prime=7, dimension=3, rows=8, seed=2)
    words = spec.kind.encode([7])
    cleared = expected(spec, {7: 0.6, 9: 0.4}, 10_000_000).without_words(words, np.array([0.5]))
    p, r = float(spec.preference), float(spec.elsewhere)
    calmer = math.sqrt(1 + 0.5 * p * (1 - p) / (r * (1 - r)))
    assert calmer > 1.15
    left = tempered(cleared, words, np.array([0.5])).frequencies(words)[0]
    assert left == pytest.approx(cleared.frequencies(words)[0] / calmer, rel=1e-3)


def test_before_any_report_all_numbers_of_some_length_are_as_likely() -> None:
    address, levels = address_of(IntegerKeys(26), seed=9), (16, 21, 26)
    paths, people = _walked(address, levels, decoded(address, levels, {}), lambda _: None)
    assert people == 300_000
    assert np.allclose(paths.prior, math.log(4) - 26 * math.log(2))


def test_a_text_that_ends_has_passed_the_check_of_its_fingerprint() -> None:
    address = Fingerprinted(TextKeys(1), seed=3)
    words = address.of(TextKeys(1).encode(["", "a"]))
    nodes, counts, weights = address.children(address.prefix(words, 32), 32, 40)
    beginnings = 1 + 0x7F + (0xF4 - 0xC2 + 1)
    assert counts.sum() == len(nodes) < 8
    assert np.allclose(weights, 16 * math.log(2) - math.log(beginnings))


def test_a_share_is_confirmed_without_the_reports_of_another_key_in_the_same_bucket() -> None:
    spec = HashedGeometry(epsilon=Fraction(4), keys="bytes:2", prime=7, dimension=3, rows=1, seed=2)
    keys = [bytes([0, number]) for number in range(256)]
    buckets = spec.hash.buckets(spec.kind.encode(keys))[:, 0]
    heavy, rare = keys[0], keys[int(np.flatnonzero(buckets == buckets[0])[1])]
    sketch = spec.sketch(np.rint(10**6 * np.array([float(mass) for mass in spec.law(heavy).probabilities])).astype(int))
    assert sketch.estimate([rare]).value[0] == pytest.approx(1, abs=0.01)
    found = FoundAddresses(spec.kind.encode([heavy, rare]), np.array([1.0, 0.0]), np.ones(2))
    assert _confirmed(sketch, found, 1).value[0] == pytest.approx(0, abs=0.01)
    assert _confirmed(sketch, found, 0).value[0] == pytest.approx(1, abs=0.01)


def test_shares_that_cannot_be_are_cut() -> None:
    assert possible(np.array([2.0, 3.0, -1.0])).tolist() == [0.0, 1.0, 0.0]
    assert possible(np.zeros(0)).size == 0


def decoded(address: Address, levels: tuple[int, ...], frequencies: dict[bytes, float]) -> tuple[Sketch, ...]:
    """The tables of all levels when everything is exactly as frequent as expected, for addresses with frequencies."""
    addresses = np.array([np.frombuffer(name, dtype=np.uint32) for name in frequencies], dtype=np.uint32).reshape(-1, 2)
    sketches, people = [], 100_000
    for seed, length in enumerate(levels):
        kept = address.level_kind(length).to_text()
        level = HashedGeometry(epsilon=Fraction(3), keys=kept, prime=19, dimension=3, rows=12, seed=seed)
        p, r = float(level.preference), float(level.elsewhere)
        table = np.full((level.rows, level.geometry.points), people / level.rows * r)
        for frequency, row in zip(
            frequencies.values(), level.hash.buckets(address.prefix(addresses, length)), strict=True
        ):
            table[np.arange(level.rows), row] += frequency * people / level.rows * (p - r)
        in_row = np.full(level.rows, people // level.rows)
        sketches.append(Sketch(level, people, np.rint(table).astype(np.int64), in_row))
    return tuple(sketches)


def test_the_search_reads_expected_reports_without_error() -> None:
    kind = IntegerKeys(26)
    address = address_of(kind, seed=9)
    keys, frequencies = [3, 2**25 + 1, 2**26 - 1], [0.5, 0.3, 0.2]
    names = [row.tobytes() for row in address.of(kind.encode(keys))]
    found = search(address, (16, 26), decoded(address, (16, 26), dict(zip(names, frequencies, strict=True))))
    assert kind.decode(address.keys(found.addresses[:3])).tolist() == keys
    assert found.frequencies[:3] == pytest.approx(frequencies, abs=0.01)
    assert found.probabilities[3] < 0.5 < found.probabilities[2]


@pytest.mark.parametrize("common", [16, 21, 25])
def test_heavy_keys_behind_one_root_do_not_hide_one_another(common: int) -> None:
    kind, levels = IntegerKeys(31), (16, 21, 26, 31)
    address = address_of(kind, seed=9)
    first = 0b1011_0111_0010_1101_1010_0110_1110_010
    numbers = np.array([first, first ^ (1 << (30 - common)), 12345], dtype=np.uint64)
    words = np.stack([(numbers << np.uint64(1)).astype(np.uint32), np.zeros(3, dtype=np.uint32)], axis=1)
    frequencies = [0.4, 0.3, 0.2]
    names = [row.tobytes() for row in words]
    found = search(address, levels, decoded(address, levels, dict(zip(names, frequencies, strict=True))))
    assert [row.tobytes() for row in found.addresses[:3]] == names
    assert found.frequencies[:3] == pytest.approx(frequencies, abs=0.03)
    assert found.probabilities[3] < 0.5 < found.probabilities[:3].min()


def test_keys_that_were_found_leave_nothing_behind() -> None:
    kind, levels = IntegerKeys(26), (16, 26)
    address = address_of(kind, seed=9)
    words = address.of(kind.encode([3, 4, 5]))
    sketches = decoded(address, levels, {row.tobytes(): 0.3 for row in words})
    frequencies, cleared = _together(address, levels, sketches, words, np.array([0.9, 0.0, 0.1]))
    assert frequencies == pytest.approx([0.3] * 3, abs=0.01)
    for length, sketch in zip(levels, cleared, strict=True):
        assert np.abs(sketch.frequencies(address.prefix(words, length))).max() < 0.01


def test_a_spec_with_steps_of_two_bytes_follows_few_texts() -> None:
    spec = HeavyHitters(
        epsilon=Fraction(4), keys="text:2", people=9, prime=5, dimension=3, levels=(32, 48), rows=(20, 20, 4), seed=4
    )
    found = spec.find(spec.aggregator().add(spec.client().report_many(["ab"] * 20_000)), certainty=1 - 1e-12)
    assert found.keys == ("ab",)
    assert survivors(_per_node((32, 48)), 48) * 2**16 <= 2**20
