"""Exact posteriors of counts and shares: finite sums over the people who may have been there, and no Markov chain."""

from discreet.bayes.counts.beta_binomial import BetaBinomial
from discreet.bayes.counts.dirichlet_multinomial import DirichletMultinomial
from discreet.bayes.counts.marginals import IntegerMarginal, MixtureOfBetas, MixtureOfGammas
from discreet.bayes.counts.people import FlatPeople, NegativeBinomialPeople, PeoplePrior, PoissonPeople
from discreet.bayes.counts.poisson_gamma import PoissonGamma
from discreet.bayes.counts.weights import CellWeight, ReleasedWeight, Weight, WeightProduct
from discreet.bayes.counts.windows import CountWindow, window
