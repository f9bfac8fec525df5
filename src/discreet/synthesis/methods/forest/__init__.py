"""Forests: one-way and tree-shaped marginals measured with noise, and tables drawn from them."""
