"""What all models share: parameters, priors, posteriors and their gate."""

from discreet.bayes.base.diagnostics import Diagnostics, smoothed
from discreet.bayes.base.intervals import Parameter, PosteriorInterval
from discreet.bayes.base.marginal import DrawnMarginal, Draws, Marginal, real_number
from discreet.bayes.base.model import Model, Values
from discreet.bayes.base.posterior import Posterior
from discreet.bayes.base.priors import HalfNormal, LogNormal, Normal, Prior, drawn_counts, positive
from discreet.bayes.base.probability import FlatDraws, Probability, stated_flag, stated_seed
from discreet.bayes.base.release_check import ReleaseCheck
