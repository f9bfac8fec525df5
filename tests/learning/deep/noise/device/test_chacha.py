"""The keystream is ChaCha20 bit for bit, and no key, counter or word comes twice."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import AssumptionFailed, ParameterError  # noqa: E402  torch comes first
from discreet.learning.deep.noise.device import chacha  # noqa: E402
from tests.chances import ALARM  # noqa: E402
from tests.randomness.sources import Stream, in_child, swapped  # noqa: E402

COUNTING = bytes(range(32))
# RFC 8439: the block of 2.3.2, and the test vectors 1, 2 and 5 of its appendix A.1
PUBLISHED = [
    (
        COUNTING,
        "000000090000004a00000000",
        1,
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    (
        bytes(32),
        "00" * 12,
        0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    (
        bytes(32),
        "00" * 12,
        1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    (
        bytes(32),
        "000000000000000000000002",
        0,
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
]


@pytest.mark.parametrize(("key", "nonce", "counter", "block"), PUBLISHED)
def test_the_published_blocks_are_reproduced(key, nonce, counter, block):
    assert chacha.blocks(key, counter, 1, "cpu", bytes.fromhex(nonce)).numpy().tobytes().hex() == block
    assert chacha.reference(key, counter, 1, bytes.fromhex(nonce)).tobytes().hex() == block


def test_many_blocks_equal_those_of_another_implementation(rounds):
    random = np.random.default_rng()
    for _ in range(rounds(sample=10, full=1_000)):
        key, nonce = random.bytes(32), random.bytes(12)
        first, count = int(random.integers(0, (1 << 31) - 300)), int(random.integers(1, 300))
        found = chacha.blocks(key, first, count, "cpu", nonce).numpy()
        assert np.array_equal(found, chacha.reference(key, first, count, nonce))
    last = chacha.blocks(COUNTING, (1 << 31) - 2, 2)
    assert np.array_equal(last.numpy(), chacha.reference(COUNTING, (1 << 31) - 2, 2))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1_000, 8 * (1 << 14) + 3])
def test_a_stream_is_the_blocks_in_order(count):
    words = chacha._stream(COUNTING, count, torch.device("cpu"))
    wanted = chacha.reference(COUNTING, 0, -(-count // 8)).reshape(-1).view(np.int64)[:count] if count else []
    assert words.tolist() == list(wanted)


def test_every_call_takes_a_new_key(monkeypatch):
    taken = []
    real = chacha.new_key
    monkeypatch.setattr(chacha, "new_key", lambda: taken.append(real()) or taken[-1])
    chacha.keystream(1)
    taken.clear()
    for _ in range(50):
        chacha.keystream(3)
    assert len(set(taken)) == 50
    assert {len(key) for key in taken} == {32}


def test_keys_come_from_the_one_source_of_randomness():
    chacha.keystream(1)  # the comparison at the first use draws too
    with swapped(Stream("a")):
        first = chacha.keystream(5).tolist()
    with swapped(Stream("a")):
        assert chacha.keystream(5).tolist() == first
    with swapped(Stream("b")):
        assert chacha.keystream(5).tolist() != first


def test_a_fork_shares_no_words():
    chacha.keystream(8)
    childs = in_child(lambda: [chacha.keystream(8).tolist() for _ in range(3)])
    own = [chacha.keystream(8).tolist() for _ in range(3)]
    flat = [word for words in (*childs, *own) for word in words]
    assert len(set(flat)) == 48  # a tie among 48 words of 64 bits has a chance of 2^-53


def test_bits_are_even(rounds):
    count = rounds(sample=20_000, full=1_000_000)
    bits = np.unpackbits(chacha.keystream(count).numpy().view(np.uint8).reshape(count, 8), axis=1)
    # 64 frequencies, each off by more than t deviations with a chance of 2 exp(-t^2 / 2): 128 exp(-t^2/2) = 1e-9
    deviations = np.abs(bits.mean(axis=0) - 0.5) * 2 * count**0.5
    assert deviations.max() < (2 * np.log(128 / ALARM)) ** 0.5


def test_a_device_whose_integers_do_not_wrap_is_found(monkeypatch):
    monkeypatch.setattr(chacha, "_trusted", set())
    monkeypatch.setattr(chacha, "_turned", lambda word, bits: (word << bits) | (word >> (32 - bits)))
    with pytest.raises(AssumptionFailed, match="Nothing was sampled"):
        chacha.keystream(1)
    assert chacha._trusted == set()


def test_a_device_is_compared_once(monkeypatch):
    monkeypatch.setattr(chacha, "_trusted", set())
    asked = []
    real = chacha.reference
    monkeypatch.setattr(chacha, "reference", lambda *given: asked.append(given) or real(*given))
    chacha.keystream(1)
    chacha.keystream(1)
    assert len(asked) == 1
    assert chacha._trusted == {"cpu"}


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, (1 << 31) + 1), ((1 << 31) - 1, 2)])
def test_a_counter_never_runs_over(first, count):
    with pytest.raises(ParameterError, match="2\\^31 blocks"):
        chacha.blocks(COUNTING, first, count)
