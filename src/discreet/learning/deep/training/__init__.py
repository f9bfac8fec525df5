"""The trainer: steps of a plan that are paid for first, interruptions that repeat nothing, and estimators over it."""

from discreet._optional import listing, optional

optional("torch", extra="deep", purpose="discreet.learning.deep.train")

from discreet.learning.deep.training.averages import (  # noqa: E402  the line above says what to install
    ExponentialAverage,
    TailAverage,
    WeightAverage,
)
from discreet.learning.deep.training.by_recipe import RecipeClassifier, TrainedRecipe, train_recipe  # noqa: E402
from discreet.learning.deep.training.checkpoint import Checkpoint  # noqa: E402
from discreet.learning.deep.training.estimators import DeepClassifier, DeepRegressor  # noqa: E402
from discreet.learning.deep.training.trained_model import TrainedModel  # noqa: E402
from discreet.learning.deep.training.trainer import train  # noqa: E402

__all__ = [
    "Checkpoint",
    "DeepClassifier",
    "DeepRegressor",
    "ExponentialAverage",
    "RecipeClassifier",
    "TailAverage",
    "TrainedModel",
    "TrainedRecipe",
    "WeightAverage",
    "train",
    "train_recipe",
]

__dir__ = listing("discreet.learning.deep.training")
