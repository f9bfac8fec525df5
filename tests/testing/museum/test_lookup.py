"""An exhibit says its name and its guarantee, and is found by its name."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.testing.museum import MUSEUM, exhibit_named


def test_an_exhibit_shows_its_name_and_its_claim() -> None:
    assert repr(exhibit_named("SVT4")) == "<Exhibit SVT4: guarantees 0.1-DP>"
    assert repr(exhibit_named("ExactThreshold")) == "<Exhibit ExactThreshold: guarantees (1, 1e-06)-DP>"


def test_every_exhibit_is_found_by_its_name_whatever_the_capitals() -> None:
    for exhibit in MUSEUM:
        assert exhibit_named(exhibit.label.name) is exhibit
        assert exhibit_named(exhibit.label.name.lower()) is exhibit


@pytest.mark.parametrize("name", ["SVT9", "", 4, None])
def test_an_unknown_name_lists_those_there_are(name: str) -> None:
    with pytest.raises(ParameterError, match=r"no exhibit .*; it has Laplace, TruncatedGeometric, .*ShuffledBatches"):
        exhibit_named(name)
