"""Private statistics of columns: each returns an estimate with its interval, its promise and its price."""

from discreet.statistics.contribution import Rows
from discreet.statistics.count import Count, count
from discreet.statistics.global_sensitivity import (
    AtLeast,
    Query,
    SensitivityFact,
    explain_sensitivity,
    sensitivity,
)
from discreet.statistics.mean import Mean, mean
from discreet.statistics.missing import Missing
from discreet.statistics.sum import Sum, sum

__all__ = [
    "AtLeast",
    "Count",
    "Mean",
    "Missing",
    "Query",
    "Rows",
    "SensitivityFact",
    "Sum",
    "count",
    "explain_sensitivity",
    "mean",
    "sensitivity",
    "sum",
]
