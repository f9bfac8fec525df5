"""Private learning: scikit-learn estimators that pay for what they read, with exact sums and exact noise."""

from discreet._optional import listing
from discreet.learning.base import Explanation
from discreet.learning.descent import LinearRegression, LogisticRegression

__all__ = ["Explanation", "LinearRegression", "LogisticRegression"]

__dir__ = listing("discreet.learning")
