"""Keys that nobody can list (numbers, texts, bytes) as fixed rows of 32-bit words, and back.

A key is a string of bits, the most significant first, left-aligned in an even number of words: the first bits of word 0
are its prefix. Texts are compared byte by byte in UTF-8 and are not normalized: two spellings of one word are two keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.local.protocol import is_integer, one_entry_each, whole_within

Words = NDArray[np.uint32]
_KINDS: dict[str, type[Keys]] = {}
_MOST_BITS = 256
_MOST_BYTES = 1 << 10


@dataclass(frozen=True)
class Keys(ABC):
    """A kind of keys with their public length: the bits of a number, the bytes of a text."""

    length: int
    name: ClassVar[str]
    most: ClassVar[int]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "name" in cls.__dict__:
            _KINDS.setdefault(cls.name, cls)

    def __post_init__(self) -> None:
        length = whole_within(self.length, 1, self.most, name="length")
        object.__setattr__(self, "length", length)

    @property
    @abstractmethod
    def bits(self) -> int:
        """The number of bits of a key."""

    @abstractmethod
    def _raw(self, values: Any) -> NDArray[np.uint8] | None:
        """Return the keys as left-aligned bytes of shape (keys, 4 words); None if any of them is not a key."""

    @abstractmethod
    def _values(self, raw: NDArray[np.uint8]) -> Any:
        """Return the keys that legal bytes stand for."""

    @abstractmethod
    def _refusal(self) -> str:
        """Say what a key is."""

    @property
    def words(self) -> int:
        """The number of 32-bit words of a key, always even."""
        return 2 * -(-self.bits // 64)

    def encode(self, values: Any) -> Words:
        """Return keys as uint32 of shape (keys, words); raise InputError on anything else, without showing it."""
        raw = self._raw(values)
        if raw is None:  # raised here, outside any handler: nothing that could carry the value is chained
            raise InputError(f"{self._refusal()}; nothing was used")
        return np.ascontiguousarray(raw).view(">u4").astype(np.uint32)

    def decode(self, words: Words) -> Any:
        """Return the keys that words stand for; raise InputError if some words stand for no key."""
        if not bool(self.legal(words).all()):
            raise InputError("these words stand for no key; `legal` says which do")
        return self._values(self._bytes(words))

    def legal(self, words: Words) -> NDArray[np.bool_]:
        """Say which rows of words stand for a key: the bits behind the last one are zero."""
        unused = [(1 << min(max(32 * (word + 1) - self.bits, 0), 32)) - 1 for word in range(self.words)]
        behind = self._checked(words) & np.array(unused, dtype=np.uint32)
        return np.asarray(~behind.any(axis=1))

    def _checked(self, words: Words) -> Words:
        """Raise InputError on words of another shape."""
        if not isinstance(words, np.ndarray) or words.dtype != np.uint32 or words.shape[1:] != (self.words,):
            raise InputError(f"words must be uint32 of shape (keys, {self.words})")
        return words

    def _bytes(self, words: Words) -> NDArray[np.uint8]:
        """Return words as bytes, the most significant first."""
        return np.ascontiguousarray(self._checked(words).astype(">u4")).view(np.uint8)

    def to_text(self) -> str:
        """Return the kind for a spec, such as 'integer:64'."""
        return f"{self.name}:{self.length}"

    @staticmethod
    def from_text(text: object) -> Keys:
        """Read a kind.

        >>> Keys.from_text("integer:64")
        IntegerKeys(length=64)
        """
        name, _, length = text.partition(":") if isinstance(text, str) else ("", "", "")
        digits = length.isascii() and length.isdigit() and len(length) <= 4
        if name not in _KINDS or not (digits and str(int(length)) == length):
            known = ", ".join(f"'{kind}:LENGTH'" for kind in sorted(_KINDS))
            raise ParameterError(f"keys must be one of {known}", parameter="keys")
        return _KINDS[name](int(length))


class IntegerKeys(Keys):
    """Numbers of at most `length` bits, from 1 to 256: arrays of integers up to 64 bits, lists of ints beyond.

    Accuracy. `decode` undoes `encode`, and different keys have different words.
        Proof: the words are the number times a power of two, written in base 2^32.

    >>> IntegerKeys(48).encode([1, 2**48 - 1])
    array([[         0,      65536],
           [4294967295, 4294901760]], dtype=uint32)
    """

    name = "integer"
    most = _MOST_BITS

    @property
    def bits(self) -> int:
        """The number of bits."""
        return self.length

    def _raw(self, values: Any) -> NDArray[np.uint8] | None:
        numbers = _listed(values)
        if isinstance(numbers, np.ndarray):
            if numbers.dtype.kind not in "iu":
                return None
        elif numbers is None or not all(map(is_integer, numbers)):
            return None
        if not _within(numbers, self.length):
            return None
        width, shift = 4 * self.words, 32 * self.words - self.length
        if self.length > 64:
            joined = b"".join((int(number) << shift).to_bytes(width, "big") for number in numbers)
            return np.frombuffer(joined, dtype=np.uint8).reshape(-1, width)
        wide = np.asarray(numbers, dtype=np.uint64) << np.uint64(shift)
        return wide.astype(">u8").view(np.uint8).reshape(-1, width)

    def _values(self, raw: NDArray[np.uint8]) -> Any:
        shift = 8 * raw.shape[1] - self.length
        if self.length > 64:
            return [int.from_bytes(row.tobytes(), "big") >> shift for row in raw]
        return raw.view(">u8").ravel().astype(np.uint64) >> np.uint64(shift)

    def _refusal(self) -> str:
        return f"a key must be an int from 0 to 2^{self.length} - 1"


class _ByteKeys(Keys):
    """Keys that are bytes, zero-padded."""

    most = _MOST_BYTES

    @property
    def bits(self) -> int:
        """Eight for each byte."""
        return 8 * self.length

    def _padded(self, rows: list[bytes]) -> NDArray[np.uint8]:
        """Return rows padded with zeros to whole pairs of words."""
        width = 4 * self.words
        return np.array(rows, dtype=f"S{width}").view(np.uint8).reshape(len(rows), width)


class TextKeys(_ByteKeys):
    """Texts of at most `length` bytes in UTF-8, the empty one included; no NUL, no lone surrogates, no normalization.

    Arrays of bytes are read as UTF-8. Arrays of numpy's own fixed-width texts and bytes have lost a NUL at the end
    before they come here; in lists it is refused.

    Accuracy. `decode` undoes `encode`, and different texts have different words.
        Proof: UTF-8 is one-to-one, and its zero padding is told from the text because a text has no NUL.

    >>> TextKeys(12).decode(TextKeys(12).encode(["north", "süd", ""]))
    ['north', 'süd', '']
    """

    name = "text"

    def _raw(self, values: Any) -> NDArray[np.uint8] | None:
        texts = _listed(values)
        if isinstance(texts, np.ndarray):
            kind, texts = texts.dtype.kind, texts.tolist()
            texts = _utf8(texts) if kind == "S" else texts if kind in "UT" or not texts else None
        if texts is None or not all(isinstance(text, str) for text in texts):
            return None
        try:
            rows = [str.encode(text, "utf-8") for text in texts]
        except UnicodeEncodeError:
            return None
        if any(b"\0" in row or len(row) > self.length for row in rows):
            return None
        return self._padded(rows)

    def legal(self, words: Words) -> NDArray[np.bool_]:
        """Say which rows of words stand for a text: valid UTF-8, then zeros only."""
        rows = [row.tobytes().rstrip(b"\0") for row in self._bytes(words)]
        return np.array(
            [b"\0" not in row and len(row) <= self.length and _utf8([row]) is not None for row in rows], bool
        )

    def _values(self, raw: NDArray[np.uint8]) -> Any:
        return [row.tobytes().rstrip(b"\0").decode("utf-8") for row in raw]

    def _refusal(self) -> str:
        return f"a key must be a text of at most {self.length} bytes in UTF-8, without NUL or lone surrogates"


class BytesKeys(_ByteKeys):
    """Rows of exactly `length` bytes, of any value: identifiers, digests.

    >>> BytesKeys(3).decode(BytesKeys(3).encode([b"abc", bytes(3)]))[0]
    b'abc'
    """

    name = "bytes"

    def _raw(self, values: Any) -> NDArray[np.uint8] | None:
        rows = _listed(values)
        if isinstance(rows, np.ndarray) or rows is None:  # numpy cuts trailing zeros off its byte strings
            return None
        if not all(isinstance(row, bytes) and len(row) == self.length for row in rows):
            return None
        return self._padded(rows)

    def _values(self, raw: NDArray[np.uint8]) -> Any:
        return [row[: self.length].tobytes() for row in raw]

    def _refusal(self) -> str:
        return f"a key must be a bytes object of exactly {self.length} bytes, given in a list"


def _listed(values: Any) -> Any:
    """Return a list of objects or a one-dimensional array, None for anything else."""
    column = one_entry_each(values)
    if isinstance(column, np.ma.MaskedArray):
        return None
    if not isinstance(column, np.ndarray):
        return column
    array = np.asarray(column)  # kinds of arrays of their own may read their entries in other ways
    return array.tolist() if array.dtype.kind == "O" else array


def _within(numbers: Any, bits: int) -> bool:
    """Say whether all integers of a list or an array have at most `bits` bits and no sign."""
    if not len(numbers):
        return True
    least, most = (numbers.min(), numbers.max()) if isinstance(numbers, np.ndarray) else (min(numbers), max(numbers))
    return int(least) >= 0 and int(most) >> bits == 0


def _utf8(rows: list[bytes]) -> list[str] | None:
    """Read UTF-8, or return None."""
    try:
        return [row.decode("utf-8") for row in rows]
    except UnicodeDecodeError:
        return None
