"""The exact chance that two groups of people have one secret value in common, if secrets are independent."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking.cells import Integers
from discreet.attacks.asking.columns import array_of
from discreet.errors import InputError

Floats = NDArray[np.float64]

_MOST_WORK = 4e9
_MOST_PEOPLE = 1000  # in a group alone: the binomial coefficients of more are no floats


def chance_of_one_left(chances: ArrayLike, kinds: ArrayLike) -> Floats | None:
    """Return the chance that a person's secret is the only value in both of their groups, for several kinds of groups.

    Secrets are independent, the v-th value with chance `chances[v]`. A column of `kinds` holds a, b and c: how many are
    in the first group alone, in the second alone, and in both, the person included. None where it would take too long.

    Accuracy. Exact, up to rounding: a! b! times the coefficient of x^a y^b in the sum over v of q(v)^c
        e^(q(v) (x + y)) times the product over the other values u of (e^(q(u) x) + e^(q(u) y) - 1).
        Proof: nobody but those with the person's value v may be in both, which has the chance q(v)^c, v included; of
        the others, each value u is drawn by none of the first group or by none of the second, or by neither. With i and
        j draws of u this is counted by the series whose coefficients are q(u)^i / i! at x^i, q(u)^j / j! at y^j and 0
        where both occur; v itself may occur anywhere. The product of the series counts all draws. All terms are
        positive, so that rounding errors stay relative.
    Cost. A product of small matrices a value.

    >>> chance_of_one_left([0.5, 0.5], [[1], [1], [1]]).round(3).tolist()
    [0.75]
    """
    law, wanted = array_of(chances), array_of(kinds)
    if law.dtype.kind not in "biuf" or law.ndim != 1 or not np.all(law >= 0) or not abs(float(law.sum()) - 1) <= 1e-9:
        raise InputError("the chances of the values must be numbers that are not negative and add up to 1")
    shaped = wanted.ndim == 2 and wanted.shape[0] == 3 and wanted.size > 0 and wanted.dtype.kind in "iu"
    if not shaped or np.any(wanted < [[0], [0], [1]]):
        raise InputError("the kinds must be three rows of whole numbers: alone in either group, and in both")
    first, second, common = wanted.astype(np.int64)
    shared, place = np.unique(common, return_inverse=True)
    rows, columns = int(first.max()) + 1, int(second.max()) + 1
    work = law.size * (len(shared) + 2) * rows * columns * (rows + columns)
    if work > _MOST_WORK or max(rows, columns) > _MOST_PEOPLE:
        return None
    found: Floats = _table(law.astype(np.float64), shared, rows, columns)[place.reshape(-1), first, second]
    return found


def _table(law: Floats, shared: Integers, rows: int, columns: int) -> Floats:
    """Return the chances for every number in both groups (from a list) and all numbers alone in either."""
    # values so far without the person's own among them, and with it; coefficients times the factorials of their degrees
    without = np.zeros((rows, columns))
    without[0, 0] = 1.0
    within = np.zeros((len(shared), rows, columns))
    down, along = _ways(rows), _ways(columns)
    for chance in law.tolist():
        first, second = _drawn(down, chance), _drawn(along, chance).T
        own = (chance**shared)[:, None, None] * (first @ without @ second)
        within = first @ within + within @ second - within + own
        without = first @ without + without @ second - without
    return within


def _ways(size: int) -> Floats:
    """Return in how many ways i people are made of j others and i - j with one more value."""
    from scipy.special import binom

    return np.asarray(binom(np.arange(size)[:, None], np.arange(size)[None, :]))


def _drawn(ways: Floats, chance: float) -> Floats:
    """Return the matrix that adds one more value of this chance to a series."""
    lag = np.arange(len(ways))[:, None] - np.arange(len(ways))[None, :]
    return np.where(lag >= 0, ways * chance ** np.maximum(lag, 0), 0.0)
