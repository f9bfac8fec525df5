"""One-bit Hadamard response: a public row of signs, and one noisy bit that says which sign the value has there."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.laws.walsh_hadamard import walsh_hadamard
from discreet.local.frequency.oracle import CategoricalOracle, PureOracle
from discreet.local.protocol import (
    Client,
    Integers,
    is_integer,
    one_entry_each,
    toss,
    whole_or_none,
)
from discreet.randomness import uniform_below_array

_EXACT_FLOATS = 1 << 53
_LARGEST_LIST = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class OneBitHadamard(CategoricalOracle, PureOracle):
    """Report 2 j + bit for a uniform row j and the parity of j AND x, flipped with probability 1 - p.

    The parity of a row and a value is the number of ones that they have in common in binary, odd or even: 0 stands for
    the sign +1 of the Walsh-Hadamard matrix, 1 for -1. Rows are numbered from 0 to D - 1 for the least power of two D
    with room for all values. The row does not depend on the value, so that it may as well be public: with `row(person)`
    what a person sends is one bit (`OneBitClient.bit`).

    Privacy. Pure epsilon-local privacy, of the report (j, bit) and of the bit alone for any fixed public row.
        Proof: of the two bits of a row one is preferred, so that a value prefers D of the 2 D reports and
        `FrequencyOracle` applies. For a fixed row the bit is p or 1 - p likely whatever the value, p / (1 - p) is at
        most e^epsilon and
        at least 1, and the row tells nothing: it was drawn, or computed from the number of the person, without the
        value.
    Accuracy. Unbiased with variance ((e^epsilon + 1)^2 / (e^epsilon - 1)^2 - f) / n for the frequency f of a value, up
        to the rounding of p: 1.06, 1.27, 2.4 and 14 times the optimum at epsilon 0.5, 1, 2 and 4.
        Proof: two different values have the same sign in half of the rows, so that a report of one agrees with the
        other with probability r = p / 2 + (1 - p) / 2 = 1/2 exactly; `PureOracle` with p = e^epsilon / (e^epsilon + 1)
        gives (f p (1 - p) + (1 - f) / 4) / (n (p - 1/2)^2), which is the stated one.
    Cost. Two 64-bit words a report; decoding is a fast Walsh-Hadamard transform, D log D additions of whole numbers.
    Reference. Bassily, Smith 2015; Nguyen et al. 2016; Apple Differential Privacy Team 2017; Acharya, Sun 2019.

    >>> spec = OneBitHadamard(epsilon=Fraction(1, 2), categories=1000)
    >>> spec.report_bits, round(spec.variance(1) / spec.optimum(1), 3)
    (11, 1.064)
    """

    protocol: ClassVar[str] = "one-bit-hadamard"

    @property
    def rows(self) -> int:
        """The number D of rows: the least power of two with room for all values."""
        return 1 << (self.category_count - 1).bit_length()

    @property
    def cells(self) -> int:
        """A report is a row and a bit."""
        return 2 * self.rows

    @property
    def inside(self) -> int:
        """A value prefers one bit in every row."""
        return self.rows

    @property
    def apart(self) -> int:
        """Two values have opposite signs in half of the rows."""
        return self.rows // 2

    @property
    def shared(self) -> Fraction:
        """Another value agrees by chance: exactly one half, whatever the coin."""
        return Fraction(1, 2)

    def preferred(self, item: int) -> Integers:
        """Return the report without a flip, for each row: a list of at most 2^20 of them."""
        if self.rows > _LARGEST_LIST:
            raise ParameterError("the preferred reports of a value are listed for at most 2^20 rows")
        rows = np.arange(self.rows, dtype=np.int64)
        return 2 * rows + parity(rows, self.items([item]))

    def randomize(self, items: Integers) -> Integers:
        """Draw a row that does not depend on the value, then the bit."""
        rows = uniform_below_array(self.rows, items.size)
        return 2 * rows + (parity(rows, items) ^ ~toss(self.coin, items.size))

    def row(self, person: int) -> int:
        """Return the public row of a person from a public number: the leading bits of a SHA-256 under the digest.

        The number must be given to people without looking at their values, as the row must be independent of them for
        estimates to be unbiased; privacy does not depend on it.
        """
        if not is_integer(person) or not 0 <= person < 1 << 64:
            raise InputError("person must be an int from 0 to 2^64 - 1")
        hashed = hashlib.sha256(self.digest + int(person).to_bytes(8, "little")).digest()
        return int.from_bytes(hashed[:8], "big") >> (64 - (self.rows.bit_length() - 1))

    def with_rows(self, bits: Any, people: Any) -> Integers:
        """Return whole reports, for the aggregator, from single bits and the public numbers of those who sent them.

        Anything but a bit becomes a report of -1, which the aggregator rejects and counts.
        """
        sent, numbers = one_entry_each(bits), _numbers(people)
        if sent is None or numbers is None or len(sent) != len(numbers):
            raise InputError("with_rows takes one bit, 0 or 1, for each person; nothing was counted")
        rows = np.array([self.row(person) for person in numbers], dtype=np.int64)
        array = _bits(sent)
        return np.where(array < 0, -1, 2 * rows + array)

    def client(self) -> OneBitClient:
        """Return one person's client."""
        return OneBitClient(self)

    def support(self, counts: Integers) -> Integers:
        """Return the number of reports that agree with each value, by one exact transform.

        Of all reports and the sum of their signs, agreeing is half of both together.
        """
        table = np.asarray(counts, dtype=np.int64).reshape(self.rows, 2)
        people = int(table.sum())
        if people >= _EXACT_FLOATS:
            raise InputError("a histogram of one-bit reports is decoded exactly for fewer than 2^53 reports")
        signed = walsh_hadamard((table[:, 0] - table[:, 1]).astype(np.float64))
        return (people + signed[: self.category_count].astype(np.int64)) // 2


