"""The accountant: certified bounds on the loss of many releases, by closed forms, a contour integral and a lattice."""

from __future__ import annotations

from discreet.privacy.accounting.directed_loss import DirectedLoss, clear_caches, directed, least_rho
