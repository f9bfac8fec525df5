"""Exact laws of the exhibits, by quadrature and between two finite pairs."""

from __future__ import annotations

from discreet.testing.museum.laws.floating_pair import Floats, finite_pair, positive
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

__all__ = [
    "TAILS",
    "Floats",
    "Panels",
    "Sandwich",
    "cut",
    "finite_pair",
    "laplace_below",
    "laplace_between",
    "laplace_density",
    "laplace_product",
    "mixture",
    "positive",
]
