"""Words are AES-256-CTR keystream under keys that nobody keeps, and no two takers get the same one."""

from __future__ import annotations

import gc
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import ParameterError
from discreet.randomness import bits, keystream, word, words
from discreet.randomness.reservoir import discard_all
from tests.chances import ALARM
from tests.randomness.sources import WORD, Constant, Numbered, Script, in_child, in_stock, swapped


@pytest.fixture
def keys(monkeypatch):
    """Every key the operating system hands out during the test."""
    given_out = []
    original = os.urandom

    def recorded(size):
        given_out.append(original(size))
        return given_out[-1]

    keystream._small_requests.discard()
    keystream._single_words.discard()
    monkeypatch.setattr(os, "urandom", recorded)
    return given_out


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_every_block_has_its_own_256_bit_key(keys, blocks):
    words(blocks * keystream.BLOCK_WORDS)
    assert [len(key) for key in keys] == [32] * blocks
    assert len(set(keys)) == blocks


def test_a_block_that_is_not_full_has_its_own_key_too(keys):
    words(keystream.BLOCK_WORDS + 1)
    assert len(keys) == 2


def test_words_are_the_aes_256_counter_keystream_of_their_key(keys):
    drawn = words(1000).tobytes()
    encryptor = Cipher(AES(keys[0]), ECB()).encryptor()  # noqa: S305  the counter mode, spelled out block by block
    expected = b"".join(encryptor.update(counter.to_bytes(16, "big")) for counter in range(500))
    assert drawn == expected


def test_no_key_outlives_its_block(keys):
    words(3 * keystream.BLOCK_WORDS)
    words(5)
    word()
    assert keys
    for index in range(len(keys)):
        holders = [holder for holder in gc.get_referrers(keys[index]) if holder is not keys]
        assert holders == []


def test_the_module_keeps_no_cipher_and_no_bytes_but_zeros():
    words(100)
    word()
    kept = vars(keystream).values()
    assert not [value for value in kept if type(value).__module__.startswith("cryptography.hazmat.bindings")]
    for value in kept:
        if isinstance(value, bytes | bytearray | memoryview):
            assert not any(bytes(value))


def test_words_handed_out_are_no_longer_in_stock():
    discard_all()  # how much other tests left in stock is not known
    taken = [word() for _ in range(300)]
    assert in_stock(keystream._single_words)
    assert not set(taken) & {int(value) for value in in_stock(keystream._single_words)}
    small = words(8).tobytes()
    assert in_stock(keystream._small_requests)
    assert not any(small in chunk for chunk in in_stock(keystream._small_requests))


def test_blocks_differ():
    drawn = words(8 * keystream.BLOCK_WORDS).reshape(8, -1)
    assert len({block.tobytes() for block in drawn}) == 8
    assert np.unique(drawn).size == drawn.size  # a repeat has probability below 2^-29


