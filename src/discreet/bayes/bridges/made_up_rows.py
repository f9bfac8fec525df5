"""Synthetic tables from a posterior: shares are drawn, then rows from these shares, once for every table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Parameter, Posterior, stated_seed
from discreet.bayes.bridges.combining import CombinedEstimate, combine_estimates
from discreet.display import as_stated
from discreet.errors import ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.privacy import Target

Columns = dict[str, NDArray[Any]]
_LARGEST = 10_000_000
_SHARES = ("share", "frequency")  # a rate or a mean may lie between 0 and 1 too, and is none


@dataclass(frozen=True, eq=False)
class SyntheticTables:
    """Tables of made-up rows, each from its own draw of the posterior: columns by name, one for each key.

    One of them alone is not data: what is computed on it has the sampling of its rows in it, and not what the release
    leaves open. `estimate` computes on all of them and combines.

    Privacy. Costs nothing: the tables are drawn from a posterior, which is made of what was released.
        Proof: post-processing.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    counts: NDArray[np.int64]  # (tables, cells): how many rows of each label a table has
    orders: int  # the seed of the orders of rows

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, place: int) -> Columns:
        if isinstance(place, bool) or not isinstance(place, int | np.integer):
            raise ParameterError(
                f"place must be the number of a table, from 0 to {len(self) - 1}; got {type(place).__name__}, write 0",
                parameter="place",
            )
        counts = self.counts[range(len(self))[place]]
        chosen = np.repeat(np.arange(len(self.labels)), counts)
        np.random.default_rng([self.orders, range(len(self))[place]]).shuffle(chosen)
        return {name: _column([label[at] for label in self.labels])[chosen] for at, name in enumerate(self.names)}

    def __iter__(self) -> Iterator[Columns]:
        return (self[place] for place in range(len(self)))

    @property
    def size(self) -> int:
        """The rows of each table."""
        return int(self.counts[0].sum())

    def to_pandas(self, place: int = 0) -> Any:
        """Return one of the tables as a pandas frame."""
        return to_pandas(self[place])

    def to_polars(self, place: int = 0) -> Any:
        """Return one of the tables as a Polars frame."""
        return to_polars(self[place])

    def to_arrow(self, place: int = 0) -> Any:
        """Return one of the tables as an Arrow table."""
        return to_arrow(self[place])

    def estimate(
        self,
        of: Callable[[Columns], tuple[float, float]],
        *,
        confidence: float = 0.95,
        people: int | None = None,
    ) -> CombinedEstimate:
        """Compute on every table and combine: `of` takes the columns and returns an estimate and its variance.

        `people` is how many were asked, if that is not the size of the tables; it is used where the variance between
        tables is too small for the rule (see `combine_estimates`).
        """
        asked = self.size if people is None else _whole(people, "people", least=1)
        found = [of(columns) for columns in self]
        if not all(isinstance(one, tuple | list) and len(one) == 2 for one in found):
            raise ParameterError(
                "of must return an estimate and its variance; got something else, write for example "
                'lambda rows: (rows["share"].mean(), rows["share"].var() / 100)',
                parameter="of",
            )
        estimates, variances = zip(*found, strict=True)
        return combine_estimates(estimates, variances, confidence=confidence, ratio=self.size / asked)

    def __repr__(self) -> str:
        return f"SyntheticTables({len(self)} tables of {self.size:,} rows, columns {', '.join(self.names)})"


