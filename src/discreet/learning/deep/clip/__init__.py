"""Sums of clipped gradients, one backward a batch, in plain floats or proven in float64."""

from discreet.learning.deep.clip.clipped_sum import ClippedSum, Loss
from discreet.learning.deep.clip.losses import BinaryCrossEntropy, CrossEntropy, SquaredError
from discreet.learning.deep.clip.settings import secret_masks
