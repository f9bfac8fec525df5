"""Linking: records found again by what is unique about them, and what anonymity costs."""

from __future__ import annotations

from discreet.attacks.linking.anonymity import Exposure, Release, chance_of_one_left, homogeneity, intersection
from discreet.attacks.linking.curse import Curse, curse, expected_side, least_side
from discreet.attacks.linking.linkage import Linkage, MatchRule, expected_wrong, link
from discreet.attacks.linking.mondrian import Boxes, mondrian
from discreet.attacks.linking.ratings import (
    Candidate,
    Identification,
    Identified,
    Scoreboard,
    expected_candidates,
    identify,
)
from discreet.attacks.linking.uniques import Uniques, expected_uniques, uniques

__all__ = [
    "Boxes",
    "Candidate",
    "Curse",
    "Exposure",
    "Identification",
    "Identified",
    "Linkage",
    "MatchRule",
    "Release",
    "Scoreboard",
    "Uniques",
    "chance_of_one_left",
    "curse",
    "expected_candidates",
    "expected_side",
    "expected_uniques",
    "expected_wrong",
    "homogeneity",
    "identify",
    "intersection",
    "least_side",
    "link",
    "mondrian",
    "uniques",
]
