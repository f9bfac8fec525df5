"""Counts, sums, means and variances of bounded numbers."""

from discreet.statistics.sums.count_and_sum import Count, Sum, count, sum
from discreet.statistics.sums.mean_interval import MeanInterval, mean_ends
from discreet.statistics.sums.means import Mean, mean
from discreet.statistics.sums.three_sums import FOR_GAUSSIAN, FOR_LAPLACE, NoisySums, Quadratics, predicted_reach
from discreet.statistics.sums.variances import StandardDeviation, Variance, standard_deviation, variance
