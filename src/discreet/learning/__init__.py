"""Private learning: scikit-learn estimators that pay for what they read, with exact sums and exact noise."""

from discreet._optional import listing
from discreet.learning.base import FitExplanation, Pipeline, unpriced_steps
from discreet.learning.counts import (
    CategoricalNB,
    DecisionTreeClassifier,
    GaussianNB,
    NearestCentroid,
    RandomForestClassifier,
)
from discreet.learning.descent import AdditiveClassifier, AdditiveRegressor, LinearRegression, LogisticRegression
from discreet.learning.features import Bins, FourierFeatures, RandomLeaves
from discreet.learning.model_file import load_model, save_model
from discreet.learning.moments import PCA, AdaSSP, KMeans, Ridge, StandardScaler
from discreet.learning.score_curves import ScoreCurve, score_curve

__all__ = [
    "PCA",
    "AdaSSP",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "Bins",
    "CategoricalNB",
    "DecisionTreeClassifier",
    "FitExplanation",
    "FourierFeatures",
    "GaussianNB",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NearestCentroid",
    "Pipeline",
    "RandomForestClassifier",
    "RandomLeaves",
    "Ridge",
    "ScoreCurve",
    "StandardScaler",
    "load_model",
    "save_model",
    "score_curve",
    "unpriced_steps",
]

__dir__ = listing("discreet.learning")
