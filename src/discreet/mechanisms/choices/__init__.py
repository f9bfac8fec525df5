"""Mechanisms that choose among candidates or answers."""

from discreet.mechanisms.choices.exponential import Exponential
from discreet.mechanisms.choices.noisy_max import NoisyMax
from discreet.mechanisms.choices.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.choices.randomized_response import RandomizedResponse
from discreet.mechanisms.choices.selection import MONOTONE, moved_by, truth_value
from discreet.mechanisms.choices.selection_grid import SelectionGrid, is_large
from discreet.mechanisms.choices.top import Top
