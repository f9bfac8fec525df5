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
from discreet.learning.descent import LogisticRegression
from discreet.learning.model_file import load_model, save_model
from discreet.learning.score_curve import ScoreCurve, score_curve

__all__ = [
    "CategoricalNB",
    "DecisionTreeClassifier",
    "Explanation",
    "GaussianNB",
    "LogisticRegression",
    "NearestCentroid",
    "RandomForestClassifier",
    "ScoreCurve",
    "load_model",
    "save_model",
    "score_curve",
]

__dir__ = listing("discreet.learning")
