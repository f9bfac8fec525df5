"""Covariances and Gram matrices with noise of the right shape."""

from discreet.statistics.moments.covariance import Covariance, MatrixEstimate, covariance
