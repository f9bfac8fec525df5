"""Residual planning: marginals measured in an orthogonal basis with the least noise."""

from __future__ import annotations

from discreet.synthesis.methods.residual.allocation import Aim, Allocation
from discreet.synthesis.methods.residual.basis import Residuals
from discreet.synthesis.methods.residual.finishing import non_negative
from discreet.synthesis.methods.residual.method import Finish, Residual

__all__ = ["Aim", "Allocation", "Finish", "Residual", "Residuals", "non_negative"]
