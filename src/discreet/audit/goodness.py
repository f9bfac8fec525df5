"""Binds a running sampler to its law: a G-test with a false-alarm rate fixed beforehand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import IntegerLaw, Law, OnGrid
from discreet.laws.finite import Tabulated

Floats = NDArray[np.float64]
_LEAST_EXPECTED = 20.0
_CELLS = 200
_INT64 = 1 << 63


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

    Cells are outcomes, or ranges between quantiles for laws on many integers; neighboring cells are put together until
    each is expected at least 20 times. A draw that the law says is impossible gives p = 0; too few draws to test
    anything are refused.

    >>> from discreet.laws import DiscreteLaplace
    >>> goodness_of_fit(DiscreteLaplace(3), DiscreteLaplace(3).sample(20000)).alarm(
    ...     1e-9
    ... )
    False
    >>> goodness_of_fit(DiscreteLaplace(3), DiscreteLaplace(4).sample(20000)).alarm(
    ...     1e-9
    ... )
    True
    """
    cells, probabilities = cells_of(law, draws)
    if cells is None:
        return Goodness(float("inf"), 1, 0.0, _count(draws))
    observed = np.bincount(cells, minlength=len(probabilities)).astype(np.float64)
    groups = _groups(probabilities * len(cells))
    return g_test(_sums(groups, observed), _sums(groups, probabilities))


def independence(first: tuple[Law[Any], Any], second: tuple[Law[Any], Any]) -> Goodness:
    """Compare pairs of draws with independent ones: a table of a few likely ranges against the product law."""
    rows, columns = _coarse(*first), _coarse(*second)
    if rows is None or columns is None:
        return Goodness(float("inf"), 1, 0.0, _count(first[1]))
    (one, shares_one), (two, shares_two) = rows, columns
    observed = np.bincount(one * len(shares_two) + two, minlength=len(shares_one) * len(shares_two)).astype(np.float64)
    expected = np.outer(shares_one, shares_two).ravel()
    groups = _groups(expected * len(one))
    return g_test(_sums(groups, observed), _sums(groups, expected), refuse=False)


def _coarse(law: Law[Any], draws: Any) -> tuple[NDArray[np.int64], Floats] | None:
    """Return draws in at most six ranges of about equal probability, and the probabilities."""
    cells, probabilities = cells_of(law, draws)
    if cells is None:
        return None
    middles = np.cumsum(probabilities) - probabilities / 2
    groups = np.unique(np.minimum((middles * 6).astype(np.int64), 5), return_inverse=True)[1].astype(np.int64)
    return groups[cells], _sums(groups, probabilities)


def _sums(groups: NDArray[np.int64], values: Floats) -> Floats:
    """Add up the values of each group."""
    return np.bincount(groups, weights=values).astype(np.float64)


def cells_of(law: Law[Any], draws: Any) -> tuple[NDArray[np.int64] | None, Floats]:
    """Return the cell of every draw, or None where one is impossible, and the cells' probabilities."""
    if isinstance(law, OnGrid):
        steps = [Fraction(float(draw)) / law.grid for draw in _items(draws)]
        return _integer_cells(law.law, steps)
    if isinstance(law, IntegerLaw):
        plain = isinstance(draws, np.ndarray) and draws.dtype == np.int64
        return _integer_cells(law, draws.ravel() if plain else list(_items(draws)))
    outcomes = _outcomes(law)
    index = {outcome: position for position, outcome in enumerate(outcomes)}
    places = [index.get(item, -1) for item in _items(draws)]
    probabilities = np.array([law.pmf(outcome) for outcome in outcomes], dtype=np.float64)
    if any(place < 0 or probabilities[place] == 0.0 for place in places):
        return None, np.ones(1)
    return np.array(places, dtype=np.int64), probabilities


