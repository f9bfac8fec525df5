"""Private learning: scikit-learn estimators that pay for what they read, with exact sums and exact noise."""

from discreet._optional import listing
from discreet.learning.base import Explanation
from discreet.learning.descent import LogisticRegression
from discreet.learning.score_curve import ScoreCurve, score_curve

__all__ = ["Explanation", "LogisticRegression", "ScoreCurve", "score_curve"]

__dir__ = listing("discreet.learning")
