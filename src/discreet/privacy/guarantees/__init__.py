"""Guarantees: the notions of privacy, how they compare, convert and add up."""

from discreet.privacy.guarantees.composition import (
    advanced_composition,
    amplify_by_poisson,
    basic_composition,
    group_privacy,
    repeated,
    split,
)
from discreet.privacy.guarantees.conversion import approx_to_gaussian, convert, implies, pure_to_gaussian, pure_to_zcdp
from discreet.privacy.guarantees.curves import delta_of, epsilon_of, tradeoff_of, worst_pair
from discreet.privacy.guarantees.guarantee import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    price_guarantees_by,
    shown,
    warn_if_senseless,
)
from discreet.privacy.guarantees.normal_scores import bounded_range_mu, rho_of_choices, rho_of_halves
from discreet.privacy.guarantees.wording import in_odds, in_words, plain, with_notion
