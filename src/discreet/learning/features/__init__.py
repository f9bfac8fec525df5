"""Public maps of features, fixed before any row is seen: bins, leaves of random trees, random waves."""

from discreet.learning.features.bins import BinEdges, Bins, stated_bins
from discreet.learning.features.fourier_features import FourierFeatures
from discreet.learning.features.public_draws import uniform_numbers
from discreet.learning.features.random_leaves import RandomLeaves
