"""Models of the cells of GROUP BY answers: each cell's likelihood is a function of one number, tabulated once."""

from discreet.bayes.regression.areas import SmallAreaRates, SmallAreaShares
from discreet.bayes.regression.cells import ListedCells, Sides
from discreet.bayes.regression.generalized_linear import LogisticCells, PoissonCells
from discreet.bayes.regression.likelihoods import RateLikelihood, ShareCell, ShareLikelihood
