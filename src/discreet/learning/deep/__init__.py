"""Private training of networks: a public plan, clipped sums in one backward pass, exact noise, and the trainer."""

from discreet._optional import listing, loader

_FLOORS = ("plan", "clip", "noise", "training")

__all__ = [
    "BallsInBins",
    "Banded",
    "BinaryCrossEntropy",
    "Buffered",
    "Checkpoint",
    "Clip",
    "ClippedSum",
    "CrossEntropy",
    "CyclicPoisson",
    "DeepClassifier",
    "DeepRegressor",
    "ExponentialAverage",
    "Float",
    "FullBatch",
    "Independent",
    "Plan",
    "PoissonBatches",
    "SquaredError",
    "TailAverage",
    "TrainedModel",
    "train",
]

# Plans are made without torch: a name is taken from the first floor that has it, and only floors before that are read.
__getattr__ = loader("discreet.learning.deep", rooms=_FLOORS, names=__all__, of=_FLOORS)
__dir__ = listing("discreet.learning.deep")
