"""Very many counting queries about high-dimensional records, answered together by a synthetic table."""

from __future__ import annotations

from discreet.synthesis.base.neighbours import Neighbours
from discreet.synthesis.base.purse import Purse
from discreet.synthesis.base.release import Release, Synthesizer
from discreet.synthesis.domain.attribute import Bins
from discreet.synthesis.domain.domain import Attribute, Domain, Records
from discreet.synthesis.domain.synthetic_table import SyntheticTable
from discreet.synthesis.methods.answers.noisy import Given, NoisyAnswers
from discreet.synthesis.methods.best import Best
from discreet.synthesis.methods.dual_query.drawing import Drawing
from discreet.synthesis.methods.dual_query.method import DualQuery, Oracle, Weights
from discreet.synthesis.methods.dual_query.price import Accounting, DualQueryPrice, most_draws
from discreet.synthesis.methods.dual_query.transcript import MemoryTranscript, Round, Transcript
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.forest.one_ways import Independent
from discreet.synthesis.methods.forest.tree import Tree
from discreet.synthesis.methods.residual.allocation import Aim, Allocation
from discreet.synthesis.methods.residual.basis import Residuals
from discreet.synthesis.methods.residual.method import Finish, Residual
from discreet.synthesis.methods.weights.mwem import Mwem
from discreet.synthesis.methods.weights.reweighted import Reweighted
from discreet.synthesis.reporting.baselines import Baseline
from discreet.synthesis.reporting.plot import ErrorCurves, error_curve
from discreet.synthesis.reporting.prediction import Prediction, TheoremError, dual_query_error, largest_noise, predict
from discreet.synthesis.reporting.report import Errors, Report, report
from discreet.synthesis.responses.best_response import Response, best_response
from discreet.synthesis.responses.integer_program import Optimum, exact_response, gap, upper_bound
from discreet.synthesis.sessions.asking import (
    answers,
    best,
    domain_of,
    dual_query,
    explain_synthesis,
    independent,
    mwem,
    residual,
    reweighted,
    synthesize,
    tree,
)
from discreet.synthesis.sessions.file_transcript import FileTranscript
from discreet.synthesis.workloads.families import conjunctions, disjunctions, parities, queries, ranges
from discreet.synthesis.workloads.marginals import Marginals, marginals
from discreet.synthesis.workloads.one_hot import one_hot, unconstrained
from discreet.synthesis.workloads.workload import Literals, Workload

__all__ = [
    "Accounting",
    "Aim",
    "Allocation",
    "Attribute",
    "Baseline",
    "Best",
    "Bins",
    "Domain",
    "Drawing",
    "DualQuery",
    "DualQueryPrice",
    "ErrorCurves",
    "Errors",
    "FileTranscript",
    "Finish",
    "Forest",
    "Given",
    "Independent",
    "Literals",
    "Marginals",
    "MemoryTranscript",
    "Mwem",
    "Neighbours",
    "NoisyAnswers",
    "Optimum",
    "Oracle",
    "Prediction",
    "Purse",
    "Records",
    "Release",
    "Report",
    "Residual",
    "Residuals",
    "Response",
    "Reweighted",
    "Round",
    "Synthesizer",
    "SyntheticTable",
    "TheoremError",
    "Transcript",
    "Tree",
    "Weights",
    "Workload",
    "answers",
    "best",
    "best_response",
    "conjunctions",
    "disjunctions",
    "domain_of",
    "dual_query",
    "dual_query_error",
    "error_curve",
    "exact_response",
    "explain_synthesis",
    "gap",
    "independent",
    "largest_noise",
    "marginals",
    "most_draws",
    "mwem",
    "one_hot",
    "parities",
    "predict",
    "queries",
    "ranges",
    "report",
    "residual",
    "reweighted",
    "synthesize",
    "tree",
    "unconstrained",
    "upper_bound",
]
