"""Mechanisms that add noise to numbers."""

from discreet.mechanisms.noise.additive import check_grid, floor_log2, power_of_two, two_to
from discreet.mechanisms.noise.gaussian import (
    Gaussian,
    GaussianLaw,
    GaussianNoise,
    calibrated_noise,
    gaussian_noise_loss,
)
from discreet.mechanisms.noise.laplace import Laplace
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric, least_reach, usable_delta