@pytest.mark.parametrize("count", [1, 7, 63, 64, 65, 128, keystream.BLOCK_WORDS, keystream.BLOCK_WORDS + 1])
def test_as_many_words_as_asked(count):
    drawn = words(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.uint64


def test_no_words_when_none_are_asked():
    assert words(0).size == 0


@pytest.mark.parametrize("count", [-1, -5, -64])
def test_a_negative_number_of_words_is_refused(count):
    with pytest.raises(ParameterError):
        words(count)


@pytest.mark.parametrize("count", [-1, -64, -100])
def test_a_negative_number_of_bits_is_refused(count):
    with pytest.raises(ParameterError):
        bits(count)


@pytest.mark.parametrize("draw", [words, lambda n: np.array([word() for _ in range(n)], dtype=np.uint64)])
def test_every_byte_and_every_bit_is_uniform(draw, rounds):
    drawn = draw(rounds(sample=50_000, full=2_000_000))
    for position in range(8):  # 2 draws x (8 bytes + 64 bits): Bonferroni over 144 comparisons
        counts = np.bincount(drawn.view(np.uint8)[position::8], minlength=256)
        assert chisquare(counts).pvalue > ALARM / 144
    for position in range(64):
        ones = int(((drawn >> np.uint64(position)) & np.uint64(1)).sum())
        assert chisquare([ones, drawn.size - ones]).pvalue > ALARM / 144


def test_neighboring_words_are_uncorrelated():
    drawn = words(200_000).astype(np.float64) / WORD - 0.5
    for lag in (1, 2, 63, 64):
        statistic = 12 * np.mean(drawn[lag:] * drawn[:-lag]) * np.sqrt(drawn.size - lag)
        assert abs(statistic) < 6.5  # 1e-10 for a normal, 4 comparisons


@given(st.integers(0, 400), st.integers(0, WORD - 1))
def test_bits_are_the_top_bits_of_successive_words(count, pattern):
    with swapped(Constant(pattern)):
        drawn = bits(count)
    full, rest = divmod(count, 64)
    expected = int.from_bytes(pattern.to_bytes(8, "big") * (full + 1), "big") >> (64 - rest)
    assert drawn == expected


def test_bits_reads_words_in_the_order_in_which_they_come():
    with swapped(Script([1, 2, 1 << 63])):
        assert bits(129) == (1 << 65) | (2 << 1) | 1


def test_the_private_hook_drops_every_word_on_the_way_in_and_out():
    word()
    words(3)
    with swapped(Constant(7)):
        assert word() == 7
        assert words(3).tolist() == [7, 7, 7]
        assert in_stock(keystream._single_words)
    assert in_stock(keystream._single_words) == []
    assert in_stock(keystream._small_requests) == []
    assert {word() for _ in range(20)} != {7}


def test_the_private_hook_is_taken_back_after_an_error():
    with pytest.raises(KeyError), swapped(Script([])):
        raise KeyError
    assert keystream._fill_block is keystream._operating_system_block


def test_a_child_process_shares_no_word_with_its_parent():
    discard_all()
    word()
    words(3)
    assert len(in_stock(keystream._single_words)) > 100
    child = in_child(lambda: ([word() for _ in range(500)], words(64).tolist()))
    mine = [word() for _ in range(500)] + words(64).tolist()
    assert child is not None
    assert not set(child[0]) & set(mine)
    assert not set(child[1]) & set(mine)


def test_a_child_process_starts_with_empty_stocks():
    word()
    words(3)
    assert in_child(lambda: (in_stock(keystream._single_words), in_stock(keystream._small_requests))) == ([], [])


def test_two_children_share_no_word():
    word()
    first, second = (in_child(lambda: [word() for _ in range(500)]) for _ in range(2))
    assert not set(first) & set(second)


def test_eight_threads_never_get_the_same_word():
    start = threading.Barrier(8)

    def draw(_):
        start.wait()
        return [word() for _ in range(100_000)]

    with swapped(Numbered()), ThreadPoolExecutor(8) as pool:
        drawn = [value for part in pool.map(draw, range(8)) for value in part]
    assert len(set(drawn)) == 800_000


def test_eight_threads_never_get_the_same_small_request():
    start = threading.Barrier(8)

    def draw(_):
        start.wait()
        return [words(2).tobytes() for _ in range(5_000)]

    with swapped(Numbered()), ThreadPoolExecutor(8) as pool:
        drawn = [value for part in pool.map(draw, range(8)) for value in part]
    assert len(set(drawn)) == 40_000


def test_a_signal_handler_in_the_middle_of_a_call_gets_words_of_its_own():
    interrupted = []

    def handler(*_):
        interrupted.extend(word() for _ in range(40))
        interrupted.extend(words(4).tolist())

    drawn = []
    with swapped(Numbered()):
        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
        try:
            while len(interrupted) < 20_000 and len(drawn) < 5_000_000:
                drawn.append(word())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
    assert len(interrupted) >= 1_000  # fewer than asked for where the machine's timer is coarse
    together = drawn + interrupted
    assert len(set(together)) == len(together)
