"""Secure bits in, exact integers out."""

from discreet._optional import listing
from discreet.randomness.choice import AliasTable, choose_by_weights
from discreet.randomness.coins import bernoulli, bernoulli_array, bernoulli_exp
from discreet.randomness.keystream import bits, word, words
from discreet.randomness.reservoir import Reservoir
from discreet.randomness.uniform import uniform_below, uniform_below_array

__all__ = [
    "AliasTable",
    "Reservoir",
    "bernoulli",
    "bernoulli_array",
    "bernoulli_exp",
    "bits",
    "choose_by_weights",
    "uniform_below",
    "uniform_below_array",
    "word",
    "words",
]

__dir__ = listing("discreet.randomness")
