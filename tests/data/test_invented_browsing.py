"""Browsers that nobody uses: popular pages, addresses that fit, and the same table from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import browsing
from discreet.data.invented_browsing import LONGEST_ADDRESS, MOST_PAGES, _address
from discreet.errors import ParameterError


def test_the_same_seed_gives_the_same_pages_and_another_seed_others():
    first = browsing(people=500, pages=200, seed=3).page
    assert np.array_equal(first, browsing(people=500, pages=200, seed=3).page)
    assert not np.array_equal(first, browsing(people=500, pages=200, seed=4).page)


def test_every_address_is_another_and_fits_into_its_bytes():
    addresses = [_address(number) for number in range(50_000)]
    assert len(set(addresses)) == len(addresses)
    longest = max(len(_address(number).encode()) for number in range(MOST_PAGES - 200_000, MOST_PAGES))
    assert max(longest, *(len(address.encode()) for address in addresses)) <= LONGEST_ADDRESS
    assert not all(address.isascii() for address in addresses)


def test_the_favorite_of_most_people_has_the_share_of_its_weight():
    page = browsing(people=100_000, pages=1000, seed=5, exponent=1.0).page
    counts = np.sort(np.unique(page, return_counts=True)[1])[::-1]
    expected = 1 / np.sum(1 / np.arange(1, 1001))
    assert abs(counts[0] / 100_000 - expected) < 7 * np.sqrt(expected / 100_000)


@pytest.mark.parametrize("pages", [0, 9, MOST_PAGES + 1, 10.0, True])
def test_a_senseless_number_of_pages_is_refused(pages):
    with pytest.raises(ParameterError, match="pages"):
        browsing(people=10, pages=pages, seed=1)


@pytest.mark.parametrize("exponent", [float("nan"), float("inf"), -1.0, "1", None])
def test_a_senseless_exponent_is_refused(exponent):
    with pytest.raises(ParameterError, match="exponent"):
        browsing(people=10, pages=10, seed=1, exponent=exponent)
