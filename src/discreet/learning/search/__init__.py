"""Private search: the best of a secret number of runs, at a price that hardly grows with it."""

from discreet.learning.search.price import pure_search_epsilon, search_delta, search_epsilon
from discreet.learning.search.private_search import PrivateSearch, SearchPlan
from discreet.learning.search.runs import Poisson, RunsLaw, TruncatedNegativeBinomial
