"""What every estimator shares: public parameters, the charge before the fit, and what is known without data."""

from discreet.learning.base.center import released_center
from discreet.learning.base.charging import charged, fresh_digest, obtained, stated_books
from discreet.learning.base.declared_columns import BINS
from discreet.learning.base.estimator import (
    PrivateClassifier,
    PrivateEstimator,
    PrivateRegressor,
    PrivateTransformer,
    Public,
)
from discreet.learning.base.explanation import FitExplanation, regime
from discreet.learning.base.from_session import PreparedFit, prepared_fit
from discreet.learning.base.parameters import stated_bounds, stated_people, whole_number
from discreet.learning.base.pipeline import Pipeline, unpriced_steps
from discreet.learning.base.pushed_down import MOST_CELLS, Box, first_float
from discreet.learning.base.score_session import PreparedScore, chosen, prepared_score, said
from discreet.learning.base.stored_model import FORMS, check_model, class_named, content_of, restore, to_text
