"""From a release to what is known: one call for every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from discreet.bayes.base import Model, Posterior, stated_flag, stated_seed
from discreet.bayes.counts import BetaBinomial, DirichletMultinomial, PoissonPeople
from discreet.bayes.evidence import distinct_measurements, planned_counts
from discreet.display import Progress, listener
from discreet.errors import InputError, ParameterError
from discreet.statistics.measurement import MeasurementPlan

_FLAGS = ("one_row_a_person", "exhaustive", "complete")
CellModel = TypeVar("CellModel", bound=Model)


def posterior(released: Any, model: Model, *, seed: int | None = None, progress: Progress | None = None) -> Posterior:
    """Return what is known about people and population after a release, under a model, at no further cost.

    `released` is an answer, a measurement, or a list of them about the same people. A seed repeats the draws; nothing
    private is drawn here.

    Privacy. Costs nothing, and leaves every ledger as it is: only what was released is read.
        Proof: post-processing; neither a table nor a session is reached from a measurement.
    Accuracy. Draws that fail their diagnostics (R-hat above 1.01, fewer than 400 effective draws in the bulk or in the
        tails, k-hat above .7) raise NotConverged: nobody gets them. Exact posteriors draw independently, if at all.

    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.bayes.evidence import noisy_counts
    >>> from discreet.laws import DiscreteLaplace
    >>> smokers = noisy_counts(31, noise=DiscreteLaplace(2))
    >>> known = posterior(smokers, BetaBinomial(1, 1, people=100), seed=1)
    >>> round(known.mean("share"), 3), known.method
    (0.314, 'exact to 1e-15')
    """
    require_model(model)
    measurements = distinct_measurements(released)
    generator = np.random.default_rng(stated_seed(seed))
    with np.errstate(all="ignore"):  # what comes out is looked at
        found = model.fit(measurements, generator=generator, progress=listener(progress))
        return found.require_convergence()


def require_model(model: Any) -> None:
    """Refuse what is no model, and one that says neither yes nor no of the people."""
    if not isinstance(model, Model):
        raise ParameterError(
            f"model must be a model of discreet.bayes; got {type(model).__name__}, write for example "
            "BetaBinomial(1, 1, people=1000)",
            parameter="model",
        )
    for flag in _FLAGS:
        stated_flag(getattr(model, flag, False), flag)


def require_readable(model: CellModel, plans: Sequence[MeasurementPlan], *, parameter: str | None = None) -> CellModel:
    """Return a model of counts; refuse, before anything is paid, what it could not read of the answer.

    So is a parameter that the posterior will not have.

    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.bayes.planning import counts_plan
    >>> from discreet.privacy import Relation
    >>> asked = counts_plan(["yes", "no"], key="smokes", relation=Relation.ADD_REMOVE)
    >>> model = BetaBinomial(1, 1, success=("smokes", "yes"))
    >>> require_readable(model, [asked(epsilon=1)]) is model
    True
    """
    require_model(model)
    if not plans:
        raise InputError("a model of counts needs a noisy count; got none, ask COUNT(*)")
    planned_counts(
        plans,
        one_row_a_person=bool(getattr(model, "one_row_a_person", False)),
        exhaustive=bool(getattr(model, "exhaustive", False)),
    )
    unknown = isinstance(model, BetaBinomial | DirichletMultinomial) and model.people is None
    trial: Model = replace(model, people=PoissonPeople(1)) if unknown else model  # type: ignore[type-var]
    with np.errstate(all="ignore"):
        names = trial.prior(plans, np.random.default_rng(0)).keys()  # what is drawn is forgotten
    if parameter is not None and parameter not in names:
        raise ParameterError(
            f"parameter must be one of {', '.join(names)}; got {parameter!r}, write one of them", parameter="parameter"
        )
    return model
