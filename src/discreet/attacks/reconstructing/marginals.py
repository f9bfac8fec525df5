"""Reconstruction from published tables: how many people with the bit 1 share every few of their public attributes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Ask, Floats, array_of, asked, named
from discreet.attacks.reconstructing.certainty import certain_fraction, distance_of_fit, least_eigenvalue
from discreet.attacks.reconstructing.linear_program_attack import least_absolute, refuse_large
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.attacks.reconstructing.subsets import Packed, SubsetQueries
from discreet.display.result import told_by_name
from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import nonnegative, whole

MOST_PEOPLE, MOST_QUERIES = 5000, 100_000
_MOST_STEPS = 800
_OVERSHOOT = 1.8  # of a direction; any value below 2 converges, and this one fast
_STILL = 1e-5


@told_by_name
class FitDistance(Enum):
    """Which distance between counts is made least, over numbers in [0, 1]."""

    SQUARES = "least squares in the box"
    ABSOLUTE = "least absolute errors"


@dataclass(frozen=True, eq=False)
class Conjunctions(SubsetQueries):
    """The counts that tables of `ways` ways hold: people with the bit 1 who have all of at most k public attributes.

    `attributes` has one row a person and one column an attribute, zeros and ones, all of it known to the attacker. The
    empty conjunction counts everybody with the bit 1. All tables of k attributes by the secret bit say neither more nor
    less than these counts (inclusion and exclusion).

    In SQL `attribute` is what the names of the columns start with: the first one is `a0` if it is `a`.

    >>> design = Conjunctions([[1, 1, 0], [0, 1, 1], [1, 1, 1]], ways=2)
    >>> design.sets
    ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    >>> design.exact([1, 0, 1]).tolist()
    [2, 2, 2, 1, 2, 1, 1]
    >>> print(
    ...     list(
    ...         design.texts(
    ...             {"table": "patients", "secret": "marker", "attribute": "a"}
    ...         )
    ...     )[5]
    ... )
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND a0 = 1 AND a2 = 1
    """

    attributes: ArrayLike
    ways: int = 2

    def __post_init__(self) -> None:
        bits = array_of(self.attributes)
        if bits.ndim != 2 or bits.dtype.kind not in "biu" or not bits.size or not np.isin(bits, (0, 1)).all():
            raise InputError("attributes must be a matrix of zeros and ones: one row a person, one column an attribute")
        bits = bits.astype(np.bool_)
        bits.flags.writeable = False
        ways = whole(self.ways, name="ways")
        count = sum(comb(bits.shape[1], size) for size in range(min(ways, bits.shape[1]) + 1))
        if len(bits) > MOST_PEOPLE or count > MOST_QUERIES:
            raise ParameterError(
                f"tables of {ways} ways of {bits.shape[1]} attributes of {len(bits):,} people are too large to solve; "
                f"take at most {MOST_PEOPLE:,} people and {MOST_QUERIES:,} counts",
                parameter="ways",
            )
        object.__setattr__(self, "attributes", bits)
        object.__setattr__(self, "ways", ways)

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many people there are."""
        return len(self._bits)

    @property
    def _bits(self) -> NDArray[np.bool_]:
        return np.asarray(self.attributes)

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The attributes of each conjunction, in the order of the counts."""
        columns, sizes = range(self._bits.shape[1]), range(min(self.ways, self._bits.shape[1]) + 1)
        return tuple(chosen for size in sizes for chosen in combinations(columns, size))

    @cached_property
    def packed(self) -> Packed:
        """The people whom each conjunction describes, one row a conjunction, eight people a byte."""
        columns = np.packbits(self._bits, axis=0).T
        everybody = np.packbits(np.ones(self.people, dtype=np.bool_))
        return np.array([np.bitwise_and.reduce(columns[list(chosen)], initial=255) & everybody for chosen in self.sets])

    def texts(self, names: Mapping[str, str]) -> Iterator[str]:
        """Return the counts as SQL; `names` gives table, secret and attribute, the start of the columns' names."""
        table, secret, attribute = named(names, "table", "secret", "attribute")
        for chosen in self.sets:
            described = "".join(f" AND {attribute}{column} = 1" for column in chosen)
            yield f"SELECT COUNT(*) AS people FROM {table} WHERE {secret} = 1{described}"  # noqa: S608  the attacker's own text


