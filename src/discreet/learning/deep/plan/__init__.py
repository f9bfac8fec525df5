"""Plans of private training: who is sampled, where gradients are clipped, which noise is added, and what it costs."""

from discreet.learning.deep.plan.clipping import Clip, ClipMode
from discreet.learning.deep.plan.drawing import BatchState, SecretBatches, uniform_slots
from discreet.learning.deep.plan.noises import Banded, Buffered, Float, IndependentNoise, TrainingNoise
from discreet.learning.deep.plan.placed_samplers import BallsInBins, CyclicPoisson
from discreet.learning.deep.plan.plan import Plan
from discreet.learning.deep.plan.samplers import (
    MOST_PEOPLE,
    BatchSampler,
    FullBatch,
    Overflow,
    PoissonBatches,
)
