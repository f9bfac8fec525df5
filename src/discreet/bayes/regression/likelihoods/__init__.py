"""Likelihoods of one number a cell, tabulated from noisy counts: a rate, or a share of the people."""

from discreet.bayes.regression.likelihoods.latent_sums import DEPTHS, CountEvidence, evidence, too_far
from discreet.bayes.regression.likelihoods.rate_likelihood import RateLikelihood
from discreet.bayes.regression.likelihoods.share_likelihood import ShareCell, ShareLikelihood, even_logits
