"""Shuffled reports: what the crowd adds to the privacy of each."""

from discreet.local.shuffling.shuffled import Shuffled