def from_marginals(
    ask: Ask,
    attributes: ArrayLike,
    *,
    ways: int = 2,
    fit: FitDistance = FitDistance.SQUARES,
    error: Number | None = None,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    frequency: Number = HALF,
) -> Reconstruction:
    """Take the counts of `Conjunctions`, find numbers in [0, 1] that fit them best, and round them to bits.

    Nobody need ask anything: these counts are what a table of k attributes by the secret one shows. `error` is the most
    by which a count is off, if that is known; it gives `floor` and does not change the guesses. `truth`, `loss` and
    `frequency` are the owner's, as in `least_squares`.

    Accuracy. If the errors of all counts together have the length |e| and the column found has residuals of length R,
        at most 4 (R + |e|)^2 / lambda bits are wrong, lambda being the least eigenvalue of A'A, the square of the least
        singular value of the row-product matrix A. The exact best fit in squares has at most 4 |e|^2 / lambda. `floor`
        is the share that is certain if each count is within `error`; there is none when people outnumber the counts.
        Proof: the theorem of `certain_fraction`. The answers that any column x implies are within R of those given, and
        these within |e| of the true ones; for the best fit in squares they are the nearest point of a convex set that
        holds the true ones, and nearest points are no farther apart than what they are nearest to.
    Cost. Squares: one Cholesky factor of n people, and two triangular solutions a step. Absolute errors: a linear
        program, for some hundreds of people.
    Figure. marginals.svg
    Reference. Kasiviswanathan, Rudelson, Smith, Ullman 2010; De 2012; Kasiviswanathan, Rudelson, Smith 2013. The steps
        are those of the alternating direction method of multipliers: Boyd et al. 2011.

    >>> import numpy as np
    >>> from discreet.attacks import exact_answers
    >>> random = np.random.default_rng(1)
    >>> attributes, secret = (
    ...     random.integers(0, 2, (200, 25)),
    ...     random.integers(0, 2, 200),
    ... )
    >>> found = from_marginals(exact_answers(secret), attributes, error=0, truth=secret)
    >>> found.queries, found.recovered, found.floor
    (326, 1.0, 1.0)
    """
    started = time.perf_counter()
    design = Conjunctions(attributes, ways=ways)
    owner = Owner.of(design.people, truth, loss, frequency)
    bound = None if error is None else float(nonnegative(error, name="error"))
    if not isinstance(fit, FitDistance):
        raise ParameterError("fit must be FitDistance.SQUARES or FitDistance.ABSOLUTE", parameter="fit")
    if fit is FitDistance.ABSOLUTE:
        refuse_large(design)
    answers = design.checked(asked(ask, design))
    if fit is FitDistance.SQUARES:
        estimates = squares_in_the_box(design.gram(), design.transposed(answers))
    else:
        estimates = least_absolute(design.matrix().astype(np.float64), answers)
    seconds = time.perf_counter() - started
    floor = None if bound is None else _floor(design, answers, estimates, bound)
    return owner.judge(estimates, decoder=f"marginals, {fit.value}", queries=len(design), seconds=seconds, floor=floor)


def _floor(design: Conjunctions, answers: Floats, estimates: Floats, error: float) -> float | None:
    """Return the frequency of bits that is certain if every count is within an error."""
    if len(design) < design.people:
        return None
    distance = distance_of_fit(answers - design.times(estimates), error)
    return certain_fraction(design.people, distance=distance, eigenvalue=least_eigenvalue(design.gram()))


def squares_in_the_box(gram: Floats, projected: Floats) -> Floats:
    """Return the numbers in [0, 1] with the least x'Gx/2 - p'x, by alternating directions.

    One direction is a linear system whose factor is kept, the other a clip; what they disagree on is carried along.

    >>> squares_in_the_box(
    ...     np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 0.5])
    ... ).round(4).tolist()
    [1.0, 0.0]
    """
    from scipy.linalg import cho_factor, cho_solve

    # a small part of the mean eigenvalue: counts that hardly determine a column need small weights, noisy ones larger
    weight = float(np.median(np.diag(gram))) / 80
    factor = cho_factor(gram + weight * np.eye(len(gram)), lower=True)
    boxed, carried = np.full(len(gram), 0.5), np.zeros(len(gram))
    for _ in range(_MOST_STEPS):
        solved = cho_solve(factor, projected + weight * (boxed - carried), check_finite=False)
        before, beyond = boxed, _OVERSHOOT * solved + (1 - _OVERSHOOT) * boxed
        boxed = np.clip(beyond + carried, 0.0, 1.0)
        carried += beyond - boxed
        if max(np.abs(boxed - before).max(), np.abs(solved - boxed).max()) < _STILL:
            break
    return boxed
