"""Guarantees: the notions of privacy, how they compare, convert and add up."""

from discreet.privacy.guarantees.composition import advanced_composition, basic_composition, repeated, split
from discreet.privacy.guarantees.conversion import convert, implies
from discreet.privacy.guarantees.curves import delta_of, epsilon_of, tradeoff_of, worst_pair
from discreet.privacy.guarantees.groups_and_samples import amplify_by_poisson, group_privacy
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP, shown
from discreet.privacy.guarantees.in_words import in_words, plain, with_notion
from discreet.privacy.guarantees.moments import zcdp_epsilon
from discreet.privacy.guarantees.rules import pure_to_zcdp
from discreet.privacy.guarantees.sensible import warn_if_senseless
