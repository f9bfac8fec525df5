"""Random bits that tell equal rows apart, and how many rows may still share a position."""

from __future__ import annotations

from discreet.errors import ParameterError
from discreet.statistics.columns.even_sort import with_random_bits
from discreet.statistics.ranks.ranked import LARGEST_STEPS, Integers

TIE_BITS = 16


def stated_tie_bits(tie_bits: object, steps: int) -> int:
    """Return the number of random bits, fewer on a grid that has no room for more."""
    if isinstance(tie_bits, bool) or not isinstance(tie_bits, int) or not 0 <= tie_bits <= TIE_BITS:
        raise ParameterError("tie_bits is a whole number between 0 and 16", parameter="tie_bits")
    return max(min(tie_bits, LARGEST_STEPS.bit_length() - 1 - steps.bit_length()), 0)


def told_apart(positions: Integers, tie_bits: int) -> Integers:
    """Append independent random bits to every position."""
    return with_random_bits(positions, tie_bits)


def told_apart_in_order(positions: Integers, tie_bits: int) -> Integers:
    """Return the positions with their random bits, sorted.

    More bits are drawn than asked for, and taken off again: see `even_sort`. The caller knows that there is room.
    """
    fine = told_apart(positions, TIE_BITS)
    fine.sort()
    fine >>= TIE_BITS - tie_bits
    return fine


def most_ties(people: int, tie_bits: int, failure: float) -> int:
    """Return a number of rows that no position and bits hold more of, except with probability `failure`.

    A union over the rows: each shares its position with at most all others, and its bits with each of them with
    probability 2^-bits, independently.

    >>> most_ties(10_000, 16, 0.01), most_ties(10_000, 0, 0.01)
    (5, 10000)
    """
    from scipy.special import bdtrc

    if not tie_bits or people <= 1:
        return max(people, 1)
    low, high = 1, people
    while low < high:
        middle = (low + high) // 2
        enough = people * float(bdtrc(middle - 1, people - 1, 2.0**-tie_bits)) <= failure * (1 - 1e-9)
        low, high = (low, middle) if enough else (middle + 1, high)
    return low
