"""Residual planning: marginals measured in an orthogonal basis with the least noise."""
