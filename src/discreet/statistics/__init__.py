"""Private statistics of columns: each returns an estimate with its interval, its promise and its price."""

from discreet.statistics.columns.contribution import Rows
from discreet.statistics.columns.numbers import Missing
from discreet.statistics.histograms.count_distinct import CountDistinct, count_distinct
from discreet.statistics.histograms.discovered import DiscoveredHistogram
from discreet.statistics.histograms.estimate_table import EstimateTable
from discreet.statistics.histograms.histogram import Histogram, histogram
from discreet.statistics.moments.covariance import Covariance, covariance
from discreet.statistics.moments.matrix_estimate import MatrixEstimate
from discreet.statistics.order_statistics.clipping_bounds import Bounds, ClippingBounds, clipping_bounds
from discreet.statistics.order_statistics.quantile import Quantile, quantile
from discreet.statistics.order_statistics.quantiles import Quantiles, quantiles
from discreet.statistics.sensitivities import Query, SensitivityFact, explain_sensitivity, sensitivity
from discreet.statistics.sensitivities.domain import AtLeast
from discreet.statistics.sums.count import Count, count
from discreet.statistics.sums.mean import Mean, mean
from discreet.statistics.sums.sum import Sum, sum
from discreet.statistics.sums.variance import StandardDeviation, Variance, standard_deviation, variance

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
