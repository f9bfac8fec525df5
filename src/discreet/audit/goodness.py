"""Binds a running sampler to its law: a G-test with a false-alarm rate fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.law import IntegerLaw, Law
from discreet.laws.on_grid import OnGrid
from discreet.laws.tabulated import Tabulated

_LEAST_EXPECTED = 10.0
_CELLS = 200


@dataclass(frozen=True, slots=True)
class Goodness:
    """How well draws fit a law: the G statistic and the chance of a worse fit if the law is right."""

    statistic: float
    degrees: int
    p_value: float
    draws: int

    def alarm(self, rate: float = 1e-6) -> bool:
        """Say whether the fit is worse than a right law would give with this probability."""
        return self.p_value < rate


def goodness_of_fit(law: Law[Any], draws: Any) -> Goodness:
    """Compare draws with the law they should come from.

    Cells are outcomes, or ranges between quantiles for laws on many integers; cells expected fewer than 10 times are
    merged. A draw that the law says is impossible gives p = 0.

    >>> from discreet.laws import DiscreteLaplace
    >>> goodness_of_fit(DiscreteLaplace(3), DiscreteLaplace(3).sample(20000)).alarm()
    False
    >>> goodness_of_fit(DiscreteLaplace(3), DiscreteLaplace(4).sample(20000)).alarm()
    True
    """
    if isinstance(law, OnGrid):
        steps = np.asarray(draws, dtype=np.float64) / float(law.grid)
        if np.any(steps != np.floor(steps)):
            return Goodness(np.inf, 1, 0.0, int(steps.size))
        return goodness_of_fit(law.law, steps.astype(np.int64))
    if isinstance(law, IntegerLaw):
        return _test(*_integer_cells(law, np.asarray(draws).ravel()))
    outcomes = _outcomes(law)
    index = {outcome: position for position, outcome in enumerate(outcomes)}
    flat = np.asarray(draws, dtype=object).ravel()
    positions = np.array([index.get(_plain(draw), -1) for draw in flat], dtype=np.int64)
    if np.any(positions < 0):
        return Goodness(np.inf, 1, 0.0, int(flat.size))
    expected = np.array([law.pmf(outcome) for outcome in outcomes], dtype=np.float64)
    return _test(np.bincount(positions, minlength=len(outcomes)).astype(np.float64), expected)


def _plain(value: Any) -> Any:
    """Return a numpy scalar as a Python value, so that it can be looked up."""
    return value.item() if isinstance(value, np.generic) else value


def _outcomes(law: Law[Any]) -> list[Any]:
    """Return the outcomes of a finite law."""
    if isinstance(law, Tabulated):
        return law.table()[0]
    listed = getattr(law, "outcomes", None)
    if listed is None:
        raise ParameterError("this law has no list of outcomes to test against; test its components")
    return list(listed)


def _integer_cells(law: IntegerLaw, draws: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return counts and probabilities of ranges between quantiles, single integers where the law is narrow."""
    levels = np.concatenate([10.0 ** -np.arange(6, 2, -1.0), np.arange(1, _CELLS) / _CELLS])
    levels = np.unique(np.concatenate([levels, 1 - levels]))
    edges = np.unique(np.array([law.quantile(float(level)) for level in levels], dtype=object))
    cumulative = np.asarray(law.cdf(edges), dtype=np.float64)
    probabilities = np.diff(np.concatenate([[0.0], cumulative]))
    last = float(law.sf(edges[-1]))
    places = np.searchsorted(edges.astype(np.float64), draws.astype(np.float64), side="left")
    observed = np.bincount(places, minlength=edges.size + 1).astype(np.float64)
    return observed, np.concatenate([probabilities, [last]])


def _test(observed: NDArray[np.float64], probabilities: NDArray[np.float64]) -> Goodness:
    """Return the G-test of counts against probabilities, small cells merged."""
    from scipy.special import chdtrc

    total = float(observed.sum())
    expected = probabilities / probabilities.sum() * total
    if np.any((expected == 0.0) & (observed > 0)):
        return Goodness(np.inf, 1, 0.0, int(total))
    observed, expected = _merged(observed, expected)
    degrees = max(len(observed) - 1, 0)
    if degrees == 0:
        return Goodness(0.0, 0, 1.0, int(total))
    seen = observed > 0
    statistic = 2.0 * float(np.sum(observed[seen] * np.log(observed[seen] / expected[seen])))
    return Goodness(statistic, degrees, float(chdtrc(degrees, max(statistic, 0.0))), int(total))


def _merged(
    observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Merge the rarest cells until each is expected often enough for the test's null law to hold."""
    order = np.argsort(expected)
    sums = np.cumsum(expected[order])
    rare = int(np.searchsorted(expected[order], _LEAST_EXPECTED))
    if rare == 0:
        return observed, expected
    if sums[rare - 1] < _LEAST_EXPECTED:
        rare = min(rare + 1, len(order))
    merged, kept = order[:rare], order[rare:]
    return np.append(observed[kept], observed[merged].sum()), np.append(expected[kept], expected[merged].sum())
