"""Recipes without public data: fixed features of images, texts and tables, small networks, and one public rule."""

from discreet.learning.deep.recipes.hashed_words import COMMON_ENGLISH, HashedTokens, HashedWords
from discreet.learning.deep.recipes.networks import (
    BagOfEmbeddings,
    SmallTransformer,
    convolutional,
    linear,
    perceptron,
)
from discreet.learning.deep.recipes.one_hot import BinnedNumbers, OneHot
from discreet.learning.deep.recipes.public_rule import Recipe, RecipeExplanation, recipe
from discreet.learning.deep.recipes.scattering import Scattering
