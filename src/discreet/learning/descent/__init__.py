"""One noisy gradient core, and the models that it fits: logistic, linear and additive."""

from discreet.learning.descent.additive import AdditiveClassifier, AdditiveRegressor, Shape
from discreet.learning.descent.descent import Descent, descend, signal_of
from discreet.learning.descent.linear_regression import LinearRegression
from discreet.learning.descent.logistic_regression import LogisticRegression
