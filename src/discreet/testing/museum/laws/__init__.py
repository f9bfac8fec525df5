"""Exact laws of the exhibits, by quadrature and between two finite pairs."""

from discreet.testing.museum.laws.floating_pair import finite_pair, positive
from discreet.testing.museum.laws.laplace_products import laplace_product
from discreet.testing.museum.laws.quadrature import (
    TAILS,
    Floats,
    Panels,
    cut,
    laplace_below,
    laplace_between,
    laplace_density,
)
from discreet.testing.museum.laws.sandwich import Sandwich, mixture
