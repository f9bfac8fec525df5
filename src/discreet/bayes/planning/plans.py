"""What will be measured, read from whatever says it, and the releases that a model makes of it: no data is read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Posterior, Values
from discreet.bayes.inference import require_model
from discreet.display import Progress, silent
from discreet.errors import MissingParameter, NotConverged, ParameterError
from discreet.laws.number import Number
from discreet.privacy import Price, Relation
from discreet.statistics.measurement import ROWS, Counts, Group, MeasurementPlan, Source
from discreet.statistics.pricing import priced_noise, stated_relation

WORDS = ("epsilon", "rho", "mu")
_MOST, _DRAWN_AT_ONCE = 10_000_000, 1 << 20  # releases, numbers of noise
PlanMaker = Callable[..., Any]
"""Takes a price by keyword, such as epsilon=0.5, and returns what it would measure."""


def counts_plan(
    groups: Sequence[Any] = (),
    *,
    key: str | Sequence[str] = "group",
    relation: Relation | None = None,
    name: str = "counts",
) -> PlanMaker:
    """Return a maker of plans for counts of people, each in at most one of the groups, at any price.

    Args:
        groups: the labels, tuples where there are several keys; none for one count of all.
        key: the name of the key, or a list of names.
        relation: who differs. Somebody who changes group moves two counts, somebody who comes or goes moves one.
        name: of the counts.

    >>> made = counts_plan(
    ...     ["north", "south"], key="region", relation=Relation.ADD_REMOVE
    ... )
    >>> made(epsilon=0.5).noise, made(rho=0.125).noise
    (DiscreteLaplace(scale=2, center=...), DiscreteGaussian(scale=2, center=...))
    """
    listed = isinstance(key, str) or (isinstance(key, list | tuple) and all(isinstance(one, str) for one in key))
    if (
        not listed
        or not isinstance(groups, list | tuple | range)
        or not all(isinstance(one, Hashable) for one in groups)
    ):
        raise _labels()
    moved = 2 if stated_relation(relation) is Relation.CHANGE_ONE and len(groups) != 0 else 1
    names = ((key,) if isinstance(key, str) else tuple(key)) if len(groups) else ()
    labels: tuple[Group, ...] = tuple(one if isinstance(one, tuple) else (one,) for one in groups) or ((),)
    if len(set(labels)) < len(labels) or any(len(one) != len(names) for one in labels):
        raise _labels()

    def made(
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> MeasurementPlan:
        price = Price.read(epsilon=epsilon, delta=delta, rho=rho, mu=mu, accepts=WORDS)
        chosen = priced_noise(
            price,
            sensitivity=moved,
            squared=moved,
            relation=stated_relation(relation),
            width=lambda noise: float(noise.error(0.95)),
            scalar=len(labels) == 1,
        )
        return MeasurementPlan(name, names, labels, Counts(ROWS), chosen.noise, Source(keys=names))

    return made


def _labels() -> ParameterError:
    """Return the error for groups that are no labels."""
    return ParameterError(
        'groups must be different labels with an entry for each key; got others, write ["north", "south"] with '
        'key="region"',
        parameter="groups",
    )


def plans_at(plan: Any, price: Mapping[str, Number | None]) -> tuple[MeasurementPlan, ...]:
    """Return what a plan measures at a price, or with the noise that it has where no price is given.

    >>> from discreet.privacy import Relation
    >>> (one,) = plans_at(counts_plan(relation=Relation.ADD_REMOVE), {"epsilon": 1})
    >>> one.noise
    DiscreteLaplace(scale=1, center=...)
    """
    given = {word: amount for word, amount in price.items() if amount is not None}
    found = _read(plan)
    if found is not None and given:
        raise ParameterError(
            f"{next(iter(given))}= must go with a maker of plans; got it beside a plan, which has its noise already, "
            "leave it out, or write a function of the price such as lambda **price: session.explain(sql, **price)",
            parameter=next(iter(given)),
        )
    if found is not None:
        return found
    if not callable(plan):
        raise ParameterError(
            f"plan must say what will be measured; got {type(plan).__name__}, write session.explain(sql, epsilon=0.5), "
            "counts_plan([...], key=...), or a function of the price",
            parameter="plan",
        )
    if not given:
        raise MissingParameter(
            "the price must be given with a maker of plans; got none, write epsilon=0.5, for example",
            parameter="epsilon",
        )
    found = _read(plan(**given))
    if found is None:
        raise ParameterError(
            "a maker of plans must return plans; got something else, return session.explain(sql, **price), for example",
            parameter="plan",
        )
    return found


def _read(plan: Any) -> tuple[MeasurementPlan, ...] | None:
    """Return the plans that something is or has; None where it has none."""
    if isinstance(plan, MeasurementPlan):
        return (plan,)
    if isinstance(plan, list | tuple):
        parts = [_read(one) for one in plan]
        return tuple(one for part in parts if part for one in part) if parts and None not in parts else None
    told = getattr(plan, "plans", None)
    told = told() if callable(told) else told
    return told if isinstance(told, tuple) and told and all(isinstance(one, MeasurementPlan) for one in told) else None


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
