"""Workloads: families of counting queries over a domain, and how fast they are evaluated."""

from discreet.synthesis.workloads.families import conjunctions, disjunctions, parities, queries, ranges
from discreet.synthesis.workloads.marginal_workload import Marginals, marginals
from discreet.synthesis.workloads.one_hot_domain import one_hot, unconstrained
from discreet.synthesis.workloads.workload import PADDING, Literals, Workload, require_own
