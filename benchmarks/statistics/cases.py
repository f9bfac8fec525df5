"""The columns and the cases of the statistics benchmark: made-up data from a seed, guarantees, and true answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 20_260_101
SIZES = (1000, 10_000)
EPSILONS = (0.1, 1.0)
DRAWS = 2000
DELTA = 1e-6
TEN = tuple(i / 11 for i in range(1, 11))
BOUNDS: dict[str, tuple[float, float]] = {
    "income": (0.0, 200_000.0),
    "wealth": (0.0, 10_000_000.0),
    "age": (0, 100),
    "uniform": (0.0, 1.0),
    "normal": (-5.0, 5.0),
    "decade": (0, 10),
    "over 64": (0, 1),
    "town": (1, 200),
    "pair": (-4.0, 4.0),
}


@cache
def column(name: str, rows: int) -> NDArray[Any]:
    """Return a column inside its bounds, the same on every run."""
    draw = np.random.default_rng([SEED, rows])
    low, high = BOUNDS[name]
    made: dict[str, Any] = {
        "income": lambda: draw.lognormal(np.log(30_000), 0.6, rows),
        "wealth": lambda: draw.lognormal(np.log(80_000), 1.2, rows),
        "age": lambda: np.rint(draw.normal(42, 18, rows)).astype(np.int64),
        "uniform": lambda: draw.uniform(0, 1, rows),
        "normal": lambda: draw.normal(0, 1, rows),
        "decade": lambda: np.rint(draw.normal(42, 18, rows)).astype(np.int64) // 10,
        "over 64": lambda: (draw.random(rows) < 0.17).astype(np.int64),
        "town": lambda: draw.choice(np.arange(1, 201), size=rows, p=_falling(200)),
        "pair": lambda: draw.multivariate_normal([0.5, 0], [[1, 0.6], [0.6, 1]], rows),
    }
    values: NDArray[Any] = np.clip(made[name](), low, high)
    return values


def _falling(length: int) -> NDArray[np.float64]:
    """Return probabilities that fall like 1, 1/2, 1/3, ..."""
    weights = 1 / np.arange(1, length + 1)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


@dataclass(frozen=True)
class Case:
    """One statistic of one column under one guarantee; `bar` is how much lower our error must be."""

    statistic: str
    column: str
    rows: int
    epsilon: float
    change_one: bool = False
    levels: tuple[float, ...] = ()
    bar: float = 1.0
    delta: float = 0.0

    @property
    def values(self) -> NDArray[Any]:
        """The column."""
        return column(self.column, self.rows)

    @property
    def bounds(self) -> tuple[float, float]:
        """The public bounds of the column."""
        return BOUNDS[self.column]

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys of a histogram: all that the bounds allow, or only those that occur where nobody names them."""
        if self.statistic == "histogram":
            return tuple(range(int(self.bounds[0]), int(self.bounds[1]) + 1))
        return tuple(np.unique(self.values).tolist()) if self.statistic == "histogram_unknown" else ()

    @property
    def truth(self) -> NDArray[np.float64]:
        """The exact answer."""
        values = self.values
        answers: dict[str, Any] = {
            "count": lambda: len(values),
            "count_true": values.sum,
            "count_distinct": lambda: len(np.unique(values)),
            "sum": values.sum,
            "mean": values.mean,
            "variance": values.var,
            "standard_deviation": values.std,
            "quantiles": lambda: np.quantile(values, self.levels),
            "histogram": lambda: [(values == key).sum() for key in self.keys],
            "histogram_unknown": lambda: [(values == key).sum() for key in self.keys],
            "covariance": lambda: (values.T @ values / len(values))[[0, 0, 1], [0, 1, 1]],
        }
        return np.atleast_1d(np.asarray(answers[self.statistic](), dtype=np.float64))

    @property
    def request(self) -> dict[str, Any]:
        """What a peer is asked, as JSON takes it."""
        return {
            "statistic": self.statistic,
            "column": f"{self.column} {self.rows}",
            "change_one": self.change_one,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "bounds": self.bounds,
            "levels": self.levels,
            "keys": self.keys,
            "draws": DRAWS,
            "truth": self.truth.tolist(),
        }

    @property
    def kind(self) -> str:
        """The statistic and the relation, in words."""
        relation = "change-one" if self.change_one else "add/remove"
        named = {(0.5,): "median", (0.9,): "0.9 quantile", TEN: "ten quantiles", (): NAMES.get(self.statistic)}
        return f"{named[self.levels] or self.statistic.replace('_', ' ')}, {relation}"

    def __str__(self) -> str:
        """Say which case it is."""
        return f"{self.kind}, epsilon {self.epsilon:g}: {self.column}, n {self.rows}"


NAMES = {
    "count_true": "count of a condition",
    "histogram": "histogram, known keys",
    "histogram_unknown": "histogram, unknown keys",
    "covariance": "second moments of two columns",
}
_BOTH, _ADD, _CHANGE = (False, True), (False,), (True,)
# statistic, columns, relations (True for change-one), levels
_PLAN: tuple[tuple[str, tuple[str, ...], tuple[bool, ...], tuple[float, ...]], ...] = (
    ("count", ("age",), _ADD, ()),
    ("count_true", ("over 64",), _BOTH, ()),
    ("count_distinct", ("town",), _ADD, ()),
    ("sum", ("income", "age"), _BOTH, ()),
    ("mean", ("income", "age", "uniform", "normal"), _BOTH, ()),
    ("variance", ("income", "normal"), _BOTH, ()),
    ("standard_deviation", ("income", "normal"), _BOTH, ()),
    ("quantiles", ("income", "normal", "age"), _BOTH, (0.5,)),
    ("quantiles", ("income", "normal"), _BOTH, (0.9,)),
    ("quantiles", ("income", "wealth", "uniform"), _ADD, TEN),
    ("quantiles", ("income",), _CHANGE, TEN),
    ("histogram", ("decade",), _BOTH, ()),
    ("histogram_unknown", ("town",), _ADD, ()),
    ("covariance", ("pair",), _CHANGE, ()),
)


def cases() -> Iterator[Case]:
    """Yield every case."""
    for statistic, columns, relations, levels in _PLAN:
        for change_one in relations:
            bar = 1.8 if statistic == "mean" and not change_one else 3.0 if levels == TEN else 1.0
            delta = DELTA if statistic == "histogram_unknown" else 0.0
            for name in columns:
                for rows in SIZES:
                    for epsilon in EPSILONS:
                        yield Case(statistic, name, rows, epsilon, change_one, levels, bar, delta)
