"""Features of texts by public hashes: every word has a column and a sign that nobody chose, and no word list is learnt.

The place of a word is read from BLAKE2b(word in UTF-8), keyed by the public seed: 8 bytes, little-endian, of which the
lowest bit is the sign and the others, modulo the number of columns, are the column.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import as_stated
from discreet.errors import InputError, ParameterError
from discreet.learning.base import whole_number

MOST_COLUMNS = 1 << 20
CONSTANT = 0.1  # the last column, before rows are scaled: it takes the place of an intercept
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_MOST_KEPT = 1 << 20  # words whose places are remembered

# words of English that say how a sentence is built rather than what it is about; denials are not among them
_ENGLISH = """
a about above after again against all also although always am among an and another any anybody are aren't as at
back be because been before being below between both but by can could did do does doing done down during each
either else every few first for from further get gets give go goes going gone got had hadn't has hasn't have
haven't having he he'd he'll he's her here hers herself him himself his how however i i'd i'll i'm i've if in
into is it it's its itself last let made make makes many may me might mine must my myself now of off often on
once one onto or other others our ours ourselves out over own please put said same say says see seem seems seen
several shall she should since so such sure take than that that's the their theirs them themselves then there
these they they'd they'll they're they've thing things this those though through thus time to two under until up
upon us use used using want was way we we'd we'll we're we've were weren't what when where whether which while
who whom whose why will with within would yes yet you you'd you'll you're you've your yours yourself s t d m o
re ve ll don didn doesn isn wasn aren couldn wouldn
"""
COMMON_ENGLISH = frozenset(_ENGLISH.split())


@dataclass(frozen=True)
class HashedWords:
    """Map texts to signed counts of hashed words, rows of norm 1.

    A word that occurs c times counts 1 + ln c. Words that are common in any text say little and would fill most of a
    row's length, so a public list of them is left out; write `leave_out=()` for another language.

    Args:
        columns: how many columns words are hashed to; two words rarely share one if it is large.
        pairs: whether pairs of neighboring words are counted too.
        leave_out: words that do not count, in lower case.
        seed: the public key of the hash.

    Privacy. The map costs nothing: a row's features are a function of its own text and of public numbers.
        Proof: texts are mapped one at a time, in the order of their own words.
    Accuracy. Over seeds, the product of two rows is off from the cosine of their counted words by about
        1 / sqrt(columns), either way.
    Cost. About 0.2 milliseconds a text of 200 words.
    Reference. Weinberger, Dasgupta, Langford, Smola, Attenberg 2009 (signed hashing).

    >>> features = HashedWords(columns=16)(["Snow on the hills", "snow, and hills!"])
    >>> bool((features[0] == features[1]).all()), features.shape
    (True, (2, 17))
    """

    columns: int = 8192
    pairs: bool = False
    leave_out: Collection[str] = field(default=COMMON_ENGLISH, repr=False)
    seed: int = 1

    def __post_init__(self) -> None:
        whole_number(self.columns, name="columns", least=2, most=MOST_COLUMNS)
        whole_number(self.seed, name="seed", least=0, most=2**63 - 1)
        if isinstance(self.leave_out, str) or not isinstance(self.leave_out, Collection):
            raise ParameterError(
                f"leave_out must be a set of words; got {as_stated(self.leave_out)}, write {{'the', 'of'}}, "
                "for example",
                parameter="leave_out",
            )
        object.__setattr__(self, "leave_out", frozenset(self.leave_out))

    @property
    def width(self) -> int:
        """How many features a row has: one more than columns, the last of them constant."""
        return self.columns + 1

    @property
    def told(self) -> str:
        """The map in words."""
        what = "words and pairs of words" if self.pairs else "words"
        return f"{what} hashed to {self.columns:,} columns with signs, 1 + ln count, rows of norm 1"

    def __call__(self, texts: Sequence[Any]) -> NDArray[np.float32]:
        """Return the features of texts, one row a text; a text that is missing becomes NaN."""
        features = np.zeros((_count(texts), self.width), dtype=np.float32)
        places: dict[str, tuple[int, float]] = {}
        for text, row in zip(texts, features, strict=True):
            if not isinstance(text, str):
                row[:] = np.nan
                continue
            for column, value in self._counted(text, places).items():
                row[column] = value
            row[-1] = CONSTANT / math.sqrt(1 + CONSTANT**2)
            if len(places) > _MOST_KEPT:
                places.clear()
        return features

    def _counted(self, text: str, places: dict[str, tuple[int, float]]) -> dict[int, float]:
        """Return the columns of one text that are not 0."""
        columns: dict[int, float] = {}
        for word, count in Counter(self._words(text)).items():
            if word not in places:
                places[word] = self._place(word)
            column, sign = places[word]
            columns[column] = columns.get(column, 0.0) + sign * (1 + math.log(count))
        squares = sum(value * value for value in columns.values())
        scale = 1 / math.sqrt(squares * (1 + CONSTANT**2)) if squares else 0.0
        return {column: value * scale for column, value in columns.items()}

    def _words(self, text: str) -> list[str]:
        words = [word for word in words_of(text) if word not in self.leave_out]
        return words + [f"{one} {two}" for one, two in pairwise(words)] if self.pairs else words

    def _place(self, word: str) -> tuple[int, float]:
        code = hash_of(word, self.seed)
        return (code >> 1) % self.columns, 1.0 if code & 1 else -1.0


@dataclass(frozen=True)
class HashedTokens:
    """Map texts to their first words as numbers, in order: what embeddings and transformers read.

    A word has a number from 1 to `words` - 1 by its hash; 0 fills the rest of a row.

    Privacy. The map costs nothing: a row is a function of its own text and of public numbers.
        Proof: a token is the hash of one word, keyed by the seed; texts are mapped one at a time.

    >>> HashedTokens(words=100, tokens=4)(["snow on the hills", "snow"]).tolist()
    [[92, 36, 51, 99], [92, 0, 0, 0]]
    """

    words: int = 8192
    tokens: int = 128
    seed: int = 1

    def __post_init__(self) -> None:
        whole_number(self.words, name="words", least=2, most=MOST_COLUMNS)
        whole_number(self.tokens, name="tokens", least=1, most=1 << 16)
        whole_number(self.seed, name="seed", least=0, most=2**63 - 1)

    def __call__(self, texts: Sequence[Any]) -> NDArray[np.int64]:
        """Return the tokens of texts, one row a text; one that is missing becomes -1, a word of no embedding."""
        rows = np.zeros((_count(texts), self.tokens), dtype=np.int64)
        for text, row in zip(texts, rows, strict=True):
            if not isinstance(text, str):
                row[:] = -1  # a private training leaves the row out; an error would tell about a person
                continue
            codes = [1 + hash_of(word, self.seed) % (self.words - 1) for word in words_of(text)[: self.tokens]]
            row[: len(codes)] = codes
        return rows


def _count(texts: Any) -> int:
    """Return how many texts there are, or raise an error for one text, or for what is no list."""
    with suppress(TypeError):
        if not isinstance(texts, str | bytes | Mapping) and getattr(texts, "ndim", 1) == 1 and not _is_frame(texts):
            return len(texts)
    raise InputError(
        f"texts must be a list or one column of texts; got {type(texts).__name__}, write ['one text'], or "
        "frame['column']"
    )


def _is_frame(texts: Any) -> bool:
    """Return whether rows come in named columns: iterating such a table gives columns, or their names."""
    return hasattr(texts, "columns")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case: letters and digits, with apostrophes inside.

    >>> words_of("It isn't 5 o'clock -- yet.")
    ['it', "isn't", '5', "o'clock", 'yet']
    """
    return _WORD.findall(text.lower())


def hash_of(word: str, seed: int) -> int:
    """Return the public 64-bit hash of a word."""
    digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little")
