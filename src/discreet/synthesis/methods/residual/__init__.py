"""Residual planning: marginals measured in an orthogonal basis with the least noise."""

from discreet.synthesis.methods.residual.allocation import Aim, Allocation
from discreet.synthesis.methods.residual.basis import Residuals
from discreet.synthesis.methods.residual.finishing import non_negative
from discreet.synthesis.methods.residual.method import Residual, ResidualFinish
