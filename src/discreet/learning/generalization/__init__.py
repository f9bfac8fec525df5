"""Private answers hold for new people, too: how far a score can be from the truth, and a holdout that lasts."""

from discreet.learning.generalization.gap import GeneralizationGap, generalization_gap, transfer_bound
from discreet.learning.generalization.holdout import HoldoutPlan, Ladder, ReusableHoldout
