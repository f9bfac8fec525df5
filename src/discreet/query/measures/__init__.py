"""Measures: what can be asked about a group, each with its integers, its noise and its interval."""

from discreet.query.measures.associations import AssociationOfGroups, association
from discreet.query.measures.cut import CutRows, cut_rows
from discreet.query.measures.measure import (
    Additive,
    Estimated,
    Measure,
    NumberOfValues,
    OneInteger,
    Simple,
    count,
    number_of_values,
    total,
)
from discreet.query.measures.moments import MeanOfGroups, mean, variance
from discreet.query.measures.private_keys import SelectedKeys
from discreet.query.measures.quantile import QuantilesOfGroups, choice_price, quantiles
from discreet.query.measures.unit_totals import UnitTotals, total_of_units
