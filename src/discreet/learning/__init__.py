"""Private learning: scikit-learn estimators that pay for what they read, with exact sums and exact noise."""

from discreet._optional import listing
from discreet.learning.base import Explanation
from discreet.learning.descent import LogisticRegression
from discreet.learning.moments import PCA, AdaSSP, KMeans, Ridge, StandardScaler

__all__ = ["PCA", "AdaSSP", "Explanation", "KMeans", "LogisticRegression", "Ridge", "StandardScaler"]

__dir__ = listing("discreet.learning")
