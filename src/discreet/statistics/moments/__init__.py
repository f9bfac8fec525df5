"""Covariances and Gram matrices with noise of the right shape."""

from discreet.statistics.moments.covariance_matrix import Covariance, MatrixEstimate, covariance
from discreet.statistics.moments.gram import Region
