"""Attacks on models: secrets of those a model was trained on, who they are, and a training's own claim."""

from discreet.attacks.models.invented_rows import invented_doses, invented_labels
from discreet.attacks.models.inversion_attack import Inversion, gap_ceiling, inversion
from discreet.attacks.models.network_audit import NetworkTraining, audit_network
from discreet.attacks.models.shadows import ShadowMembership, shadow_membership
from discreet.attacks.models.text_extraction import (
    NGrams,
    TextExtraction,
    extraction,
    guess_ceiling,
    invented_messages,
    ngrams,
)
from discreet.attacks.models.training_audit import CanaryTable, DescentTraining, RepeatedRows, audit_training
