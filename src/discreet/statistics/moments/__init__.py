"""Covariances and Gram matrices with noise of the right shape."""
