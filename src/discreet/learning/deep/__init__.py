"""Private training of networks: a public plan, clipped sums in one backward pass, exact noise, and the trainer."""

from typing import Any

from discreet._optional import listing, loader, optional

_FLOORS = ("plan", "clip", "noise", "recipes", "training")
_PLANS = (
    "BallsInBins",
    "Banded",
    "Buffered",
    "Clip",
    "CyclicPoisson",
    "Float",
    "FullBatch",
    "IndependentNoise",
    "Plan",
    "PoissonBatches",
)

__all__ = [
    "BagOfEmbeddings",
    "BallsInBins",
    "Banded",
    "BinaryCrossEntropy",
    "BinnedNumbers",
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
    "HashedTokens",
    "HashedWords",
    "IndependentNoise",
    "OneHot",
    "Plan",
    "PoissonBatches",
    "Recipe",
    "RecipeClassifier",
    "Scattering",
    "SmallTransformer",
    "SquaredError",
    "TailAverage",
    "TrainedModel",
    "TrainedRecipe",
    "convolutional",
    "linear",
    "perceptron",
    "recipe",
    "train",
    "train_recipe",
]

_load = loader("discreet.learning.deep", rooms=_FLOORS, names=__all__, of=_FLOORS)


def __getattr__(name: str) -> Any:
    if name in __all__ and name not in _PLANS:  # plans are made, priced and explained without torch
        optional("torch", extra="deep", purpose=f"discreet.learning.deep.{name}")
    return _load(name)


__dir__ = listing("discreet.learning.deep")
