"""Linking: records found again by what is unique about them, and what anonymity costs."""

from discreet.attacks.linking.anonymity import AttackedRelease, Exposure, chance_of_one_left, homogeneity, intersection
from discreet.attacks.linking.dimension import Curse, curse, expected_side, least_side
from discreet.attacks.linking.linkage import Linkage, MatchRule, expected_wrong, link
from discreet.attacks.linking.mondrian_boxes import Boxes, mondrian
from discreet.attacks.linking.ratings import (
    BestMatch,
    Identification,
    Identified,
    Scoreboard,
    expected_candidates,
    identify,
)
from discreet.attacks.linking.unique_people import Uniques, expected_uniques, uniques
