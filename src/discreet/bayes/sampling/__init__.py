"""Draws from posteriors without a closed form, by two engines behind one gate."""

from discreet.bayes.sampling.gate import Sampled, sampled
from discreet.bayes.sampling.joint import Joint
