"""Private statistics of columns: each returns an estimate with its interval, its guarantee and its price."""

from discreet._optional import listing
from discreet.statistics.columns import Missing, Rows
from discreet.statistics.histograms import (
    CountDistinct,
    DiscoveredHistogram,
    EstimateTable,
    Histogram,
    count_distinct,
    histogram,
)
from discreet.statistics.moments import Covariance, MatrixEstimate, covariance
from discreet.statistics.order_statistics import (
    Bounds,
    ClippingBounds,
    Quantile,
    Quantiles,
    clipping_bounds,
    quantile,
    quantiles,
)
from discreet.statistics.sensitivities import AtLeast, Query, SensitivityFact, explain_sensitivity, sensitivity
from discreet.statistics.sums import (
    Count,
    Mean,
    StandardDeviation,
    Sum,
    Variance,
    count,
    mean,
    standard_deviation,
    sum,
    variance,
)

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

__dir__ = listing("discreet.statistics")
