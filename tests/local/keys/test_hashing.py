"""The public hash is what its page says, bit by bit, and spreads keys as its theorem says."""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local import PublicHash, Scramble
from discreet.local.keys import hashing

PRIME = 2**31 - 1
VECTORS = [[329, 648, 33, 212], [150, 440, 222, 271], [921, 298, 645, 91], [300, 5, 818, 528]]
SCRAMBLED = [44815060804797, 245551169783077, 43561382848114]


def written_down(seed: int, purpose: int, row: int, index: int) -> int:
    """A constant, as the page derives it."""
    text = b"discreet.local.hash/1" + seed.to_bytes(32, "little")
    for number in (purpose, row, index):
        text += number.to_bytes(4, "little")
    return int.from_bytes(hashlib.sha256(text).digest(), "little")


def bucket_by_hand(key: list[int], seed: int, purpose: int, row: int, span: int) -> int:
    """The bucket of a key, in whole numbers."""
    words = len(key)
    a = [written_down(seed, purpose, row, index) % 2**64 for index in range(words + 1)]
    c = [written_down(seed, purpose, row, words + 1 + index) % PRIME for index in range(3)]
    return polynomial(fingerprint(key, a[:-1], a[-1], 32), c, PRIME) * span >> 31


def fingerprint(key: list[int], a: list[int], b: int, width: int) -> int:
    """The fingerprint of words of any width: one bit less than a word."""
    total = b + sum((a[j] + key[j]) * (a[j + 1] + key[j + 1]) for j in range(0, len(key), 2))
    return (total % (1 << 2 * width)) >> (width + 1)


def polynomial(z: int, c: list[int], prime: int) -> int:
    """A quadratic polynomial modulo a prime."""
    return (c[2] * z * z + c[1] * z + c[0]) % prime


