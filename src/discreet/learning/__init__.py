"""Private learning: scikit-learn estimators that pay for what they read, with exact sums and exact noise."""

from discreet._optional import listing
from discreet.learning.base import Explanation
from discreet.learning.counts import (
    CategoricalNB,
    DecisionTreeClassifier,
    GaussianNB,
    NearestCentroid,
    RandomForestClassifier,
)
from discreet.learning.descent import AdditiveClassifier, AdditiveRegressor, LinearRegression, LogisticRegression
from discreet.learning.features import Bins, FourierFeatures, RandomLeaves
from discreet.learning.score_curve import ScoreCurve, score_curve
from discreet.learning.search import Poisson, PrivateSearch, TruncatedNegativeBinomial

__all__ = [
    "AdditiveClassifier",
    "AdditiveRegressor",
    "Bins",
    "CategoricalNB",
    "DecisionTreeClassifier",
    "Explanation",
    "FourierFeatures",
    "GaussianNB",
    "LinearRegression",
    "LogisticRegression",
    "NearestCentroid",
    "Poisson",
    "PrivateSearch",
    "RandomForestClassifier",
    "RandomLeaves",
    "ScoreCurve",
    "TruncatedNegativeBinomial",
    "score_curve",
]

__dir__ = listing("discreet.learning")
