"""Exact laws of the exhibits, by quadrature and between two finite pairs."""
