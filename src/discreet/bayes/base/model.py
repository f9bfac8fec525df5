"""What a model is: a prior about people, and how the rows that were measured arise from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base.posterior import Posterior
from discreet.display import Progress
from discreet.statistics.measurement import Measurement, MeasurementPlan

Values = Mapping[str, NDArray[Any]]  # of the parameters, by name: an array over the groups, or a scalar array


class Model(ABC):
    """A prior and a likelihood, stated before anything is read. Models are frozen and public.

    A leaf is a frozen dataclass. `fit` returns the posterior; `prior` and `integers` draw from the model forward, for
    calibration, for planning and for the predictive check, which draws other people from the parameters of the
    population: of those of the table it keeps what `kept` names.
    """

    # parameters of the table that the predictive check keeps when it draws other people
    kept: ClassVar[tuple[str, ...]] = ("people",)

    @abstractmethod
    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Return the posterior given what was released; raise ParameterError or InputError for what does not fit.

        The measurements are already distinct, of equal lineage and version.
        """

    @abstractmethod
    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw the parameters once from the prior, under the names and in the shapes that the posterior has."""

    @abstractmethod
    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the people given the parameters; return what they add up to: (entries, groups) for every plan.

        Where `values` holds parameters of the table itself (a count), those are kept and not drawn again.
        """

    def naive(self, measurements: Sequence[Measurement]) -> Mapping[str, Any]:  # noqa: ARG002  for models that know
        """Return what one would take for the parameters if there were no noise, by name, to be drawn beside them."""
        return {}
