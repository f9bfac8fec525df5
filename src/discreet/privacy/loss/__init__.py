"""Privacy losses: exact objects that compose, are sampled, and answer for epsilon and delta."""

from discreet.privacy.loss.batches import (
    balls_in_bins_loss,
    cyclic_poisson_loss,
    matrix_gaussian_loss,
    truncated_loss,
)
from discreet.privacy.loss.calibration import Calibration, calibrate, largest_count
from discreet.privacy.loss.consequences import gaussian_square
from discreet.privacy.loss.delta_curve import DeltaCurve
from discreet.privacy.loss.derived import change_one_loss, group_loss, subsample
from discreet.privacy.loss.loss import PrivacyLoss, compose
from discreet.privacy.loss.pointwise import pointwise_delta
from discreet.privacy.loss.reference import (
    above_threshold_loss,
    bounded_range_loss,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    randomized_response_loss,
    table_loss,
)
from discreet.privacy.loss.release import Release, Sampler
from discreet.privacy.loss.walk import LossWalk
