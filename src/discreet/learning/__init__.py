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
from discreet.learning.generalization import (
    GeneralizationGap,
    HoldoutPlan,
    Ladder,
    ReusableHoldout,
    generalization_gap,
    transfer_bound,
)
from discreet.learning.model_file import load_model, save_model
from discreet.learning.moments import PCA, AdaSSP, KMeans, Ridge, StandardScaler
from discreet.learning.pac import (
    Conjunction,
    ConjunctionLearner,
    FiniteClassLearner,
    Parity,
    ParityLearner,
    SampleSizes,
    Stump,
    StumpLearner,
    sample_sizes,
)
from discreet.learning.score_curves import ScoreCurve, score_curve
from discreet.learning.search import Poisson, PrivateSearch, SearchPlan, TruncatedNegativeBinomial

__all__ = [
    "PCA",
    "AdaSSP",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "Bins",
    "CategoricalNB",
    "Conjunction",
    "ConjunctionLearner",
    "DecisionTreeClassifier",
    "FiniteClassLearner",
    "FitExplanation",
    "FourierFeatures",
    "GaussianNB",
    "GeneralizationGap",
    "HoldoutPlan",
    "KMeans",
    "Ladder",
    "LinearRegression",
    "LogisticRegression",
    "NearestCentroid",
    "Parity",
    "ParityLearner",
    "Pipeline",
    "Poisson",
    "PrivateSearch",
    "RandomForestClassifier",
    "RandomLeaves",
    "ReusableHoldout",
    "Ridge",
    "SampleSizes",
    "ScoreCurve",
    "SearchPlan",
    "StandardScaler",
    "Stump",
    "StumpLearner",
    "TruncatedNegativeBinomial",
    "generalization_gap",
    "load_model",
    "sample_sizes",
    "save_model",
    "score_curve",
    "transfer_bound",
    "unpriced_steps",
]

__dir__ = listing("discreet.learning")
