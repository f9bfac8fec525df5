"""Keys become words and come back; what is no key is refused and never shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError
from discreet.local import BytesKeys, IntegerKeys, Keys, TextKeys

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
PRIVATE = "motherhood"


class Hostile:
    """An object that does harm when it is asked for an array."""

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError(PRIVATE)


@pytest.mark.theorem("IntegerKeys.accuracy")
@given(st.integers(1, 256), st.data())
def test_numbers_of_any_width_come_back(size: int, data: st.DataObject) -> None:
    kind = IntegerKeys(size)
    numbers = data.draw(st.lists(st.integers(0, 2**size - 1), max_size=4, unique=True))
    words = kind.encode(numbers)
    assert words.dtype == np.uint32
    assert words.shape == (len(numbers), kind.words)
    assert kind.words % 2 == 0
    assert [int(number) for number in kind.decode(words)] == numbers
    assert len({tuple(row) for row in words.tolist()}) == len(numbers)


@pytest.mark.theorem("IntegerKeys.accuracy")
@pytest.mark.parametrize("size", [1, 31, 32, 33, 48, 63, 64])
def test_arrays_and_lists_of_numbers_have_the_same_words(size: int) -> None:
    numbers = sorted({0, 1, 2**size // 2, 2**size - 1})
    wide = np.array(numbers, dtype=np.uint64)
    assert np.array_equal(IntegerKeys(size).encode(wide), IntegerKeys(size).encode(numbers))
    if size < 64:
        assert np.array_equal(IntegerKeys(size).encode(wide.astype(np.int64)), IntegerKeys(size).encode(numbers))
    assert np.array_equal(IntegerKeys(size).encode(np.array(numbers, dtype=object)), IntegerKeys(size).encode(wide))


@pytest.mark.parametrize("size", [1, 20, 33, 64, 65, 100, 256])
def test_the_first_bits_of_the_words_are_the_prefix_of_a_number(size: int) -> None:
    number = (1 << size) - 1 - (1 << size) // 3
    (row,) = IntegerKeys(size).encode([number])
    assert "".join(f"{word:032b}" for word in row)[:size] == f"{number:0{size}b}"
    assert "1" not in "".join(f"{word:032b}" for word in row)[size:]


@pytest.mark.theorem("TextKeys.accuracy")
@given(st.lists(TEXTS, max_size=5, unique=True))
def test_texts_come_back(texts: list[str]) -> None:
    kind = TextKeys(24)
    words = kind.encode(texts)
    assert kind.decode(words) == texts
    assert len({tuple(row) for row in words.tolist()}) == len(texts)
    assert [row.tobytes() for row in words.astype(">u4")] == [text.encode().ljust(24, b"\0") for text in texts]


@pytest.mark.theorem("TextKeys.accuracy")
def test_texts_in_lists_and_arrays_have_the_same_words() -> None:
    texts, kind = ["", "a", "süd", "日本", "ab" * 6], TextKeys(12)
    wanted = kind.encode(texts)
    for other in (tuple(texts), np.array(texts), np.array(texts, dtype=object), np.array([t.encode() for t in texts])):
        assert np.array_equal(kind.encode(other), wanted)
    assert kind.words == 4


def test_numpy_drops_a_nul_at_the_end_before_it_can_be_refused() -> None:
    kind = TextKeys(4)
    for dropped in (np.array(["a\0"]), np.array([b"a\0"])):
        assert kind.decode(kind.encode(dropped)) == ["a"]
    refused_silently(kind, np.array(["a\0"], dtype=object))
    refused_silently(BytesKeys(2), np.array([b"a\0"]))
    assert BytesKeys(2).decode(BytesKeys(2).encode(np.array([b"a\0"], dtype=object))) == [b"a\0"]


@pytest.mark.parametrize("text", ["", "\ufeff", "\ufeffa", "\U0001f600\U0010ffff", "e\u0301", "\x01\x7f", "\u200f"])
def test_texts_are_taken_as_they_are(text: str) -> None:
    assert TextKeys(8).decode(TextKeys(8).encode([text])) == [text]


def test_a_text_that_plays_tricks_is_read_as_a_text() -> None:
    class Talkative(str):
        def encode(self, *_: object) -> bytes:
            raise RuntimeError(self)

    assert TextKeys(12).decode(TextKeys(12).encode([Talkative(PRIVATE)])) == [PRIVATE]


def test_lists_may_mix_integers_of_all_types() -> None:
    numbers = [np.int8(5), 2**63, np.uint64(2**64 - 1), 0, np.uint8(255)]
    for size in (64, 100):
        assert [int(number) for number in IntegerKeys(size).decode(IntegerKeys(size).encode(numbers))] == numbers
        assert np.array_equal(IntegerKeys(size).encode(range(3)), IntegerKeys(size).encode([0, 1, 2]))
    big = np.array([1, 2**63 - 1], dtype=">u8")
    assert IntegerKeys(64).decode(IntegerKeys(64).encode(big)).tolist() == [1, 2**63 - 1]


def test_a_kind_keeps_its_name_when_others_are_derived_from_it() -> None:
    class Longer(TextKeys):
        """A kind without a name of its own."""

    class Impostor(TextKeys):
        """A kind with the name of another."""

        name = "text"

    assert not {type(Keys.from_text("text:5"))} & {Longer, Impostor}


def test_spellings_of_one_word_stay_two_keys() -> None:
    one, other = TextKeys(8).encode(["\u00e9", "e\u0301"]).tolist()
    assert one != other


@given(st.lists(st.binary(min_size=5, max_size=5), max_size=5))
def test_bytes_come_back_with_their_zeros(rows: list[bytes]) -> None:
    assert BytesKeys(5).decode(BytesKeys(5).encode(rows)) == rows


@pytest.mark.parametrize("kind", [IntegerKeys(20), IntegerKeys(100), TextKeys(3), BytesKeys(3)], ids=str)
def test_no_keys_are_no_words(kind: Keys) -> None:
    words = kind.encode([])
    assert words.shape == (0, kind.words)
    assert len(kind.decode(words)) == 0
    assert kind.legal(words).shape == (0,)


NO_NUMBERS = [
    [-987_654_321],
    [-987_654_321, 5],
    np.array([5, -987_654_321]),
    [2**40 + 987_654_321],
    [True],
    [1.0],
    ["987654321"],
    [None],
    [[1]],
    987_654_321,
    "987654321",
    np.array([-987_654_321]),
    np.array([2**40 + 987_654_321]),
    np.array([1.0]),
    np.array([True]),
    np.array([[1]]),
    np.ma.MaskedArray([1], mask=[False]),
    Hostile(),
    [Hostile()],
    [2**300],
]


@pytest.mark.parametrize("values", NO_NUMBERS, ids=lambda values: type(values).__name__)
@pytest.mark.parametrize("size", [40, 39])
def test_what_is_no_number_of_that_width_is_refused_without_a_trace(values: Any, size: int) -> None:
    refused_silently(IntegerKeys(size), values)


def test_wide_numbers_are_refused_the_same_way() -> None:
    for values in ([-1], [5, -1], [2**100], [2**100, 5], [True], [1.5], np.array([-1])):
        refused_silently(IntegerKeys(100), values)


NO_TEXTS = [
    [PRIVATE + "\0"],
    [PRIVATE, "\ud800"],
    [PRIVATE * 2],
    [PRIVATE + "xyz"],
    ["日本日本日"],
    [PRIVATE.encode()],
    [7],
    [None],
    PRIVATE,
    PRIVATE.encode(),
    np.array([[PRIVATE]]),
    np.array([1]),
    np.array([b"\xff\xfe"]),
    np.array([b"a\0b"]),
    Hostile(),
    [Hostile()],
]


@pytest.mark.parametrize("values", NO_TEXTS, ids=lambda values: type(values).__name__)
def test_what_is_no_text_of_that_length_is_refused_without_a_trace(values: Any) -> None:
    refused_silently(TextKeys(12), values)


def test_what_are_no_bytes_of_that_length_is_refused_without_a_trace() -> None:
    for values in ([PRIVATE.encode()], [PRIVATE], np.array([b"abc"]), [b"ab"], [bytearray(3)], b"abc", Hostile()):
        refused_silently(BytesKeys(3), values)


def refused_silently(kind: Keys, values: Any) -> None:
    """A refusal shows nothing of the value, not in its words and not in what it is chained to."""
    with pytest.raises(InputError) as refused:
        kind.encode(values)
    assert refused.value.__context__ is None
    assert refused.value.__cause__ is None
    assert PRIVATE not in str(refused.value)
    assert "987" not in str(refused.value)


def test_words_that_stand_for_no_key_are_told_apart() -> None:
    rows = np.array([[0x61620000, 0], [0x61006200, 0], [0xFF000000, 0], [0, 1], [0, 0]], dtype=np.uint32)
    assert TextKeys(3).legal(rows).tolist() == [True, False, False, False, True]
    assert IntegerKeys(5).legal(np.array([[1, 0], [1 << 27, 0], [0, 1]], dtype=np.uint32)).tolist() == [
        False,
        True,
        False,
    ]
    assert IntegerKeys(64).legal(rows).all()
    with pytest.raises(InputError):
        TextKeys(3).decode(rows)
    for wrong in (rows.astype(np.int64), rows[0], rows[:, :1], rows.tolist()):
        with pytest.raises(InputError):
            IntegerKeys(64).decode(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [IntegerKeys(1), IntegerKeys(256), TextKeys(1024), BytesKeys(16)], ids=str)
def test_a_kind_is_written_into_a_spec_and_read_back(kind: Keys) -> None:
    assert Keys.from_text(kind.to_text()) == kind
    assert Keys.from_text(kind.to_text()).words == kind.words


HOSTILE_KINDS = [
    "",
    "text",
    "text:",
    "text:0",
    "text:01",
    "text:-1",
    "text:1025",
    "integer:257",
    "integer:٣",
    "padded:3",
]


@pytest.mark.parametrize(
    "text", [*HOSTILE_KINDS, "text:99999999999", "TEXT:3", "text:3 ", "text:3:4", None, 3, b"text:3"]
)
def test_other_texts_name_no_kind(text: object) -> None:
    with pytest.raises(ParameterError):
        Keys.from_text(text)


@pytest.mark.parametrize("size", [0, -1, 257, 1.0, True, "8", None])
def test_sizes_out_of_range_are_refused(size: Any) -> None:
    with pytest.raises(ParameterError):
        IntegerKeys(size)
