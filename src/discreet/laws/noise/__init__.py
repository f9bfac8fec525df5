"""Laws of additive noise on the integers and on a grid."""

from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.noise.location_pair import LocationPair
from discreet.laws.noise.noise import IntegerNoise
from discreet.laws.noise.on_grid import OnGrid
from discreet.laws.noise.product import Product, ProductPair
from discreet.laws.noise.rounded_gaussian import RoundedGaussian
from discreet.laws.noise.truncated import Outside, Truncated
from discreet.laws.noise.truncated_laplace import TruncatedLaplace
