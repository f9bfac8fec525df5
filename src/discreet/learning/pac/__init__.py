"""Private PAC learning: finite classes by the exponential mechanism, and classes for which there is a quicker way."""

from discreet.learning.pac.conjunctions import Conjunction, ConjunctionLearner
from discreet.learning.pac.finite_class import FiniteClassLearner
from discreet.learning.pac.parities import Parity, ParityLearner
from discreet.learning.pac.people_needed import SampleSizes, sample_sizes
from discreet.learning.pac.thresholds import Stump, StumpLearner
