"""Reports on a release: predicted and measured errors beside simple baselines."""

from discreet.synthesis.reporting.error_report import Baseline, Errors, Report, report
from discreet.synthesis.reporting.plot import ErrorCurves, error_curve
from discreet.synthesis.reporting.prediction import Prediction, largest_noise, predict
