"""From posteriors to other tools: likelihood tables for probabilistic languages, synthetic tables with their rules."""

from discreet.bayes.bridges.combining import CombinedEstimate, combine_estimates
from discreet.bayes.bridges.likelihood import LikelihoodTable, likelihood_tables, noise_terms
from discreet.bayes.bridges.made_up_rows import SyntheticTables, synthetic_tables
from discreet.bayes.bridges.programs import NUMPYRO, PYMC, STAN