def _items(draws: Any) -> Iterable[Any]:
    """Walk over draws as Python values; a tuple is one draw."""
    if isinstance(draws, np.ndarray):
        return draws.ravel().tolist()
    return [draw.item() if isinstance(draw, np.generic) else draw for draw in draws]


def _count(draws: Any) -> int:
    """Return how many draws there are."""
    return int(draws.size) if isinstance(draws, np.ndarray) else len(draws)


def _outcomes(law: Law[Any]) -> list[Any]:
    """Return the outcomes of a finite law."""
    if isinstance(law, Tabulated):
        return law.table()[0]
    listed = getattr(law, "outcomes", None)
    if listed is None:
        raise ParameterError("this law has no list of outcomes to test against; test its components")
    return list(listed)


def _integer_cells(law: IntegerLaw, draws: Any) -> tuple[NDArray[np.int64] | None, Floats]:
    """Return cells between quantiles, single integers where the law is narrow; compared as integers of any size."""
    if not isinstance(draws, np.ndarray):
        if any(isinstance(draw, bool) or int(draw) != draw for draw in draws):
            return None, np.ones(1)
        draws = [int(draw) for draw in draws]
    low, high = law.support
    if len(draws) > 0 and ((low is not None and min(draws) < low) or (high is not None and max(draws) > high)):
        return None, np.ones(1)
    edges, probabilities = _ranges(law)
    if isinstance(draws, np.ndarray) and edges[0] > -_INT64 and edges[-1] < _INT64:
        return np.searchsorted(np.array(edges, dtype=np.int64), draws).astype(np.int64), probabilities
    return np.array([bisect_left(edges, int(draw)) for draw in draws], dtype=np.int64), probabilities


@lru_cache(maxsize=64)
def _ranges(law: IntegerLaw) -> tuple[list[int], Floats]:
    """Return the upper ends of ranges between quantiles, and the probabilities of the ranges and what lies beyond."""
    levels = np.concatenate([10.0 ** -np.arange(6, 2, -1.0), np.arange(1, _CELLS) / _CELLS])
    levels = np.unique(np.concatenate([levels, 1 - levels]))
    edges = sorted({law.quantile(float(level)) for level in levels})
    listed = np.array([*edges, None], dtype=object)[:-1]
    cumulative = np.asarray(law.cdf(listed), dtype=np.float64)
    shares = np.concatenate([np.diff(np.concatenate([[0.0], cumulative])), [float(law.sf(edges[-1]))]])
    return edges, np.maximum(shares, 0.0)


def _groups(expected: Floats) -> NDArray[np.int64]:
    """Number groups of neighboring cells, each expected often enough for the test's null law to hold."""
    groups, current, total = np.empty(len(expected), dtype=np.int64), 0, 0.0
    rest = float(expected.sum())
    for position, one in enumerate(expected):
        groups[position] = current
        total += float(one)
        rest -= float(one)
        if total >= _LEAST_EXPECTED and rest >= _LEAST_EXPECTED:
            current, total = current + 1, 0.0
    return groups


def g_test(observed: Floats, probabilities: Floats, *, refuse: bool = True) -> Goodness:
    """Return the G-test of counts against probabilities, with Williams' correction for small counts."""
    from scipy.special import chdtrc

    total = float(observed.sum())
    shares = probabilities / probabilities.sum()
    cells = len(observed)
    if cells < 2:
        if refuse and total < 2 * _LEAST_EXPECTED:  # with more draws one cell means that one outcome has all the mass
            raise ParameterError("too few draws to test this law against: ask for more", parameter="draws")
        return Goodness(0.0, 0, 1.0, int(total))
    seen = observed > 0
    statistic = 2.0 * float(np.sum(observed[seen] * np.log(observed[seen] / (shares[seen] * total))))
    correction = 1.0 + (float(np.sum(1.0 / shares)) - 1.0) / (6.0 * total * (cells - 1))
    return Goodness(statistic, cells - 1, float(chdtrc(cells - 1, max(statistic / correction, 0.0))), int(total))
