"""Releases that a model makes: parameters from the prior, people, integers, and noise by the law that will be added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Posterior, Values
from discreet.bayes.inference import require_model
from discreet.display import Progress, silent
from discreet.errors import NotConverged, ParameterError
from discreet.statistics.measurement import MeasurementPlan

_MOST, _DRAWN_AT_ONCE = 10_000_000, 1 << 20


def stated_runs(reps: Any, *, least: int = 20) -> int:
    """Return how many releases are to be simulated.

    >>> stated_runs(400)
    400
    """
    if isinstance(reps, bool) or not isinstance(reps, int | np.integer) or not least <= reps <= _MOST:
        raise ParameterError(
            f"reps must be a whole number of at least {least}, and at most {_MOST:,}; got another, write reps=400",
            parameter="reps",
        )
    return int(reps)


def simulated(
    model: Model, plans: Sequence[MeasurementPlan], reps: int, seed: int | None, progress: Progress
) -> Iterator[tuple[Values, Posterior | None]]:
    """Yield the parameters that were drawn and the posterior, None where its draws failed; no data is read.

    The noise is drawn by the laws themselves, as in a real release, so that what is measured is the whole road; it
    takes no seed. Everything else comes from the seed.
    """
    require_model(model)
    generator = np.random.default_rng(seed)
    shapes = [(plan.adds_up.entries, len(plan.keys)) for plan in plans]
    block = max(1, _DRAWN_AT_ONCE // sum(entries * groups for entries, groups in shapes))
    noise: list[NDArray[Any]] = []
    for turn in range(reps):
        if turn % block == 0:
            drawn = min(block, reps - turn)
            noise = [plan.noise.sample((drawn, *shape)) for plan, shape in zip(plans, shapes, strict=True)]
        with np.errstate(all="ignore"):
            values = model.prior(plans, generator)
            people = model.integers(values, plans, generator)
        released = [one + added[turn % block] for one, added in zip(people, noise, strict=True)]
        measured = tuple(
            plan.measured(integers.tolist(), ("simulated", turn, place), None, rehearsed=True)
            for place, (plan, integers) in enumerate(zip(plans, released, strict=True))
        )
        try:
            with np.errstate(all="ignore"):
                fitted = model.fit(measured, generator=generator, progress=silent)
                found: Posterior | None = fitted.require_convergence()
        except NotConverged:
            found = None
        yield values, found
        progress(turn + 1, reps)
