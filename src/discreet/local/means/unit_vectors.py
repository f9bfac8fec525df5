"""Means of vectors of length at most 1: report one of many public directions, more often one near the vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.laws import Finite
from discreet.local.means.directions import Codebook, choose_cap, least_error, top_mean
from discreet.local.means.scalar_mean import exact_loss
from discreet.local.protocol import (
    Floats,
    Integers,
    Preference,
    Spec,
    array_or_none,
    number_of_people,
    toss,
    whole_within,
)
from discreet.privacy import PrivacyLoss
from discreet.randomness import uniform_below_array, words

if TYPE_CHECKING:
    from discreet.local.means.vector_aggregator import VectorAggregator

_LARGEST_LAW = 1 << 16
_SIGN_BITS = 53
_CHUNK = 1 << 20
_TOLERANCE = 1e-6
_REFUSED = (
    "a value must be a vector of finite numbers of the public dimension and of length at most 1 (up to 1 + 1e-6, which "
    "is taken as 1); nothing was reported"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitVectors(Spec, Preference):
    """Report one of the `codewords` directions of a codebook drawn afresh: with probability p one of the `cap` nearest.

    A report is (number of the codebook) * codewords + (place in it). A vector shorter than 1 is first replaced by its
    direction or the opposite one, by a coin that keeps its mean (the length is rounded to 2^-52); the length may exceed
    1 by rounding, 1e-6, and is then taken as 1. `codewords` and `cap` are chosen so that the error is within 1 % of
    PrivUnit's for epsilon up to 8; beyond, 4096 codewords may be too few for that.

    Privacy. Pure epsilon-local privacy, for every vector and however floats round in ranking the directions.
        Proof: the codebook is drawn independently of the vector. Given it, and the coin of a shorter vector, some set
        of exactly `cap` codewords is preferred; each of them has probability p / cap, each other (1 - p) / (codewords -
        cap). The ratio is at most e^epsilon and at least 1 since p is rounded down (`coin`). Which set it is does not
        matter, so neither does the arithmetic that finds it. Mixtures over the coin keep the ratio.
    Accuracy. Over the choice of directions, uniform and independent, the reported codeword over m is unbiased, with
        m = (p - (1 - p) cap / (codewords - cap)) times the expected mean of the `cap` largest of `codewords` products
        with a fixed unit vector; the expected squared error of one report is 1 / m^2 - |v|^2. Given C fixed codebooks
        the estimate of n people is a little biased: its squared bias is on average at most 1 / (C m^2), n / C of the
        bound 1 / (n m^2) on its squared error.
        Proof: turning the sphere about v moves no product with v, so that the mean of the reported codeword is a
        multiple of v; the multiple is its product with v, m. A codeword has length 1, so the second moment is 1 / m^2.
        Given the codebooks, the mean report is an average over C independent codebooks of points of the unit ball, and
        so varies by at most 1 / C. Experimental: that the public directions behave as if drawn at random is tested, not
        proven.
    Cost. codewords * dimension multiplications a report, a million or so at a time; a report is decoded in `dimension`
        operations.
    Figure. local-means.svg
    Reference. Bhowmick et al. 2018 (PrivUnit); Asi, Feldman, Talwar 2022 (its optimality, PrivUnitG); Shah et al. 2022
        for caps among finitely many public samples.

    >>> spec = UnitVectors(epsilon=Fraction(4), dimension=8)
    >>> spec.codewords, spec.cap, round(spec.error, 2), round(spec.least_error, 2)
    (512, 41, 3.84, 3.81)
    >>> reports = spec.client().report_many(
    ...     np.tile([0.6, 0.8, 0, 0, 0, 0, 0, 0], (500, 1))
    ... )
    >>> mean = spec.aggregator().add(reports).estimate()
    >>> bool(np.linalg.norm(mean.value - [0.6, 0.8, 0, 0, 0, 0, 0, 0]) < 0.5)
    True
    """

    protocol: ClassVar[str] = "unit-vectors"
    dimension: int
    codewords: int = 0
    cap: int = 0
    codebooks: int = 1 << 32
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("dimension", 2, 1 << 16)
        self._whole("codebooks", 1, 1 << 40)
        self._whole("seed", 0, (1 << 53) - 1)
        self._whole("codewords", 0, 1 << 13)
        if self.cap and not self.codewords:
            raise ParameterError("cap= needs codewords= as well", parameter="cap")
        self._whole("cap", 0, self.codewords // 2)
        if not self.cap:
            choice = choose_cap(self.exact_epsilon, self.dimension, self.codewords or None)
            self._take(codewords=choice.codewords, cap=choice.cap)

    def _whole(self, name: str, least: int, most: int) -> None:
        """Take an int between two ends."""
        given = whole_within(getattr(self, name), least, most, name=name)
        if name == "codewords" and given == 1:
            raise ParameterError("codewords must be at least 2", parameter=name)
        self._take(**{name: given})

    @property
    def cells(self) -> int:
        """All codewords of all codebooks."""
        return self.codebooks * self.codewords

    @property
    def sides(self) -> tuple[int, int]:
        """The codewords of the cap and the others, given the codebook."""
        return self.cap, self.codewords - self.cap

    @cached_property
    def normalization(self) -> float:
        """The constant m that sums of codewords are divided by."""
        gain = self.preference - (1 - self.preference) * Fraction(self.cap, self.codewords - self.cap)
        return float(gain) * top_mean(self.dimension, self.codewords, self.cap)

    @property
    def error(self) -> float:
        """The second moment of a decoded report, 1 / m^2: the squared error of one report is this less |v|^2."""
        return 1 / self.normalization**2

    @property
    def least_error(self) -> float:
        """The same for PrivUnit with its best cap and all directions of the sphere."""
        return least_error(self.exact_epsilon, self.dimension)

    def variance(self, people: int) -> float:
        """Return a bound on the expected squared distance of the estimated mean from the mean: 1 / (n m^2)."""
        return self.error / number_of_people(people)

    @property
    def poisoning_gain(self) -> float:
        """How far one hostile report can move the estimated sum, 1 / m (an honest vector: 1)."""
        return 1 / self.normalization

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of a vector and its opposite, whose caps share nothing; all other codewords are merged."""
        first = [self.cap * self.likely, self.cap * self.unlikely]
        rest = 1 - sum(first, Fraction(0))
        return exact_loss([*first, rest], [*reversed(first), rest], self.guarantee)

    @cached_property
    def codebook(self) -> Codebook:
        """The public directions."""
        return Codebook(seed=self.seed, dimension=self.dimension)

    def items(self, values: Any) -> Floats:
        """Return private vectors, one a row; raise InputError on anything else, without showing it."""
        found = _vectors(values, self.dimension)
        if found is None:
            raise InputError(_REFUSED)
        return found

    def ranking(self, book: int, direction: Floats) -> Integers:
        """Return all places of a codebook, the `cap` with the largest products with the direction first."""
        products = np.empty(self.codewords)
        step = max(1, _CHUNK // self.dimension)
        for start in range(0, self.codewords, step):
            places = np.arange(start, min(start + step, self.codewords))
            rows = self.codebook.vectors(book * self.codewords + places).astype(np.float64)
            products[places] = (rows @ direction) / np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return np.argsort(-products, kind="stable")

    def randomize(self, values: Floats) -> Integers:
        """Draw a report for each vector; the vectors were checked."""
        people = values.shape[0]
        directions, chances = _split(values)
        same = (words(people) >> np.uint64(64 - _SIGN_BITS)).astype(np.int64) < chances
        books = uniform_below_array(self.codebooks, people)
        inside, near = toss(self.coin, people), uniform_below_array(self.cap, people)
        far = self.cap + uniform_below_array(self.codewords - self.cap, people)
        ranks = np.where(inside, near, far)
        reports = np.empty(people, dtype=np.int64)
        for person in range(people):
            signed = directions[person] if same[person] else -directions[person]
            place = self.ranking(int(books[person]), signed)[ranks[person]]
            reports[person] = books[person] * self.codewords + place
        return reports

    def law(self, value: Any) -> Finite:
        """Return the exact law of the report of a vector, for at most 2^16 outputs."""
        if self.cells > _LARGEST_LAW:
            raise ParameterError("the law of a report is listed for at most 2^16 outputs; `loss` works for any number")
        directions, chances = _split(self.items([value]))
        same = Fraction(int(chances[0]), 1 << _SIGN_BITS)
        masses = [self.unlikely / self.codebooks] * self.cells
        for weight, direction in ((same, directions[0]), (1 - same, -directions[0])):
            for book in range(self.codebooks):
                for place in self.ranking(book, direction)[: self.cap].tolist():
                    masses[book * self.codewords + place] += weight * (self.likely - self.unlikely) / self.codebooks
        return Finite(range(self.cells), masses)

    def several(self, value: Any) -> bool:
        """Say whether these are vectors of several people."""
        return np.ndim(value) > 1

    def corners(self) -> tuple[tuple[float, ...], ...]:
        """Return a vector, its opposite and a short one, where audits start."""
        rest = (0.0,) * (self.dimension - 1)
        return (1.0, *rest), (-1.0, *rest), (0.25, *rest)

    def derived(self) -> dict[str, Any]:
        """Return the coin and the number of reports."""
        return {"cells": self.cells, "coin": self.coin}

    def aggregator(self) -> VectorAggregator:
        """Return an empty aggregator."""
        from discreet.local.means.vector_aggregator import VectorAggregator

        return VectorAggregator(self)


def _vectors(values: Any, dimension: int) -> Floats | None:
    """Return vectors as rows of floats; None if any of them is not allowed."""
    if isinstance(values, np.ma.MaskedArray):
        return None
    if isinstance(values, list | tuple):
        if any(map(_misread, values)):
            return None
        values = values or np.empty((0, dimension))
    array = array_or_none(values)
    if (
        array is None
        or array.ndim != 2
        or array.shape[1] != dimension
        or array.dtype.kind not in "fiu"
        or array.dtype.itemsize > 8
    ):
        return None
    rows = array.astype(np.float64)
    if not bool(np.all(np.abs(rows) <= 1 + _TOLERANCE)):  # false for NaN
        return None
    return rows if bool(np.all(np.einsum("ij,ij->i", rows, rows) <= (1 + _TOLERANCE) ** 2)) else None


def _misread(vector: Any) -> bool:
    """Say whether numpy would read numbers where there are none: truth values, spans of time, what a mask hides."""
    if isinstance(vector, np.ndarray):
        return vector.dtype.kind not in "fiu" or isinstance(vector, np.ma.MaskedArray)
    odd = bool, np.bool_, np.timedelta64, np.ma.MaskedArray
    return isinstance(vector, list | tuple) and any(isinstance(entry, odd) for entry in vector)


def _split(rows: Floats) -> tuple[Floats, Integers]:
    """Return the direction of each vector, and the chance times 2^53 of keeping it: (1 + length) / 2."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    scaled[:, 0] = np.where(largest[:, 0] > 0, scaled[:, 0], 1.0)  # the zero vector: any direction and its opposite
    relative = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    lengths = np.minimum(relative * largest[:, 0], 1.0)
    chances = np.rint((1.0 + lengths) * 2.0 ** (_SIGN_BITS - 1)).astype(np.int64)
    return scaled / relative[:, None], chances
