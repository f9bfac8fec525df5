"""Private statistics of columns: each returns an estimate with its interval, its promise and its price."""

from discreet.statistics.clipping_bounds import Bounds, ClippingBounds, clipping_bounds
from discreet.statistics.contribution import Rows
from discreet.statistics.count import Count, count
from discreet.statistics.count_distinct import CountDistinct, count_distinct
from discreet.statistics.covariance import Covariance, covariance
from discreet.statistics.discovered_histogram import DiscoveredHistogram
from discreet.statistics.estimate_table import EstimateTable
from discreet.statistics.global_sensitivity import Query, SensitivityFact, explain_sensitivity, sensitivity
from discreet.statistics.histogram import Histogram, histogram
from discreet.statistics.matrix_estimate import MatrixEstimate
from discreet.statistics.mean import Mean, mean
from discreet.statistics.missing import Missing
from discreet.statistics.quantile import Quantile, quantile
from discreet.statistics.quantiles import Quantiles, quantiles
from discreet.statistics.sensitivity_domain import AtLeast
from discreet.statistics.standard_deviation import StandardDeviation, standard_deviation
from discreet.statistics.sum import Sum, sum
from discreet.statistics.variance import Variance, variance

__all__ = [
    "AtLeast",
    "Bounds",
    "ClippingBounds",
    "Count",
    "CountDistinct",
    "Covariance",
    "DiscoveredHistogram",
    "EstimateTable",
    "Histogram",
    "MatrixEstimate",
    "Mean",
    "Missing",
    "Quantile",
    "Quantiles",
    "Query",
    "Rows",
    "SensitivityFact",
    "StandardDeviation",
    "Sum",
    "Variance",
    "clipping_bounds",
    "count",
    "count_distinct",
    "covariance",
    "explain_sensitivity",
    "histogram",
    "mean",
    "quantile",
    "quantiles",
    "sensitivity",
    "standard_deviation",
    "sum",
    "variance",
]
