"""Models of noisy sums: a normal mean and deviation from clipped values, and linear regression from a Gram matrix."""

from discreet.bayes.sums.linear_model import LinearModel
from discreet.bayes.sums.normal_model import NormalModel