def some_keys(count: int, words: int = 2) -> hashing.Words:
    """Keys of all sorts: small, large, neighbors."""
    keys = coins(count, words).integers(0, 2**32, (count, words), dtype=np.uint32)
    keys[: count // 4, : words - 1] = 0
    keys[: count // 4, words - 1] = np.arange(count // 4)
    keys[0], keys[-1] = 0, 2**32 - 1
    return keys


DEFINED = [(2, 3280, 1, 0), (2, 7, 2**256 - 1, 9), (6, PRIME, 5, 3)]


@pytest.mark.parametrize(("words", "span", "seed", "purpose"), DEFINED)
def test_buckets_are_those_of_the_written_definition(words: int, span: int, seed: int, purpose: int) -> None:
    public = PublicHash(seed=seed, rows=3, range=span, words=words, purpose=purpose)
    keys = some_keys(24, words)
    wanted = [[bucket_by_hand(key, seed, purpose, row, span) for row in range(3)] for key in keys.tolist()]
    assert public.buckets(keys).tolist() == wanted


def test_the_published_vectors_never_change() -> None:
    public = PublicHash(seed=2026, rows=4, range=1000, words=2)
    keys = np.array([[0, 0], [0, 1], [1, 0], [2**32 - 1, 2**32 - 1]], dtype=np.uint32)
    assert public.buckets(keys).tolist() == VECTORS
    assert Scramble(seed=2026, bits=48).forward(np.array([0, 1, 2**48 - 1], dtype=np.uint64)).tolist() == SCRAMBLED


@pytest.mark.needs("numba")
@pytest.mark.parametrize("words", [2, 8])
def test_the_compiled_hash_and_the_plain_one_agree(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    public = PublicHash(seed=3, rows=5, range=PRIME, words=words)
    small = PublicHash(seed=3, rows=5, range=101, words=words)
    keys, rows = some_keys(10_000, words), coins(1).integers(0, 5, 10_000)
    tables = coins(2).integers(-(2**40), 2**40, (5, 101))
    fast = public.buckets(keys), public.bucket(keys, rows), small.gathered(keys, tables)
    monkeypatch.setattr(hashing, "available", lambda: False)
    plain = public.buckets(keys), public.bucket(keys, rows), small.gathered(keys, tables)
    assert all(np.array_equal(one, other) for one, other in zip(fast, plain, strict=True))
    assert np.array_equal(fast[1], fast[0][np.arange(10_000), rows])
    fresh = PublicHash(seed=3, rows=5, range=PRIME, words=words)
    assert np.array_equal(fresh.bucket(keys[:4], rows[:4]), fast[1][:4])  # derives only the rows of these keys
    assert np.array_equal(fast[2], tables[np.arange(5), small.buckets(keys)].sum(axis=1))


@pytest.mark.parametrize("plain", [False, pytest.param(True, marks=pytest.mark.needs("numba"))])
def test_buckets_are_right_at_the_largest_constants_and_words(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sums wrap round, remainders fold twice, and a polynomial comes to a multiple of P."""
    if plain:
        monkeypatch.setattr(hashing, "available", lambda: False)
    extremes = [0, 1, 2**31 - 1, 2**32 - 1]
    keys = np.array(list(itertools.product(extremes, repeat=2)), dtype=np.uint32)
    rows = [
        [a, b, c, *d]
        for a, b, c in itertools.product([0, 1, 2**63, 2**64 - 1], repeat=3)
        for d in ([PRIME - 1] * 3, [0, 0, PRIME - 1], [1, PRIME - 1, 0], [0, 1, PRIME - 1])
    ]
    public = PublicHash(seed=1, rows=len(rows), range=PRIME, words=2)
    vars(public)["constants"] = np.array(rows, dtype=np.uint64)
    for found, key in zip(public.buckets(keys).tolist(), keys.tolist(), strict=True):
        points = [fingerprint(key, row[:2], row[2], 32) for row in rows]
        values = [polynomial(z, row[3:], PRIME) for z, row in zip(points, rows, strict=True)]
        assert found == [value * PRIME >> 31 for value in values]
    small = PublicHash(seed=1, rows=len(rows), range=11, words=2)
    vars(small)["constants"] = public.constants
    tables = np.arange(len(rows) * 11).reshape(-1, 11)
    assert np.array_equal(small.gathered(keys, tables), tables[np.arange(len(rows)), small.buckets(keys)].sum(axis=1))


@pytest.mark.theorem("PublicHash.accuracy")
@pytest.mark.parametrize("span", [2, 3, 13, 3280, 2**30 + 1, PRIME])
def test_two_meetings_of_a_key_are_as_good_as_uncorrelated(span: int) -> None:
    size, larger = divmod(2**31, span)
    cubes = larger * (size + 1) ** 3 + (span - larger - 1) * size**3 + (size - 1) ** 3
    agree, all_three = Fraction(2**31 + 2, 2**62), Fraction(cubes, PRIME**3)
    square = PublicHash(seed=1, rows=1, range=span, words=2).collision ** 2
    assert 3 * agree + all_three - square <= Fraction(1, 2**29)
    assert (1 - 3 * agree) * all_three - square >= -Fraction(1, 2**29)


@pytest.mark.theorem("PublicHash.accuracy")
@pytest.mark.parametrize("span", [1, 2, 3])
def test_the_formula_of_collisions_is_exact_in_a_small_copy(span: int) -> None:
    """Words of 3 bits, fingerprints of 2, and 3 for the prime: all fingerprints and polynomials."""
    met = [
        polynomial(x, list(c), 3) * span >> 2 == polynomial(y, list(c), 3) * span >> 2
        for x, y in itertools.product(range(4), repeat=2)
        for c in itertools.product(range(3), repeat=3)
    ]
    size, larger = divmod(4, span)
    squares = larger * (size + 1) ** 2 + (span - larger) * size**2 - 2 * size + 1
    agree = Fraction(4 + 2, 16)
    assert Fraction(sum(met), len(met)) == agree + (1 - agree) * Fraction(squares, 9)


@pytest.mark.theorem("PublicHash.accuracy")
def test_fingerprints_of_two_keys_are_exactly_independent_in_a_small_copy() -> None:
    width = 2  # words of 2 bits, constants of 4, fingerprints of 1
    keys = list(itertools.product(range(4), repeat=2))
    constants = list(itertools.product(range(16), repeat=3))
    found = np.array([[fingerprint(list(key), [a, c], b, width) for a, c, b in constants] for key in keys])
    for first, second in itertools.combinations(range(len(keys)), 2):
        together = np.bincount(2 * found[first] + found[second], minlength=4)
        assert together.tolist() == [len(constants) // 4] * 4


@pytest.mark.theorem("PublicHash.accuracy")
def test_values_at_three_points_are_exactly_independent_in_a_small_copy() -> None:
    prime = 7
    polynomials = list(itertools.product(range(prime), repeat=3))
    for points in itertools.combinations(range(prime), 3):
        triples = {tuple(polynomial(z, list(c), prime) for z in points) for c in polynomials}
        assert len(triples) == prime**3


@pytest.mark.theorem("PublicHash.accuracy")
@pytest.mark.parametrize("span", [1, 2, 3, 64, 1000, 3280, 65_537])
def test_the_probability_of_a_collision_is_exact(span: int) -> None:
    starts = [-(-bucket * 2**31 // span) for bucket in range(span)] + [PRIME]
    sizes = np.diff(starts).tolist()
    agree = Fraction(2**31 + 2, 2**62)
    exact = agree + (1 - agree) * Fraction(sum(size * size for size in sizes), PRIME**2)
    collision = PublicHash(seed=1, rows=1, range=span, words=2).collision
    assert collision == exact
    assert abs(collision - Fraction(1, span)) <= Fraction(1, 2**28)
    least = 2**31 // span
    assert set(sizes[:-1]) <= {least, least + 1}
    assert sizes[-1] == least - 1


@pytest.mark.theorem("PublicHash.accuracy")
@pytest.mark.parametrize("step", [1, 2, 1 << 16, 1 << 30])
def test_neighbors_meet_a_key_as_often_as_they_should_and_one_by_one(step: int) -> None:
    """With a fixed seed nothing is random here; 6 standard deviations of what uniform constants would do."""
    rows, span = 20_000, 20
    keys = np.array([[7, 0], [7, step], [7, 2 * step], [7 + step, 0]], dtype=np.uint32)
    buckets = PublicHash(seed=11, rows=rows, range=span, words=2).buckets(keys)
    meets = buckets[1:] == buckets[0]
    chance = 1 / span
    assert np.all(np.abs(meets.mean(axis=1) - chance) < 6 * np.sqrt(chance * (1 - chance) / rows))
    for first, second in itertools.combinations(meets, 2):
        assert abs((first & second).mean() - chance**2) < 6 * np.sqrt(chance**2 / rows)


def test_every_bucket_is_used_evenly() -> None:
    public = PublicHash(seed=5, rows=2, range=100, words=2)
    keys = np.zeros((100_000, 2), dtype=np.uint32)
    keys[:, 1] = np.arange(100_000)
    for row in public.buckets(keys).T:
        counts = np.bincount(row, minlength=100)
        assert counts.size == 100
        assert np.all(np.abs(counts - 1000) < 600)


def test_rows_seeds_and_purposes_hash_differently() -> None:
    keys = some_keys(1000)
    made = [
        PublicHash(seed=seed, rows=2, range=1 << 20, words=2, purpose=purpose).buckets(keys)
        for seed, purpose in ((1, 0), (1, 1), (2, 0))
    ]
    columns = [column for buckets in made for column in buckets.T]
    assert all(np.mean(one == other) < 0.01 for one, other in itertools.combinations(columns, 2))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": -1},
        {"seed": 2**256},
        {"seed": True},
        {"seed": "1"},
        {"rows": 0},
        {"rows": 2**16 + 1},
        {"range": 0},
        {"range": 2**31},
        {"words": 3},
        {"words": 0},
        {"purpose": -1},
        {"purpose": 2**32},
        {"rows": 2.0},
    ],
)
def test_parameters_out_of_range_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        PublicHash(**{"seed": 1, "rows": 2, "range": 10, "words": 2, **change})  # type: ignore[arg-type]


def test_keys_rows_and_tables_of_another_shape_are_refused() -> None:
    public = PublicHash(seed=1, rows=2, range=10, words=2)
    keys = np.array([[123_456_789, 5]], dtype=np.uint32)
    for wrong in (keys.astype(np.int64), keys[:, :1], keys[0], keys.tolist()):
        with pytest.raises(InputError) as refused:
            public.buckets(wrong)  # type: ignore[arg-type]
        assert "123" not in str(refused.value)
    for rows in ([2], [-1], [0, 0]):
        with pytest.raises(InputError):
            public.bucket(keys, np.array(rows))
    with pytest.raises(InputError):
        public.gathered(keys, np.zeros((2, 9), dtype=np.int64))
    assert public.buckets(keys[:0]).shape == (0, 2)


@pytest.mark.theorem("Scramble.accuracy")
@pytest.mark.parametrize("plain", [False, pytest.param(True, marks=pytest.mark.needs("numba"))])
@pytest.mark.parametrize("bits", [8, 9, 10, 11, 12, 13, 14, 15, 16])
def test_scrambling_moves_every_small_number_to_a_place_of_its_own(
    bits: int, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scramble, everything = Scramble(seed=4, bits=bits), np.arange(1 << bits, dtype=np.uint64)
    compiled = scramble.forward(everything)
    if plain:
        monkeypatch.setattr(hashing, "available", lambda: False)
        assert np.array_equal(scramble.forward(everything), compiled)
    assert np.array_equal(np.sort(compiled), everything)
    assert np.array_equal(scramble.backward(compiled), everything)


@pytest.mark.theorem("Scramble.accuracy")
@given(st.integers(8, 64), st.lists(st.integers(0, 2**64 - 1), max_size=5), st.integers(0, 2**256 - 1))
def test_scrambling_is_undone_at_any_width(bits: int, numbers: list[int], seed: int) -> None:
    scramble = Scramble(seed=seed, bits=bits)
    before = np.array([number >> (64 - bits) for number in numbers], dtype=np.uint64)
    after = scramble.forward(before)
    assert all(number < 1 << bits for number in after.tolist())
    assert np.array_equal(scramble.backward(after), before)


@pytest.mark.parametrize("bits", [16, 48, 64])
def test_the_prefixes_of_neighbors_scatter(bits: int) -> None:
    close = np.arange(25_600 if bits > 16 else 1 << 16, dtype=np.uint64)
    counts = np.bincount((Scramble(seed=6, bits=bits).forward(close) >> np.uint64(bits - 8)).astype(np.int64))
    assert counts.size == 256
    assert np.all(np.abs(counts - close.size / 256) <= 7 * np.sqrt(close.size / 256))


def test_numbers_that_cannot_be_scrambled_are_refused() -> None:
    scramble = Scramble(seed=1, bits=12)
    for wrong in (np.array([4096], dtype=np.uint64), np.array([7]), [7], np.zeros((1, 1), dtype=np.uint64)):
        with pytest.raises(InputError):
            scramble.forward(wrong)  # type: ignore[arg-type]
    for bits in (7, 65, True):
        with pytest.raises(ParameterError):
            Scramble(seed=1, bits=bits)
    assert scramble.forward(np.zeros(0, dtype=np.uint64)).size == 0
