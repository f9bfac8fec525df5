"""One person's client in one file: it needs Python 3.9 and its standard library, and nothing else.

Copy this file to a device, or read it to write a client in another language. It trusts nobody: from the parameters of a
spec it computes itself what the spec says about them, the probability of a truthful report above all, and refuses to
report unless that keeps the guarantee of epsilon. Arithmetic is on whole numbers and fractions; there are no floats.

    python standalone.py SPEC.json VALUE        prints the report, one integer; "-" reads the value from the input

A report is drawn by two functions only, `toss` and `uniform_below`, from the randomness of the operating system.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from fractions import Fraction
from typing import Any

COIN_BITS = 64
COIN_TOTAL = 1 << COIN_BITS
EXP_BITS = 320  # of the bound on e^epsilon; the coin has 64, so that these decide as good as always
LONGEST_TEXT = 1 << 25
MOST_BRACKETS = 1000
MOST_LABELS, LONGEST_LABEL, MOST_LETTERS = 1 << 20, 1024, 1 << 22
SLICE = 1 << 16
LONGEST_VALUE = 1 << 13  # bytes; no label and no key has more
LARGEST_DOMAIN = 1 << 40
LARGEST_SPACE = 1 << 30
LARGEST_LAW = 1 << 16
LONG_INTEGER = 1 << 53  # integers from here on are written as text, because many readers of JSON round them
HASH_PRIME = (1 << 31) - 1
HASH_LABEL = b"discreet.local.hash/1"
SCRAMBLE_PURPOSE = (1 << 32) - 1
FINGERPRINT_PURPOSE = (1 << 32) - 2
GROUP_PURPOSE = 1 << 31
FINGERPRINT_BITS = 16


class SpecRefused(ValueError):
    """A client may not follow this spec: it is not readable, not consistent, or not private."""


class ValueRefused(ValueError):
    """The value is not one of the spec; the message never shows it."""


class AlreadyReported(RuntimeError):
    """This person has reported; a second report would cost epsilon again."""


# Randomness. Everything random below is one of the next three functions.


def random_bits(count: int) -> int:
    """Return a uniform integer of `count` bits from the operating system."""
    return secrets.randbits(count)


def toss(coin: int) -> bool:
    """Return True with probability coin / 2^64, exactly."""
    return random_bits(COIN_BITS) < coin


def uniform_below(bound: int) -> int:
    """Return a uniform integer from 0 to bound - 1: draw as many bits as it has, again until the number is below."""
    while True:
        number = random_bits((bound - 1).bit_length())
        if number < bound:
            return number


# The coin: how often a report may tell the truth.


def exp_below(epsilon: Fraction) -> int:
    """Return a whole number that is at most 2^320 e^epsilon, and less than 2^40 below it for epsilon up to 20.

    It adds up the Taylor series in units of 2^-320. Epsilon, each term and with them the sum are rounded down, and the
    terms left out are positive, so the result is a proven lower bound.
    """
    x = (epsilon.numerator << EXP_BITS) // epsilon.denominator
    term, total, place = 1 << EXP_BITS, 0, 0
    while term:
        total += term
        place += 1
        term = term * x // (place << EXP_BITS)
    return total


def keeps_guarantee(coin: int, inside: int, outside: int, exp: int) -> bool:
    """Say whether (coin / inside) / ((2^64 - coin) / outside) is at least 1 and proven to be at most e^epsilon."""
    likely, unlikely = coin * outside, (COIN_TOTAL - coin) * inside
    return likely > unlikely and (likely << EXP_BITS) <= unlikely * exp


def largest_coin(epsilon: Fraction, inside: int, outside: int) -> int:
    """Return the largest coin that keeps the guarantee for `inside` preferred outputs and `outside` others."""
    exp = exp_below(epsilon)
    coin = COIN_TOTAL * inside * exp // ((outside << EXP_BITS) + inside * exp)
    if not keeps_guarantee(coin, inside, outside, exp):
        raise SpecRefused("epsilon is too small for this number of outputs: reports would say nothing")
    return coin


# Reading a spec. What is read was written by a stranger.


def read_object(text: str) -> dict[str, Any]:
    """Read one JSON object of bounded size without doubled names, floats or long integers."""
    read = None
    if isinstance(text, str) and short_enough(text) and shallow(text):
        try:
            read = json.loads(
                text, object_pairs_hook=distinct, parse_int=short, parse_float=no_float, parse_constant=no_float
            )
        except (ValueError, RecursionError):
            read = None
    if not isinstance(read, dict):
        raise SpecRefused("a spec must be one JSON object as its collector publishes it, of at most 32 MiB")
    return read


def short_enough(text: str) -> bool:
    """Say whether a text has at most 32 MiB in UTF-8; a lone surrogate cannot be written there."""
    if len(text) > LONGEST_TEXT:
        return False
    written_out = text if text.isascii() else utf8(text)
    return written_out is not None and len(written_out) <= LONGEST_TEXT


def shallow(text: str) -> bool:
    """Say whether the text has no more lists than a spec has; brackets inside texts do not count.

    Every other part between quotes is outside of texts, once escaped quotes are gone. Slices keep the parts few: a
    hostile text takes no more than a multiple of its own length. Backslashes outside of texts are no JSON, and what
    stands before the first of them is counted right.
    """
    if text.count("[") + text.count("{") <= MOST_BRACKETS:
        return True
    bare, brackets, outside = text.replace("\\\\", "").replace('\\"', ""), 0, True
    for start in range(0, len(bare), SLICE):
        parts = bare[start : start + SLICE].split('"')
        seen = "".join(parts[0 if outside else 1 :: 2])
        brackets += seen.count("[") + seen.count("{")
        outside ^= len(parts) % 2 == 0
    return brackets <= MOST_BRACKETS


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError if a name occurs twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def short(digits: str) -> int:
    """Read an integer; raise ValueError on those that must be written as text."""
    if len(digits) > 17 or abs(int(digits)) >= LONG_INTEGER:
        raise ValueError("an integer is too long")
    return int(digits)


def no_float(_: str) -> Any:
    """Raise ValueError on floats, NaN and infinity."""
    raise ValueError("a spec has no floats")


def canonical(value: Any) -> str:
    """Return the canonical text: sorted names, no spaces, ASCII only. Its SHA-256 is the digest of a spec."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def written(number: int) -> Any:
    """Return an integer as it stands in a spec."""
    return str(number) if abs(number) >= LONG_INTEGER else number


