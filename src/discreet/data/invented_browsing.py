"""Browsers that nobody uses: each person's most visited page, out of very many addresses that nobody could list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data.table import Column, InventedTable, check_whole, drawn, generator
from discreet.privacy.numbers import nonnegative

LONGEST_ADDRESS = 24  # bytes in UTF-8
MOST_PAGES = 1_000_000

_STARTS = (
    "blue", "city", "daily", "early", "fair", "green", "home", "inner", "just", "key", "lake", "moon", "new", "open",
    "pure", "quiet", "red", "stadt", "tiny", "ur", "video", "wild", "xeno", "your", "über",
)  # fmt: skip
_ENDS = (
    "art", "bank", "café", "desk", "eats", "farm", "games", "house", "ideas", "jobs", "kitchen", "letters", "maps",
    "news", "office", "post", "quiz", "radio", "shop", "tunes", "union", "view", "weather", "yard", "zoo",
)  # fmt: skip
_TOPS = (".example", ".test")


@dataclass(frozen=True, eq=False, repr=False)
class Browsing(InventedTable):
    """One row a person: the address of the page they visit most."""

    page: Column


def browsing(*, people: int, pages: int, seed: int, exponent: float = 1.2) -> Browsing:
    """Return the favorite pages of `people` invented people; the same seed gives the same table.

    The r-th page is the favorite with weight r^-exponent. Addresses share their beginnings, as addresses do, are not
    all ASCII, and have at most 24 bytes in UTF-8; which of them are popular depends on the seed.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. About a second for a million people.

    >>> browsing(people=1000, pages=500, seed=7)
    Browsing(1,000 rows, synthetic; columns page)
    """
    random = generator(people, seed)
    check_whole("pages", pages, low=10, high=MOST_PAGES)
    weights = (np.arange(pages) + 1.0) ** -float(nonnegative(exponent, name="exponent"))
    ranks = drawn(random, weights[None, :], np.zeros(people, dtype=np.int64))
    names = np.array([_address(number) for number in random.permutation(pages).tolist()])
    return Browsing(names[ranks])


def _address(number: int) -> str:
    """Return the address with a number: a site, and for most a page of it."""
    rest, start = divmod(number, len(_STARTS))
    rest, end = divmod(rest, len(_ENDS))
    rest, top = divmod(rest, len(_TOPS))
    site = f"{_STARTS[start]}{_ENDS[end]}{_TOPS[top]}"
    return site if rest == 0 else f"{site}/{rest}"
