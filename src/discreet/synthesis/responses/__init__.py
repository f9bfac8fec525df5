"""Best responses: the record that answers a weighted sum of queries best."""

from discreet.synthesis.responses.response_search import (
    Optimum,
    Response,
    best_response,
    exact_response,
    gap,
    upper_bound,
)