def synthetic_tables(
    posterior: Posterior, *, tables: int = 20, size: int, name: str | None = None, seed: int | None = None
) -> SyntheticTables:
    """Draw tables of rows from a posterior over the shares of cells.

    Args:
        posterior: of a model whose population has shares that add up to 1 over its groups, or one share alone, which
            gives a column of True and False.
        tables: how many; 20 are enough for intervals.
        size: the rows of each, best the number of people who were asked.
        name: the parameter that holds the shares; found by itself where there is one.
        seed: repeats the tables; nothing private is drawn.

    Cost. One draw of the posterior and one multinomial count a table.
    Reference. Rubin 1993; Raghunathan, Reiter, Rubin 2003.

    >>> from discreet.bayes import noisy_counts, posterior
    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.laws import DiscreteLaplace
    >>> smokers = noisy_counts(31, noise=DiscreteLaplace(2))
    >>> known = posterior(smokers, BetaBinomial(1, 1, people=100), seed=1)
    >>> made = synthetic_tables(known, size=100, seed=1)
    >>> made
    SyntheticTables(20 tables of 100 rows, columns share)
    >>> found = made.estimate(
    ...     lambda rows: (rows["share"].mean(), rows["share"].var() / 100)
    ... )
    >>> bool(found.low < 0.31 < found.high)
    True
    """
    count = _whole(tables, "tables", least=2)
    rows = _whole(size, "size", least=1)
    if not isinstance(posterior, Posterior):
        raise ParameterError(
            f"posterior must be what discreet.bayes.posterior returned; got {type(posterior).__name__}, write "
            "posterior(answer, model)",
            parameter="posterior",
        )
    generator = np.random.default_rng(stated_seed(seed))
    parameter = _shares(posterior, name)
    draws = posterior[parameter.name].astype(np.float64).reshape(-1, max(len(parameter.groups), 1))
    if count > len(draws):
        raise ParameterError(
            f"tables must be at most the number of draws, {len(draws):,}; got more, write tables=20", parameter="tables"
        )
    chosen = draws[_apart(len(draws), count, posterior, generator)]
    if chosen.shape[1] == 1:
        names: tuple[str, ...] = (parameter.name,)
        labels: tuple[tuple[Any, ...], ...] = ((True,), (False,))
        chosen = np.hstack([chosen, 1.0 - chosen])
    else:
        names, labels = parameter.keys, tuple(parameter.labels(place) for place in range(len(parameter.groups)))
    shares = np.clip(chosen, 0.0, 1.0)
    counts = generator.multinomial(rows, shares / shares.sum(axis=1, keepdims=True))
    return SyntheticTables(names, labels, counts, int(generator.integers(1 << 62)))


def _apart(count: int, wanted: int, posterior: Posterior, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return places of draws: any for independent ones, else as far apart as they lie in their chains."""
    if posterior.independent:
        return generator.permutation(count)[:wanted]
    return (np.arange(wanted) * count) // wanted


def _shares(posterior: Posterior, name: str | None) -> Parameter:
    """Return the parameter that holds the shares of the cells."""
    offered = [one for one in posterior.parameters if one.name in _SHARES]
    if name is not None:
        offered = [posterior.parameter(name)]
    for one in offered:
        if one.target is Target.POPULATION and _are_shares(posterior[one.name], max(len(one.groups), 1)):
            return one
    raise ParameterError(
        "the posterior must have shares of the population that add up to 1, or one share alone; got none, take the "
        "model DirichletMultinomial, or BetaBinomial",
        parameter="name",
    )


def _are_shares(draws: NDArray[Any], cells: int) -> bool:
    """Say whether draws are shares of all cells, or of one against the rest."""
    flat = np.asarray(draws, dtype=np.float64).reshape(-1, cells)
    inside = bool((flat >= 0.0).all() and (flat <= 1.0).all())
    return inside and (cells == 1 or bool(np.allclose(flat.sum(axis=1), 1.0, atol=1e-9)))


def _column(values: list[Any]) -> NDArray[Any]:
    """Return the labels of a key as an array: of one type where they have one."""
    if len({type(one) for one in values}) == 1 and isinstance(values[0], bool | int | float | str):
        return np.array(values)
    return np.array([*values, None], dtype=object)[:-1]


def _whole(value: Any, name: str, *, least: int) -> int:
    """Return a whole number in range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= _LARGEST:
        raise ParameterError(
            f"{name} must be a whole number from {least} to {_LARGEST:,}; got {as_stated(value)}, write for example "
            f"{name}={20 if name == 'tables' else 1000}",
            parameter=name,
        )
    return int(value)
