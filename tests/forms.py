"""How often a mechanism runs in the sample of a wire audit."""

from __future__ import annotations

from discreet.privacy import ApproxDP, PureDP
from discreet.testing import Subject

FEW = 400


def runs_for_forms(subject: Subject) -> int:
    """Return as many runs as convict a mechanism whose outputs have one form on an input and another on its neighbor.

    Half of 400 runs are counted. They bound the loss of such a mechanism below by 1.9, those of 1000 by 2.9: few are
    enough for a guarantee of epsilon up to one.
    """
    guarantee = subject.make().guarantee
    small = isinstance(guarantee, PureDP | ApproxDP) and guarantee.epsilon <= 1
    return FEW if small else subject.wire
