"""Comparisons of groups under a posterior: differences, ratios, which is larger, ranks, and what a choice may cost.

All are about the joint posterior of the groups, so that what they have in common cancels. Choosing the groups by what
was released needs no correction: the posterior is about every group at once, whichever one looks at. That holds as far
as the prior does, and most for models that pool groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Diagnostics, Parameter, Posterior, PosteriorInterval, Probability, stated_flag
from discreet.display import Table, format_number
from discreet.display.plots import BLUE, Plot, axes, plotted, shown_labels
from discreet.errors import ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.privacy import Guarantee, Target
from discreet.statistics.pricing import stated_confidence

Floats = NDArray[np.float64]
_SHOWN = 60


def difference(posterior: Posterior, name: str, one: Any, other: Any, *, confidence: float = 0.95) -> PosteriorInterval:
    """Return the posterior median and interval of a parameter in one group less that in another.

    >>> from discreet import Laplace
    >>> from discreet.bayes import PoissonCells, Normal, noisy_counts, posterior
    >>> noise = Laplace(epsilon=1, sensitivity=1)
    >>> answer = noisy_counts({"a": 41, "b": 98}, noise=noise, key="ward")
    >>> found = posterior(
    ...     answer, PoissonCells(exposures=100, intercept=Normal(-1, 2)), seed=1
    ... )
    >>> round(difference(found, "rate", "b", "a").value, 1)
    0.6
    """
    first, second = _pair(posterior, name, one, other)
    return _interval(posterior, name, f"less {_words(posterior, name, other)}", one, first - second, confidence)


def ratio(posterior: Posterior, name: str, one: Any, other: Any, *, confidence: float = 0.95) -> PosteriorInterval:
    """Return the posterior median and interval of a positive parameter in one group over that in another.

    >>> from discreet import Laplace
    >>> from discreet.bayes import PoissonCells, Normal, noisy_counts, posterior
    >>> noise = Laplace(epsilon=1, sensitivity=1)
    >>> answer = noisy_counts({"a": 41, "b": 98}, noise=noise, key="ward")
    >>> found = posterior(
    ...     answer, PoissonCells(exposures=100, intercept=Normal(-1, 2)), seed=1
    ... )
    >>> round(ratio(found, "rate", "b", "a").value)
    2
    """
    first, second = _pair(posterior, name, one, other)
    if second.min() <= 0.0:
        raise ParameterError(
            f"a ratio needs a parameter that is above 0; got {name!r}, which may be 0 or less, ask for the difference",
            parameter="name",
        )
    return _interval(posterior, name, f"over {_words(posterior, name, other)}", one, first / second, confidence)


def beats(posterior: Posterior, name: str, one: Any, other: Any) -> Probability:
    """Return the posterior probability that a parameter is larger in one group than in another.

    >>> from discreet import Laplace
    >>> from discreet.bayes import PoissonCells, Normal, noisy_counts, posterior
    >>> noise = Laplace(epsilon=1, sensitivity=1)
    >>> answer = noisy_counts({"a": 41, "b": 98}, noise=noise, key="ward")
    >>> found = posterior(
    ...     answer, PoissonCells(exposures=100, intercept=Normal(-1, 2)), seed=1
    ... )
    >>> beats(found, "rate", "b", "a").value > 0.99
    True
    """
    _pair(posterior, name, one, other)
    return posterior.probability(lambda draws: draws[name, one] > draws[name, other])


@dataclass(frozen=True, slots=True)
class ExpectedLoss:
    """How much one loses on average by a choice, against the best group whichever that is, and its standard error.

    >>> print(ExpectedLoss(0.0123, 0.0004))
    0.0123 (Monte Carlo error 0.0004)
    """

    value: float
    error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{format_number(self.value)} (Monte Carlo error {format_number(self.error, digits=2)})"

    def to_dict(self) -> dict[str, float]:
        """Return both numbers by name."""
        return {"value": self.value, "error": self.error}


def expected_loss(posterior: Posterior, name: str, chosen: Any, *, smallest: bool = False) -> ExpectedLoss:
    """Return the posterior mean of the best group's parameter less that of the chosen one.

    The best is the largest, or the smallest on request. It is 0 for a group that is certainly best. In an A/B test one
    stops where it is below what one cares about.

    >>> from discreet import Laplace
    >>> from discreet.bayes import PoissonCells, Normal, noisy_counts, posterior
    >>> noise = Laplace(epsilon=1, sensitivity=1)
    >>> answer = noisy_counts({"a": 41, "b": 98}, noise=noise, key="ward")
    >>> found = posterior(
    ...     answer, PoissonCells(exposures=100, intercept=Normal(-1, 2)), seed=1
    ... )
    >>> expected_loss(found, "rate", "b").value < 0.01
    True
    """
    parameter, draws = _several(posterior, name)
    signed = -draws if stated_flag(smallest, "smallest") else draws
    lost = signed.max(axis=1) - signed[:, parameter.place(chosen)]
    effective = float(lost.size)
    if not posterior.independent and np.ptp(lost) > 0.0:
        effective = Diagnostics.of(lost.reshape(posterior.draws[name].shape[:2])).bulk
    return ExpectedLoss(float(lost.mean()), float(lost.std()) / math.sqrt(max(effective, 1.0)))


@dataclass(frozen=True, eq=False)
class GroupRanking:
    """For each group the probability of every rank, of being the best, and the expected loss of choosing it.

    `ranks` is (groups, ranks), rank 1 first; `best` is its first column. `guarantee` is that of what was released.
    """

    parameter: Parameter
    ranks: Floats
    losses: tuple[float, ...]
    guarantee: Guarantee | None = None

    @property
    def best(self) -> tuple[float, ...]:
        """The probability of each group to be the best."""
        return tuple(self.ranks[:, 0].tolist())

    @property
    def expected(self) -> tuple[float, ...]:
        """The posterior mean of each group's rank."""
        return tuple((self.ranks @ np.arange(1, self.ranks.shape[1] + 1)).tolist())

    @property
    def target(self) -> Target:
        """Whom the ranking is about."""
        return self.parameter.target

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns by name, the groups in order of their expected ranks."""
        order = np.argsort(self.expected, kind="stable")
        return {
            "group": [self.parameter.words[place] for place in order],
            "expected rank": [self.expected[place] for place in order],
            "probability of being best": [self.best[place] for place in order],
            "expected loss": [self.losses[place] for place in order],
        }

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return to_pandas(self.to_dict())

    def to_polars(self) -> Any:
        """Return a Polars frame."""
        return to_polars(self.to_dict(), strict=False)

    def to_arrow(self) -> Any:
        """Return an Arrow table."""
        return to_arrow(self.to_dict())

    def table(self) -> Table:
        """Return the groups in order of their expected ranks, at most 60 of them."""
        columns = self.to_dict()
        left = len(self.losses) - _SHOWN
        more = f"; {left:,} more rows" if left > 0 else ""
        rows = list(zip(*columns.values(), strict=True))[:_SHOWN]
        return Table(list(columns), rows, f"Groups by {self.parameter.name}{more}", digits=3)

    def plot(self) -> Plot:
        """Draw the probability of each group to be the best."""
        columns = self.to_dict()
        names, best = columns["group"][:_SHOWN], columns["probability of being best"][:_SHOWN]
        drawn = axes(
            title=f"Which group is best by {self.parameter.name}",
            x_label="posterior probability of being best",
            height=max(2.2, 1.5 + 0.3 * len(names)),
        )
        drawn.barh(range(len(names)), best, color=BLUE)
        drawn.set_yticks(range(len(names)), shown_labels(names, longest=60), parse_math=False)
        drawn.set_ylim(len(names) - 0.4, -0.6)
        drawn.set_xlim(0, 1)
        return plotted(drawn)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self.table()._repr_html_()


def ranking(posterior: Posterior, name: str, *, smallest: bool = False) -> GroupRanking:
    """Return the probabilities of all ranks of all groups, the largest first, or the smallest on request.

    Equal values, which integers may have, are ranked in random order.

    >>> from discreet import Laplace
    >>> from discreet.bayes import PoissonCells, Normal, noisy_counts, posterior
    >>> noise = Laplace(epsilon=1, sensitivity=1)
    >>> answer = noisy_counts({"a": 41, "b": 98, "c": 9}, noise=noise, key="ward")
    >>> model = PoissonCells(exposures=100, intercept=Normal(-1, 2))
    >>> found = ranking(posterior(answer, model, seed=1), "rate")
    >>> found.to_dict()["group"], [round(one, 1) for one in found.best]
    (['b', 'a', 'c'], [0.0, 1.0, 0.0])
    """
    parameter, draws = _several(posterior, name)
    signed = -draws if stated_flag(smallest, "smallest") else draws
    ties = np.random.default_rng(0).random(signed.shape)  # of nothing private: only to order equal draws
    order = np.lexsort((ties, -signed), axis=1)
    groups = signed.shape[1]
    ranks = np.zeros((groups, groups))
    for rank in range(groups):
        ranks[:, rank] = np.bincount(order[:, rank], minlength=groups) / len(order)
    losses = (signed.max(axis=1)[:, np.newaxis] - signed).mean(axis=0)
    return GroupRanking(parameter, ranks, tuple(losses.tolist()), posterior.guarantee)


def _several(posterior: Posterior, name: str) -> tuple[Parameter, Floats]:
    """Return a parameter that several groups have, and its draws (draws, groups)."""
    if not isinstance(posterior, Posterior):
        raise ParameterError(
            f"posterior must be what discreet.bayes.posterior returned; got {type(posterior).__name__}, write "
            "posterior(answer, model)",
            parameter="posterior",
        )
    parameter = posterior.parameter(name)
    if len(parameter.groups) < 2:
        raise ParameterError(
            f"groups can be compared by a parameter that two of them have; got {name!r}, ask with GROUP BY, or take "
            "interval() of it",
            parameter="name",
        )
    return parameter, np.asarray(posterior[name], dtype=np.float64)


def _pair(posterior: Posterior, name: str, one: Any, other: Any) -> tuple[Floats, Floats]:
    """Return the draws of two groups."""
    parameter, draws = _several(posterior, name)
    first, second = parameter.place(one), parameter.place(other)
    if first == second:
        raise ParameterError("a group can be compared with another; got the same twice, write two", parameter="other")
    return draws[:, first], draws[:, second]


def _words(posterior: Posterior, name: str, group: Any) -> str:
    parameter = posterior.parameter(name)
    return parameter.words[parameter.place(group)]


def _interval(
    posterior: Posterior, name: str, relation: str, one: Any, draws: Floats, confidence: float
) -> PosteriorInterval:
    """Return the median and the equal-tailed interval of draws."""
    held = stated_confidence(confidence)
    parameter = posterior.parameter(name)
    low, middle, high = np.quantile(draws, [(1 - held) / 2, 0.5, (1 + held) / 2]).tolist()
    about = Parameter(f"{name} of {_words(posterior, name, one)} {relation}", parameter.meaning, parameter.target)
    return PosteriorInterval(about, (middle,), (low,), (high,), held, False, posterior.guarantee)