class OneBitClient(Client):
    """A client that can send its bit alone, where its row is public.

    A bit without its row is no report: it is a bool, which aggregators refuse, and `with_rows` completes it.

    >>> spec = OneBitHadamard(epsilon=Fraction(1), categories=1000)
    >>> bit = spec.client().bit(17, person=4)
    >>> (
    ...     spec.aggregator().add([bit]).people,
    ...     spec.aggregator().add(spec.with_rows([bit], people=[4])).people,
    ... )
    (0, 1)
    """

    spec: OneBitHadamard

    def bit(self, value: Any, *, person: int) -> bool:
        """Return the one report of this person as a bit for the row of a public number; it counts as the report.

        Shuffling hides such a bit among those of the same row at most: `Shuffled` is about whole reports.
        """
        row = self.spec.row(person)
        (item,) = self.spec.items([value])
        drawn, bit = divmod(self.report(value), 2)
        # the flip that was drawn is carried over to the public row: parities of one value add up
        return bool(bit ^ parity(np.int64(drawn ^ row), item))


def _bits(sent: Any) -> Integers:
    """Return what was sent as 0 or 1, in any numeric type; anything else, masked entries too, as -1."""
    if isinstance(sent, np.ndarray) and sent.dtype.kind in "biuf" and not isinstance(sent, np.ma.MaskedArray):
        return np.where(sent == 1, 1, np.where(sent == 0, 0, -1))
    return np.array([_bit(one) for one in sent], dtype=np.int64)


def _bit(sent: Any) -> int:
    """Return a bit as 0 or 1, anything else as -1."""
    number = int(sent) if isinstance(sent, bool | np.bool_) else whole_or_none(sent)
    return number if number in (0, 1) else -1


def _numbers(people: Any) -> list[Any] | None:
    """Return the public numbers as a list; None if this is not iterable."""
    with suppress(TypeError):
        return list(people)
    return None


def parity(rows: Any, items: Any) -> Integers:
    """Return the parity of the ones that rows and values have in common, 0 or 1."""
    odd: Integers = (np.bitwise_count(rows & items) & 1).astype(np.int64)
    return odd