def integer(spec: dict[str, Any], name: str, least: int, most: int) -> int:
    """Return a public integer of the spec within its limits, written as a number or, if it is long, as text."""
    value = spec.get(name)
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{15,79}", value):
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise SpecRefused(f"{name} of this spec must be an integer from {least} to {most}")
    return value


def integers(spec: dict[str, Any], name: str, least: int) -> list[int]:
    """Return a short list of public integers."""
    found = spec.get(name)
    if not isinstance(found, list) or not 1 <= len(found) <= 1 << 11:
        raise SpecRefused(f"{name} of this spec must be a list of integers")
    if not all(type(value) is int and value >= least for value in found):
        raise SpecRefused(f"{name} of this spec must be integers of at least {least}")
    return list(found)


def read_fraction(text: Any, name: str) -> Fraction:
    """Return a public fraction, written as 'a/b' or 'a'; an exponent could stand for a number of any length."""
    if not isinstance(text, str) or not re.fullmatch(r"-?[0-9]{1,640}(/[1-9][0-9]{0,640})?", text):
        raise SpecRefused(f"{name} of this spec must be written as 'a/b' or 'a'")
    return Fraction(text)


def read_epsilon(spec: dict[str, Any]) -> Fraction:
    """Return epsilon, which lies between 1/1024 and 20."""
    epsilon = read_fraction(spec.get("epsilon"), "epsilon")
    if not Fraction(1, 1024) <= epsilon <= 20 or epsilon.denominator.bit_length() > 1024:
        raise SpecRefused("epsilon of this spec lies between 1/1024 and 20, a fraction of at most 1024 bits")
    return epsilon


def read_categories(spec: dict[str, Any]) -> Any:
    """Return the public number of categories, or the list of their names, all different."""
    names = spec.get("categories")
    if not isinstance(names, list):
        return integer(spec, "categories", 2, LARGEST_DOMAIN)
    if not 2 <= len(names) <= MOST_LABELS or not all(isinstance(name, str) for name in names):
        raise SpecRefused("categories of this spec must be a number, or a list of 2 to 2^20 names")
    if any(not 0 < len(name) <= LONGEST_LABEL or utf8(name) is None for name in names):
        raise SpecRefused("names of categories must be texts of 1 to 1024 characters that UTF-8 can write")
    if sum(len(name.encode("utf-16-le")) for name in names) > 2 * MOST_LETTERS:
        raise SpecRefused(
            "names of categories must have at most 2^22 characters in all; beyond U+FFFF one counts twice"
        )
    if len(set(names)) != len(names):
        raise SpecRefused("categories of this spec must have different names")
    return names


# The projective space: points are the vectors of `dimension` digits modulo a prime, up to a factor.


