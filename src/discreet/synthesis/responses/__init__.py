"""Best responses: the record that answers a weighted sum of queries best."""

from __future__ import annotations

from discreet.synthesis.responses.best_response import Response, best_response
from discreet.synthesis.responses.integer_program import Optimum, exact_response, gap, upper_bound

__all__ = ["Optimum", "Response", "best_response", "exact_response", "gap", "upper_bound"]
