"""DualQuery: records drawn against the worst queries, with its exact price and transcript."""

from discreet.synthesis.methods.dual_query.drawing import Drawing
from discreet.synthesis.methods.dual_query.method import DualQuery, Responder, Weights
from discreet.synthesis.methods.dual_query.price import Accounting, DualQueryPrice, most_draws
from discreet.synthesis.methods.dual_query.theorem import TheoremError, bound_for, dual_query_error
from discreet.synthesis.methods.dual_query.transcript import (
    MemoryTranscript,
    Round,
    Transcript,
    other_terms,
    terms_words,
)