class Geometry:
    """The points of PG(dimension - 1, prime) by number.

    A point is written as its one multiple whose highest nonzero digit is 1. With that digit at position m its number is
    starts[m] = (prime^m - 1) / (prime - 1) plus the lower digits read in base prime, digit 0 the lowest. The plane of x
    holds the points y with <x, y> = 0 modulo the prime.
    """

    def __init__(self, prime: int, dimension: int) -> None:
        """Check that the prime is one: otherwise planes have different sizes, and reports would not be private."""
        if prime**2 >= LARGEST_SPACE or any(prime % divisor == 0 for divisor in range(2, math.isqrt(prime) + 1)):
            raise SpecRefused("prime of this spec is not a prime number below 2^15")
        self.prime, self.dimension = prime, dimension
        self.starts = [int(prime**m - 1) // (prime - 1) for m in range(dimension + 1)]
        self.points = self.starts[dimension]
        self.on_plane = self.starts[dimension - 1]
        self.off_plane = self.points - self.on_plane  # prime^(dimension - 1)
        if self.points > LARGEST_SPACE:
            raise SpecRefused("the projective space of this spec has more than 2^30 points")

    @staticmethod
    def read(spec: dict[str, Any]) -> Geometry:
        """Return the space of a spec."""
        return Geometry(integer(spec, "prime", 2, 1 << 15), integer(spec, "dimension", 2, 31))

    def leading(self, point: int) -> int:
        """Return the position of the leading 1 of a point."""
        position = self.dimension - 1
        while point < self.starts[position]:
            position -= 1
        return position

    def vector(self, point: int) -> list[int]:
        """Return the digits of a point, the lowest first."""
        position = self.leading(point)
        return digits(point - self.starts[position], self.prime, position) + [1] + [0] * (self.dimension - 1 - position)

    def number(self, vector: list[int]) -> int:
        """Return the number of the point that a vector other than zero is a multiple of."""
        top = max(position for position in range(self.dimension) if vector[position])
        inverse = pow(vector[top], -1, self.prime)
        lower = 0
        for position in reversed(range(top)):
            lower = lower * self.prime + vector[position] * inverse % self.prime
        return self.starts[top] + lower

    def meet(self, point: int, other: int) -> bool:
        """Say whether a point lies on the plane of another."""
        return dot(self.vector(point), self.vector(other)) % self.prime == 0

    def place(self, point: int, on_plane: bool, free: int) -> int:
        """Return the point on the plane of x, or off it, that a free number below prime^(dimension - 1) stands for.

        The digits of `free` are the coordinates of a vector v but for the one where x has its leading 1, which is set
        so that <x, v> is 0 on the plane and 1 off it. A point off the plane has one multiple with <x, v> = 1; a point
        on it has prime - 1 multiples, all with <x, v> = 0: so a uniform `free`, not 0 on the plane, gives a uniform
        point.
        """
        x, position = self.vector(point), self.leading(point)
        others = digits(free, self.prime, self.dimension - 1)
        v = [*others[:position], 0, *others[position:]]
        v[position] = ((0 if on_plane else 1) - dot(x, v)) % self.prime
        return self.number(v)

    def draw_on(self, point: int) -> int:
        """Draw a uniform point of the plane of a point."""
        return self.place(point, True, 1 + uniform_below(self.off_plane - 1))

    def draw_off(self, point: int) -> int:
        """Draw a uniform point off the plane of a point."""
        return self.place(point, False, uniform_below(self.off_plane))

    def of_value(self, value: int) -> int:
        """Return the point that a value stands for: those with a 1 as their top digit come first."""
        return (self.on_plane + value) % self.points


def digits(number: int, base: int, count: int) -> list[int]:
    """Return the digits of a number, the lowest first."""
    return [number // base**position % base for position in range(count)]


def dot(first: list[int], second: list[int]) -> int:
    """Return the product of two vectors."""
    return sum(entry * second[position] for position, entry in enumerate(first))


# Keys as words, and the public hash.


class Keys:
    """What a key is ('integer:BITS', 'text:BYTES', 'bytes:BYTES'), as 32-bit words.

    A key is a string of bits, the most significant first, left-aligned in an even number of words: a number in its
    bits, a text in UTF-8 followed by zeros, bytes as they are.
    """

    def __init__(self, text: object) -> None:
        """Read the kind."""
        found = re.fullmatch(r"(integer|text|bytes):([1-9][0-9]{0,3})", text) if isinstance(text, str) else None
        if found is None or int(found[2]) > (256 if found[1] == "integer" else 1024):
            raise SpecRefused("keys of this spec are 'integer:BITS', 'text:BYTES' or 'bytes:BYTES'")
        self.text, self.name, self.size = found[0], found[1], int(found[2])
        self.bits = self.size if self.name == "integer" else 8 * self.size
        self.words = words_of(self.bits)

    def encode(self, value: Any) -> list[int]:
        """Return a key as words; refuse what is none without showing it."""
        whole = self._aligned(value)
        if whole is None:  # raised here, outside any handler: nothing that could carry the value is chained
            raise ValueRefused(f"a key is {self.meaning()}; nothing was reported")
        return [(whole >> (32 * (self.words - 1 - word))) & 0xFFFFFFFF for word in range(self.words)]

    def _aligned(self, value: Any) -> int | None:
        """Return the bits of a key as one left-aligned number, or None."""
        if self.name == "integer":
            right = type(value) is int and 0 <= value < 1 << self.size
            return value << (32 * self.words - self.size) if right else None
        raw = utf8(value) if self.name == "text" else value
        if not isinstance(raw, bytes) or len(raw) > self.size:
            return None
        if b"\0" in raw if self.name == "text" else len(raw) != self.size:
            return None
        return int.from_bytes(raw.ljust(4 * self.words, b"\0"), "big")

    def meaning(self) -> str:
        """Say what a key is."""
        if self.name == "integer":
            return f"an int from 0 to 2^{self.size} - 1"
        if self.name == "text":
            return f"a text of at most {self.size} bytes in UTF-8, without NUL or lone surrogates"
        return f"a bytes object of exactly {self.size} bytes"

    def parse(self, text: str) -> Any:
        """Read a key from a command line: digits, the text itself, or bytes in hexadecimal."""
        if self.name == "text":
            return text
        pattern = "[0-9]{1,78}" if self.name == "integer" else "([0-9a-fA-F]{2})*"
        if not re.fullmatch(pattern, text):
            return None
        return int(text) if self.name == "integer" else bytes.fromhex(text)


def utf8(value: Any) -> bytes | None:
    """Return a text in UTF-8, or None."""
    try:
        return value.encode("utf-8") if isinstance(value, str) else None
    except UnicodeEncodeError:
        return None


def words_of(bits: int) -> int:
    """Return the even number of 32-bit words that hold so many bits."""
    return 2 * -(-bits // 64)


def constant(seed: int, purpose: int, row: int, index: int) -> int:
    """Return one public constant of 256 bits, by SHA-256; all integers are little-endian."""
    places = purpose.to_bytes(4, "little") + row.to_bytes(4, "little") + index.to_bytes(4, "little")
    return int.from_bytes(hashlib.sha256(HASH_LABEL + seed.to_bytes(32, "little") + places).digest(), "little")


def bucket(seed: int, purpose: int, row: int, words: list[int], size: int) -> int:
    """Return the bucket, from 0 to size - 1, of a key in a row of a hash.

    The sum runs modulo 2^64; its upper 31 bits go through a polynomial modulo 2^31 - 1.
    """
    count = len(words)
    constants = [constant(seed, purpose, row, index) for index in range(count + 4)]
    total = constants[count]
    for pair in range(0, count, 2):
        total += (constants[pair] + words[pair]) * (constants[pair + 1] + words[pair + 1])
    z = (total % (1 << 64)) >> 33
    c_0, c_1, c_2 = constants[count + 1], constants[count + 2], constants[count + 3]
    return (((c_2 * z * z + c_1 * z + c_0) % HASH_PRIME) * size) >> 31


def scramble(seed: int, bits: int, number: int) -> int:
    """Send a number of at most 64 bits to another, one to one: eight rounds of a public Feistel network."""
    low_bits = bits - bits // 2
    high, low = number >> low_bits, number % (1 << low_bits)
    for index in range(8):
        mixed = ((low if index % 2 == 0 else high) + constant(seed, SCRAMBLE_PURPOSE, 0, index)) % (1 << 64)
        for _ in range(2):
            mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93 % (1 << 64)
        if index % 2 == 0:
            high ^= mixed >> (64 - (bits - low_bits))
        else:
            low ^= mixed >> (64 - low_bits)
    return (high << low_bits) | low


# The protocols. Each knows its fields, what follows from them, which outputs a value prefers, and how to draw one.


class Oracle(ABC):
    """A value prefers `inside` of `cells` outputs: those are reported with probability coin / 2^64, else the others.

    All values prefer equally many, and both choices are uniform: so no output is more than e^epsilon times as likely
    under one value as under another, which `largest_coin` has checked.
    """

    coin: int

    def __init__(self, spec: dict[str, Any]) -> None:
        """Read the fields of the protocol, then make the coin."""
        self.fields: dict[str, Any] = {}
        self.labels: list[str] = []
        self.cells, self.inside, self.size = self.read(spec)
        self.coin = largest_coin(read_epsilon(spec), self.inside, self.cells - self.inside)
        self.places = {label: place for place, label in enumerate(self.labels)}  # a search would take time by place
        self.coins = [(self.coin, self.inside, self.cells - self.inside)]

    @abstractmethod
    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """Read and check the own fields; return the number of outputs, of preferred ones, and of categories."""

    def categories(self, spec: dict[str, Any]) -> int:
        """Read the categories; return their number."""
        found = self.fields["categories"] = read_categories(spec)
        if isinstance(found, int):
            return found
        self.labels = found
        return len(found)

    def derived(self) -> dict[str, Any]:
        """Return what the spec must say about what follows from its parameters."""
        return {"coin": written(self.coin), "cells": written(self.cells), "inside": written(self.inside)}

    def item(self, value: Any) -> Any:
        """Return the number of a value, given as that or as the name of its category."""
        place = self.places.get(value, -1) if isinstance(value, str) else value if type(value) is int else -1
        if not 0 <= place < self.size:
            raise ValueRefused(f"a value must be an int from 0 to {self.size - 1}, or a name; nothing was reported")
        return place

    def parse(self, text: str) -> Any:
        """Read a value from a command line: its name, or else its number."""
        if text in self.places:
            return text
        return int(text) if re.fullmatch("[0-9]{1,13}", text) else None

    @abstractmethod
    def prefers(self, item: Any, report: int) -> bool:
        """Say whether a report is one that the value prefers."""

    @abstractmethod
    def draw(self, item: Any) -> int:
        """Draw a report."""

    def law(self, item: Any) -> list[Fraction]:
        """Return the probability of every report."""
        likely = Fraction(self.coin, COIN_TOTAL * self.inside)
        unlikely = Fraction(COIN_TOTAL - self.coin, COIN_TOTAL * (self.cells - self.inside))
        return [likely if self.prefers(item, report) else unlikely for report in range(self.cells)]


class RandomizedResponse(Oracle):
    """Report one's own value, or one of the others."""

    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """A value prefers itself."""
        count = self.categories(spec)
        return count, 1, count

    def prefers(self, item: Any, report: int) -> bool:
        """The truth."""
        return bool(report == item)

    def draw(self, item: Any) -> int:
        """Number the other values by leaving the own one out."""
        if toss(self.coin):
            return int(item)
        other = uniform_below(self.size - 1)
        return other + 1 if other >= item else other


class OneBitHadamard(Oracle):
    """Report 2 j + bit for a uniform row j; preferred is the parity of the ones that j and the value have in common."""

    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """There are as many rows as the least power of two with room for all categories."""
        count = self.categories(spec)
        self.rows = 1 << (count - 1).bit_length()
        return 2 * self.rows, self.rows, count

    def prefers(self, item: Any, report: int) -> bool:
        """The bit of its row."""
        return report % 2 == parity(report // 2, item)

    def draw(self, item: Any) -> int:
        """The row does not depend on the value; the bit is flipped with probability 1 - p."""
        row = uniform_below(self.rows)
        return 2 * row + (parity(row, item) if toss(self.coin) else 1 - parity(row, item))


def parity(row: int, value: int) -> int:
    """Return whether the number of common ones is odd."""
    return bin(row & value).count("1") % 2


class ProjectiveGeometry(Oracle):
    """Report a point of a projective space; preferred are those on the plane of the value's point."""

    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """Every value has a point of its own."""
        count = self.categories(spec)
        self.space = Geometry.read(spec)
        self.fields.update(prime=self.space.prime, dimension=self.space.dimension)
        if count > self.space.points:
            raise SpecRefused("the projective space of this spec has too few points for its categories")
        return self.space.points, self.space.on_plane, count

    def prefers(self, item: Any, report: int) -> bool:
        """On the plane."""
        return self.space.meet(self.space.of_value(item), report)

    def draw(self, item: Any) -> int:
        """On the plane or off it."""
        point = self.space.of_value(item)
        return self.space.draw_on(point) if toss(self.coin) else self.space.draw_off(point)


class HybridGeometry(Oracle):
    """Report block * points + a point: value i lies in block i mod blocks, and is value i // blocks of its space."""

    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """Every block has a space of its own."""
        count = self.categories(spec)
        self.blocks = self.fields["blocks"] = integer(spec, "blocks", 2, LARGEST_SPACE)
        self.space = Geometry.read(spec)
        self.fields.update(prime=self.space.prime, dimension=self.space.dimension)
        cells = self.blocks * self.space.points
        if not count <= cells <= LARGEST_SPACE:
            raise SpecRefused("the blocks of this spec must hold its categories in at most 2^30 cells")
        return cells, self.space.on_plane, count

    def prefers(self, item: Any, report: int) -> bool:
        """In the own block and on the plane."""
        block, point = divmod(report, self.space.points)
        return block == item % self.blocks and self.space.meet(self.space.of_value(item // self.blocks), point)

    def draw(self, item: Any) -> int:
        """Off the plane lie the other points of the own block and all points of the other blocks."""
        start, point = item % self.blocks * self.space.points, self.space.of_value(item // self.blocks)
        if toss(self.coin):
            return int(start + self.space.draw_on(point))
        free = uniform_below(self.cells - self.inside)
        if free < self.space.off_plane:
            return int(start + self.space.place(point, False, free))
        elsewhere = free - self.space.off_plane
        return int(elsewhere if elsewhere < start else elsewhere + self.space.points)


class KeyOracle(Oracle):
    """Report row * points + a point: the key is hashed to a point in every row, and the row is uniform."""

    keys: Keys
    space: Geometry
    rows: int

    @abstractmethod
    def point(self, item: Any, row: int) -> int:
        """Return the point of a key in a row."""

    def item(self, value: Any) -> Any:
        """Return the key as words."""
        return self.keys.encode(value)

    def parse(self, text: str) -> Any:
        """Read a key from a command line."""
        return self.keys.parse(text)

    def prefers(self, item: Any, report: int) -> bool:
        """On the plane of the key's point in the row of the report."""
        row, point = divmod(report, self.space.points)
        return self.space.meet(self.point(item, row), point)

    def draw(self, item: Any) -> int:
        """The row does not depend on the key."""
        row = uniform_below(self.rows)
        point = self.point(item, row)
        return row * self.space.points + (self.space.draw_on(point) if toss(self.coin) else self.space.draw_off(point))


class HashedGeometry(KeyOracle):
    """Hash the key in every row by a public hash."""

    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """Keys cannot be counted."""
        self.keys, self.space = Keys(spec.get("keys")), Geometry.read(spec)
        self.rows, self.seed = integer(spec, "rows", 1, 1 << 16), integer(spec, "seed", 0, (1 << 256) - 1)
        self.purpose = integer(spec, "purpose", 0, (1 << 32) - 1)
        self.fields.update(keys=self.keys.text, prime=self.space.prime, dimension=self.space.dimension)
        self.fields.update(rows=self.rows, seed=written(self.seed), purpose=self.purpose)
        return self.rows * self.space.points, self.rows * self.space.on_plane, 0

    def derived(self) -> dict[str, Any]:
        """Beside the coin, what a client needs of keys and hash."""
        return {**super().derived(), "points": self.space.points, "words": self.keys.words}

    def point(self, item: Any, row: int) -> int:
        """Hash the whole key."""
        return bucket(self.seed, self.purpose, row, item, self.space.points)


class HeavyHitters(KeyOracle):
    """Rows belong to levels; a row asks for the point of a prefix of the key's address, as long as its level says.

    The address of a number of 8 to 64 bits is the scrambled number; that of any other key is a word with a fingerprint
    of 16 bits, followed by the bytes of the key. The last group of rows asks for the whole address once more.
    """

    def read(self, spec: dict[str, Any]) -> tuple[int, int, int]:
        """Levels grow from the root to the whole address."""
        self.keys, self.space = Keys(spec.get("keys")), Geometry.read(spec)
        self.seed, people = integer(spec, "seed", 0, (1 << 256) - 1), integer(spec, "people", 1, LONG_INTEGER - 1)
        self.levels, self.groups = integers(spec, "levels", 1), integers(spec, "rows", 1)
        self._check_levels()
        self.rows = sum(self.groups)
        self.fields.update(keys=self.keys.text, prime=self.space.prime, dimension=self.space.dimension)
        self.fields.update(people=people, levels=self.levels, rows=self.groups, seed=written(self.seed))
        if self.rows * self.space.points > 1 << 26 or max(self.groups) > 1 << 16:
            raise SpecRefused("the rows of this spec have more than 2^26 cells")
        return self.rows * self.space.points, self.rows * self.space.on_plane, 0

    def _check_levels(self) -> None:
        """The root is 16 bits of a scrambled number, or the fingerprint, behind which levels are whole bytes."""
        self.scrambled = self.keys.name == "integer" and self.keys.bits <= 64
        if self.scrambled and self.keys.bits < 8:
            raise SpecRefused("numbers of this spec have 8 bits or more")
        self.bits = self.keys.bits if self.scrambled else 32 + 8 * -(-self.keys.bits // 8)
        first, unit = (min(FINGERPRINT_BITS, self.bits), 1) if self.scrambled else (32, 8)
        growing = all(0 < self.levels[place + 1] - self.levels[place] <= 16 for place in range(len(self.levels) - 1))
        whole = all((level - first) % unit == 0 for level in self.levels[:-1])
        if not (self.levels[0] == first and self.levels[-1] == self.bits and growing and whole):
            raise SpecRefused("levels of this spec grow from the root to the whole address")
        if len(self.groups) != len(self.levels) + 1:
            raise SpecRefused("rows of this spec are one number for each level, and one for those held out")

    def derived(self) -> dict[str, Any]:
        """Beside the coin, the seed of every group of rows."""
        seeds = [str(self.group_seed(group)) for group in range(len(self.groups))]
        return {**super().derived(), "points": self.space.points, "seeds": seeds}

    def group_seed(self, group: int) -> int:
        """Return the seed of the hashes of a group of rows."""
        return constant(self.seed, GROUP_PURPOSE, group, 0)

    def address(self, words: list[int]) -> list[int]:
        """Return the address of a key, as words."""
        if self.scrambled:
            unused = 64 - self.bits
            number = ((words[0] << 32) | words[1]) >> unused
            aligned = scramble(self.seed, self.bits, number) << unused
            return [aligned >> 32, aligned & 0xFFFFFFFF]
        fingerprint = bucket(self.seed, FINGERPRINT_PURPOSE, 0, words, 1 << FINGERPRINT_BITS)
        return ([fingerprint, *words, 0])[: words_of(self.bits)]

    def point(self, item: Any, row: int) -> int:
        """Find the group of the row, cut the address to its length, and hash what is left."""
        group = 0
        while row >= self.groups[group]:
            row -= self.groups[group]
            group += 1
        length = self.levels[min(group, len(self.levels) - 1)]
        return bucket(self.group_seed(group), 0, row, prefix(self.address(item), length), self.space.points)


def prefix(words: list[int], length: int) -> list[int]:
    """Return the first bits of an address, the rest zero, in as few words as hold them."""
    kept = [min(max(length - 32 * place, 0), 32) for place in range(words_of(length))]
    return [words[place] & ((1 << 32) - (1 << (32 - bits))) for place, bits in enumerate(kept)]


class Piecewise:
    """Position i of a grid of `steps` steps prefers the outputs i, ..., i + window - 1 of steps + window."""

    def __init__(self, epsilon: Fraction, steps: int, window: int) -> None:
        """Make the coin."""
        self.steps, self.window, self.outputs = steps, window, steps + window
        self.coin = largest_coin(epsilon, window, steps)

    def draw(self, relative: Fraction) -> int:
        """Round a part of the range to a neighbor on the grid, so that its mean stays; then draw an output."""
        place = relative * self.steps
        position = place.numerator // place.denominator
        rest = place - position
        if uniform_below(rest.denominator) < rest.numerator:
            position += 1
        if toss(self.coin):
            return position + uniform_below(self.window)
        other = uniform_below(self.steps)
        return other if other < position else other + self.window

    def law(self, relative: Fraction) -> list[Fraction]:
        """Return the probability of every output."""
        place = relative * self.steps
        position = place.numerator // place.denominator
        rest = place - position
        likely = Fraction(self.coin, COIN_TOTAL * self.window)
        unlikely = Fraction(COIN_TOTAL - self.coin, COIN_TOTAL * self.steps)
        masses = []
        for output in range(self.outputs):
            here = likely if position <= output < position + self.window else unlikely
            next_one = likely if position < output <= position + self.window else unlikely
            masses.append((1 - rest) * here + rest * next_one)
        return masses


class Mean(ABC):
    """A number of a public range is reported by a `Piecewise` law; of two laws a public coin picks one."""

    def __init__(self, spec: dict[str, Any]) -> None:
        """Read the range, then the laws."""
        self.epsilon = read_epsilon(spec)
        ends = spec.get("bounds")
        if not isinstance(ends, list) or len(ends) != 2:
            raise SpecRefused("bounds of this spec must be a list of two numbers")
        self.low, self.high = (read_fraction(end, "bounds") for end in ends)
        if not self.low < self.high or max(abs(self.low), abs(self.high)) > 2**900:
            raise SpecRefused("bounds of this spec must be (low, high) with low < high, numbers of a usual size")
        self.fields: dict[str, Any] = {"bounds": [str(self.low), str(self.high)]}
        self.weight = COIN_TOTAL
        self.laws = self.read(spec)
        self.cells = sum(law.outputs for law in self.laws)
        self.coins = [(law.coin, law.window, law.steps) for law in self.laws]

    @abstractmethod
    def read(self, spec: dict[str, Any]) -> list[Piecewise]:
        """Read the own fields; return the laws."""

    def item(self, value: Any) -> Fraction:
        """Return where a value stands in the range, from 0 to 1: exactly, a float as the fraction that it is."""
        number = None
        if type(value) in (int, Fraction) or (type(value) is float and math.isfinite(value)):
            number = Fraction(value)
        if number is None or not self.low <= number <= self.high:
            raise ValueRefused("a value must be a finite number within the bounds; nothing was reported")
        return (number - self.low) / (self.high - self.low)

    def parse(self, text: str) -> Any:
        """Read a decimal number or a fraction from a command line."""
        return Fraction(text) if re.fullmatch(r"-?[0-9]{1,99}(\.[0-9]{1,99}|/[1-9][0-9]{0,98})?", text) else None

    def draw(self, item: Fraction) -> int:
        """The law does not depend on the value; the outputs of the second follow those of the first."""
        if len(self.laws) == 1 or toss(self.weight):
            return self.laws[0].draw(item)
        return self.laws[0].outputs + self.laws[1].draw(item)

    def law(self, item: Fraction) -> list[Fraction]:
        """Return the probability of every report."""
        first = Fraction(self.weight, COIN_TOTAL)
        masses = [first * mass for mass in self.laws[0].law(item)]
        if len(self.laws) > 1:
            masses += [(1 - first) * mass for mass in self.laws[1].law(item)]
        return masses


class DuchiBit(Mean):
    """One bit: a grid of one step, and a window of one output."""

    def read(self, spec: dict[str, Any]) -> list[Piecewise]:
        """There is nothing to read."""
        del spec
        return [Piecewise(self.epsilon, 1, 1)]

    def derived(self) -> dict[str, Any]:
        """Return the coin."""
        return {"cells": self.cells, "coin": written(self.laws[0].coin)}


class HybridMean(Mean):
    """A law on a finer grid with the public probability `weight`, else the bit."""

    def read(self, spec: dict[str, Any]) -> list[Piecewise]:
        """The weight is a multiple of 2^-64."""
        steps, window = integer(spec, "steps", 1, 1 << 12), integer(spec, "window", 1, 1 << 12)
        weight = read_fraction(spec.get("weight"), "weight")
        if not 0 < weight <= 1 or (weight * COIN_TOTAL).denominator != 1:
            raise SpecRefused("weight of this spec is a probability above 0, a multiple of 2^-64")
        self.weight = int(weight * COIN_TOTAL)
        self.fields.update(steps=steps, window=window, weight=str(weight))
        first = Piecewise(self.epsilon, steps, window)
        return [first] if weight == 1 else [first, Piecewise(self.epsilon, 1, 1)]

    def derived(self) -> dict[str, Any]:
        """Return the coins."""
        return {"cells": self.cells, "coins": [written(law.coin) for law in self.laws]}


PROTOCOLS: dict[str, Any] = {
    "randomized-response": RandomizedResponse,
    "one-bit-hadamard": OneBitHadamard,
    "projective-geometry": ProjectiveGeometry,
    "hybrid-geometry": HybridGeometry,
    "hashed-geometry": HashedGeometry,
    "heavy-hitters": HeavyHitters,
    "duchi-bit": DuchiBit,
    "hybrid-mean": HybridMean,
}


# The client.


_marks: list[object] = [object()]  # renewed by a fork: numbers of processes are used again


def this_process() -> tuple[int, object]:
    """Return what tells this process from all forks of it."""
    return os.getpid(), _marks[0]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _marks.__setitem__(0, object()))


class Client:
    """One person's client of a spec: it checks the spec, and reports once.

    >>> text = (
    ...     '{"categories":4,"derived":{"cells":4,"coin":"8768971294881393556","inside":1},"epsilon":"1",'
    ...     '"format":"discreet.local","protocol":"randomized-response","version":2}'
    ... )
    >>> client = Client(text)
    >>> client.report(3) in range(4)
    True
    >>> client.report(3)
    Traceback (most recent call last):
        ...
    clients.python.standalone.AlreadyReported: this client has reported; a second report would cost epsilon again
    >>> Client(text.replace("393556", "393557"))
    Traceback (most recent call last):
        ...
    clients.python.standalone.SpecRefused: the coin of this spec breaks its guarantee: reports would tell more than ...
    """

    def __init__(self, spec_text: str) -> None:
        """Read the spec, and refuse it unless everything in it follows from its parameters."""
        spec = read_object(spec_text)
        kind = PROTOCOLS.get(spec["protocol"]) if isinstance(spec.get("protocol"), str) else None
        if spec.get("format") != "discreet.local" or spec.get("version") != 2 or kind is None:
            raise SpecRefused(f"this client speaks discreet.local, version 2, protocols {', '.join(sorted(PROTOCOLS))}")
        self.protocol: Any = kind(spec)
        self.cells: int = self.protocol.cells
        self._check_coins(spec)
        same = {"format": "discreet.local", "version": 2, "protocol": spec["protocol"]}
        same.update(self.protocol.fields, epsilon=str(read_epsilon(spec)), derived=self.protocol.derived())
        if canonical(same) != canonical(spec):
            raise SpecRefused(
                "this spec is not consistent: a field is unknown, missing, or does not follow from others"
            )
        self.digest = hashlib.sha256(canonical(spec).encode("ascii")).digest()
        self._process = this_process()
        self._tickets = [True]  # list.pop is atomic: two threads cannot both take the one ticket

    def _check_coins(self, spec: dict[str, Any]) -> None:
        """Say clearly if the coin that the collector wants is too large; only our own is ever tossed."""
        derived = spec.get("derived")
        wanted = derived.get("coins", [derived.get("coin")]) if isinstance(derived, dict) else []
        exp = exp_below(read_epsilon(spec))
        for place, (_, inside, outside) in enumerate(self.protocol.coins):
            one = wanted[place] if isinstance(wanted, list) and place < len(wanted) else None
            if not re.fullmatch("[0-9]{1,20}", str(one)) or int(str(one)) > COIN_TOTAL:
                raise SpecRefused("the coin of this spec is missing, or no number from 0 to 2^64")
            if not keeps_guarantee(int(str(one)), inside, outside, exp):
                raise SpecRefused("the coin of this spec breaks its guarantee: reports would tell more than e^epsilon")

    def report(self, value: Any) -> int:
        """Return the one report of this person; a refused value spends nothing."""
        item = self.protocol.item(value)
        if this_process() != self._process:
            raise AlreadyReported("this client belongs to another process, which may have reported")
        if not self._take_ticket():
            raise AlreadyReported("this client has reported; a second report would cost epsilon again")
        return int(self.protocol.draw(item))

    def _take_ticket(self) -> bool:
        """Take the right to report, if it is still there."""
        try:
            return self._tickets.pop()
        except IndexError:
            return False

    def bit(self, value: Any, person: int) -> bool:
        """Return the one report of a one-bit protocol as a bit, for the public row of a public number of the person."""
        if not isinstance(self.protocol, OneBitHadamard):
            raise SpecRefused("a single bit is reported by one-bit-hadamard only")
        row, item = self.row(person), self.protocol.item(value)
        drawn, flipped = divmod(self.report(value), 2)
        return bool(flipped ^ parity(drawn, item) ^ parity(row, item))  # the flip that was drawn, on the public row

    def row(self, person: int) -> int:
        """Return the public row of a person: the leading bits of a SHA-256 under the digest."""
        if not isinstance(self.protocol, OneBitHadamard) or type(person) is not int or not 0 <= person < 1 << 64:
            raise SpecRefused("a public row belongs to an int from 0 to 2^64 - 1, and to one-bit-hadamard")
        hashed = hashlib.sha256(self.digest + person.to_bytes(8, "little")).digest()
        return int.from_bytes(hashed[:8], "big") >> (65 - self.protocol.rows.bit_length())

    def law(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every report of a value, for at most 2^16 reports."""
        if self.cells > LARGEST_LAW:
            raise SpecRefused("the law of a report is listed for at most 2^16 outputs")
        masses: list[Fraction] = self.protocol.law(self.protocol.item(value))
        return masses

    @property
    def report_bytes(self) -> int:
        """The number of bytes that a report takes in a batch."""
        return max(1, -(-(self.cells - 1).bit_length() // 8))

    def batch(self, reports: list[int]) -> bytes:
        """Return reports of this spec as the bytes that an aggregator reads: magic, digest, width, count, reports."""
        width = self.report_bytes
        head = b"DLB1" + self.digest + bytes([width]) + len(reports).to_bytes(8, "little")
        return head + b"".join(report.to_bytes(width, "little") for report in reports)

    def __repr__(self) -> str:
        """Show the protocol only."""
        return f"Client({type(self.protocol).__name__})"

    def __reduce__(self) -> Any:
        """Refuse to be copied or pickled: a copy could report again."""
        raise AlreadyReported("a client reports once for its person; make another from the spec for another person")


def read_spec(path: str) -> str:
    """Read the text of a spec from a file: no more bytes than a spec may have, and UTF-8 whatever the locale is."""
    with open(path, "rb") as file:
        data = file.read(LONGEST_TEXT + 1)
    if len(data) > LONGEST_TEXT:
        raise SpecRefused("a spec has at most 32 MiB")
    return data.decode("utf-8")


def read_value(argument: str) -> str:
    """Read a value as UTF-8 whatever the locale is: the argument, or for "-" the first line of the input."""
    data = sys.stdin.buffer.readline(LONGEST_VALUE) if argument == "-" else os.fsencode(argument)
    text = None
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8")
    if text is None:  # raised here, outside the handler: the error of the decoder carries the value
        raise ValueRefused("a value is written in UTF-8; nothing was reported")
    return text.rstrip("\r\n") if argument == "-" else text


def main(arguments: list[str]) -> int:
    """Print the report of a value under the spec in a file."""
    if len(arguments) != 2:
        print("usage: python standalone.py SPEC.json VALUE  (VALUE - reads it from the input)", file=sys.stderr)
        return 2
    try:
        client = Client(read_spec(arguments[0]))
        print(client.report(client.protocol.parse(read_value(arguments[1]))))
    except (OSError, UnicodeDecodeError):
        print("refused: the spec cannot be read", file=sys.stderr)
        return 1
    except (SpecRefused, ValueRefused) as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
