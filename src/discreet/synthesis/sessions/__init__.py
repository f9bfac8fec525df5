"""Query release through a session: priced and charged by the ledger, drawn, stored and replayed."""

from discreet.synthesis.domain import BINS
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
from discreet.synthesis.sessions.in_words import exact, plain, plan_lines
from discreet.synthesis.sessions.release import Prepared
from discreet.synthesis.sessions.transcript import released_with
