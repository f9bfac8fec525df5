"""Very many counting queries about high-dimensional records, answered together by a synthetic table."""

from __future__ import annotations

from discreet.synthesis.baselines import Baseline
from discreet.synthesis.best import Best
from discreet.synthesis.best_response import Response, best_response
from discreet.synthesis.bins import Bins
from discreet.synthesis.conjunctions import conjunctions, disjunctions
from discreet.synthesis.domain import Attribute, Domain, Records
from discreet.synthesis.dual_query import DualQuery, Oracle, Weights
from discreet.synthesis.dual_query_price import Accounting, DualQueryPrice, most_draws
from discreet.synthesis.file_transcript import FileTranscript
from discreet.synthesis.forest import Forest
from discreet.synthesis.independent import Independent
from discreet.synthesis.integer_program import Optimum, exact_response, gap, upper_bound
from discreet.synthesis.marginals import Marginals, marginals
from discreet.synthesis.mwem import Mwem
from discreet.synthesis.neighbours import Neighbours
from discreet.synthesis.noisy_answers import Given, NoisyAnswers
from discreet.synthesis.parities import parities
from discreet.synthesis.predicted import Prediction, TheoremError, dual_query_error, largest_noise, predict
from discreet.synthesis.purse import Purse
from discreet.synthesis.ranges import ranges
from discreet.synthesis.release import Release, Synthesizer
from discreet.synthesis.report import Errors, Report, report
from discreet.synthesis.report_plot import ErrorCurves, error_curve
from discreet.synthesis.residual import Finish, Residual
from discreet.synthesis.residual_allocation import Aim, Allocation
from discreet.synthesis.residual_basis import Residuals
from discreet.synthesis.reweighted import Reweighted
from discreet.synthesis.sessions import (
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
from discreet.synthesis.signed_drawing import Drawing
from discreet.synthesis.stated import queries
from discreet.synthesis.synthetic_table import SyntheticTable
from discreet.synthesis.transcript import MemoryTranscript, Round, Transcript
from discreet.synthesis.tree import Tree
from discreet.synthesis.unconstrained import one_hot, unconstrained
from discreet.synthesis.workload import Literals, Workload

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
