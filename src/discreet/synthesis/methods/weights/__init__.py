"""Multiplicative weights: a distribution over the domain, corrected round by round."""

from discreet.synthesis.methods.weights.multiplicative import whole_domain
from discreet.synthesis.methods.weights.mwem import Mwem
from discreet.synthesis.methods.weights.reweighted import SUPPORT, Reweighted
