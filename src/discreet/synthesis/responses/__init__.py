"""Best responses: the record that answers a weighted sum of queries best."""

from discreet.synthesis.responses.best_response import Response, best_response
from discreet.synthesis.responses.integer_program import Optimum, exact_response, gap, upper_bound
