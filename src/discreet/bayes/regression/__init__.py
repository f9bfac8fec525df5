"""Models of the cells of GROUP BY answers: each cell's likelihood is a function of one number, tabulated once."""

from discreet.bayes.regression.areas import SmallAreaRates, SmallAreaShares
from discreet.bayes.regression.cells import ListedCells, Sides
from discreet.bayes.regression.likelihoods import RateLikelihood, ShareCell, ShareLikelihood
from discreet.bayes.regression.logistic_cells import LogisticCells
from discreet.bayes.regression.poisson_cells import PoissonCells
