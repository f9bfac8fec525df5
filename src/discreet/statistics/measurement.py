"""What a release measured, in public words: groups, what their integers add up, the law of the noise, what left.

Inference about people starts here. A query's answer, a statistic and a synthetic release all tell what they measured in
this one form, so that whoever computes with a release needs to know nothing about the room that made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.laws.noise import IntegerNoise
from discreet.privacy import Guarantee
from discreet.randomness import words
from discreet.statistics.columns import FixedPoint

Group = tuple[Any, ...]
Integers = tuple[tuple[int, ...], ...]
ROWS, UNITS, KEYS = "rows", "units", "distinct keys"
"""What counts count: rows, units of protection, or the different keys that people hold."""
_BY_HAND = "by hand"


@dataclass(frozen=True, slots=True)
class AddsUp:
    """What the integers of a measurement add up, before the noise: one or several entries for every group."""

    @property
    def entries(self) -> int:
        """How many integers there are for a group."""
        return 1


@dataclass(frozen=True, slots=True)
class Counts(AddsUp):
    """How many rows, values or units there are: each that counts in full adds `weight`.

    `counted` says what counts, in a text that is equal where the same is counted. `once` says that every unit adds
    `weight` or nothing, and that to one group at most: only then is a count of people binomial. Where it is not, `why`
    says in public words what stands against it. `selects` says that a group is listed because of these very integers:
    whoever reads another measurement of such groups needs this one too, or has to reckon with the selection.
    """

    counted: str
    weight: int = 1
    once: bool = True
    why: str = ""
    selects: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.weight, bool) or not isinstance(self.weight, int) or self.weight < 1:
            raise InputError("weight must be what one person adds, a whole number of at least 1; got another, write 1")


@dataclass(frozen=True, slots=True)
class PowerSums(AddsUp):
    """Linear combinations of the number of values, the sum of their positions on a grid, and the sum of their squares.

    An entry adds up weight (a + b x + c x^2) over the values, (a, b, c) being its row in `coefficients` and x the
    position of a value on `scale`, from 0 to `scale.steps`. `once` and `why` are as for `Counts`, about rows. `people`
    is the number of values where that is public.

    >>> mean = PowerSums("age", FixedPoint(0, 4, 25), ((0, 1, 0), (4, -1, 0)))
    >>> mean.entries, mean.scale.value(3)
    (2, Fraction(75, 1))
    """

    argument: str
    scale: FixedPoint
    coefficients: tuple[tuple[int, int, int], ...]
    weight: int = 1
    once: bool = True
    why: str = ""
    people: int | None = None

    @property
    def entries(self) -> int:
        """One for each row of coefficients."""
        return len(self.coefficients)


@dataclass(frozen=True, slots=True)
class Products(AddsUp):
    """Linear combinations of the number of rows and of the sums of products of two columns.

    A row x becomes integers s, its position: s_i is `steps` (x_i - center_i) / halves_i for the row as it was clipped
    to the box, or with `ball` pulled to the ball, rounded. An entry adds up constant + sum of m s_i s_j over the rows,
    (constant, ((i, j, m), ...)) being its line in `terms`. A column that holds 1 everywhere gives first moments too.
    `people` is the number of rows where that is public. One row a person.

    >>> Products(("x",), (0.0,), (2.0,), 4, False, ((0, ((0, 0, 1),)),)).matrix
    array([[0., 0., 4.]])
    """

    columns: tuple[str, ...]
    center: tuple[float, ...]
    halves: tuple[float, ...]
    steps: int
    ball: bool
    terms: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]
    people: int | None = None

    @property
    def entries(self) -> int:
        """One for each line of terms."""
        return len(self.terms)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """What a row adds to the entries, as a linear map of the products of its entries and 1.

        A column for each (i, j) with i <= j of w = (1, x_1, ..., x_d), in the order of `numpy.triu_indices(d + 1)`: a
        table adds up `matrix` times the upper triangle of the sum of w w', but for the rounding to positions.
        """
        size = len(self.center) + 1
        slopes = self.steps / np.array(self.halves)
        positions = np.column_stack([-slopes * np.array(self.center), np.diag(slopes)])  # s = positions w
        squares = np.zeros((self.entries, size, size))
        for place, (constant, terms) in enumerate(self.terms):
            squares[place, 0, 0] = constant
            for one, other, multiplier in terms:
                squares[place] += multiplier * np.outer(positions[one], positions[other])
        rows, columns = np.triu_indices(size)
        both: NDArray[np.float64] = squares[:, rows, columns] + np.where(
            rows == columns, 0.0, squares[:, columns, rows]
        )
        return both


@dataclass(frozen=True, slots=True)
class Source:
    """Which rows were added up. Two measurements are about the same rows where their sources are equal but for keys.

    `rows` is the canonical text of the table with its filters and joins, `bounding` says how the rows of a unit were
    bounded (with the keys, where these decide which rows are kept), `keys` holds the canonical text of each key.
    `lineage` and `version` are those of the policy; outside a session they are what the caller says, and an empty
    lineage is no lineage: nothing is known about other releases. Rows whose key is NULL or no listed value are in no
    group. Without `listed` there may be groups that are not shown, because their noisy counts were too low.
    """

    lineage: str = ""
    version: str = ""
    rows: str = ""
    bounding: str = ""
    keys: tuple[str, ...] = ()
    listed: bool = True  # the keys are public: every group of theirs is there, whatever was released of it


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """What will be measured: public, and known before any row is read.

    `noise` is centered at 0 and drawn independently for every integer.
    """

    name: str
    key_names: tuple[str, ...]
    keys: tuple[Group, ...]
    adds_up: AddsUp
    noise: IntegerNoise
    source: Source = field(default_factory=Source)

    def __post_init__(self) -> None:
        _require_kinds(self, name=str, key_names=tuple, adds_up=AddsUp, source=Source)
        if any(not isinstance(one, str) for one in self.key_names):
            raise InputError('key_names must be texts; got others, write key_names=("region",)')
        if not isinstance(self.noise, IntegerNoise) or self.noise.center != 0:
            raise InputError("noise must be the law of integer noise about 0; got another, write DiscreteLaplace(2)")
        if not self.source.keys and self.key_names:  # nothing else tells the keys apart
            object.__setattr__(self, "source", replace(self.source, keys=self.key_names))
        if len(self.source.keys) != len(self.key_names):
            raise InputError("source must have a text for each of key_names, or none; got another number of keys")
        groups = self.keys if isinstance(self.keys, tuple) else (None,)
        if any(not isinstance(key, tuple) or len(key) != len(self.key_names) for key in groups):
            raise InputError("keys must hold a tuple for every group, with a value for each of key_names; got others")
        if not _hashable(groups) or len(set(groups)) < len(groups):
            raise InputError(
                "keys must be different groups; got some that are equal, as 1, 1.0 and True are, or values that cannot "
                "be keys, write each group once"
            )

    def measured(
        self,
        released: Sequence[Sequence[int]],
        identity: Group,
        guarantee: Guarantee | None,
        *,
        rehearsed: bool = False,
    ) -> Measurement:
        """Return the measurement whose noisy integers these are, one sequence an entry, one integer a group."""
        return Measurement(self, released, identity, guarantee, rehearsed)  # type: ignore[arg-type]  # it makes tuples


@dataclass(frozen=True, slots=True)
class Measurement:
    """A plan with the noisy integers that were released: one sequence an entry, one integer a group.

    `identity` names the release, such as the lineage, the charge and its entry in the ledger, and last the place of the
    measurement in it: two measurements with equal identities are one, however often they are handed over, as a replay
    is. `guarantee` is that of the whole release, None where nobody stated one.
    """

    plan: MeasurementPlan
    released: Integers
    identity: Group
    guarantee: Guarantee | None
    rehearsed: bool = False

    def __post_init__(self) -> None:
        _require_kinds(self, plan=MeasurementPlan, guarantee=Guarantee | None, rehearsed=bool)
        try:
            integers = tuple(tuple(map(index, entry)) for entry in self.released)
        except TypeError:
            raise InputError("released must hold whole numbers; got others, write the integers as they left") from None
        object.__setattr__(self, "released", integers)
        if not isinstance(self.identity, tuple) or not self.identity or not _hashable(self.identity):
            raise InputError('identity must be a tuple that names the release; got another, write by_hand("first")')
        if len(self.released) != self.plan.adds_up.entries:
            raise InputError("a measurement needs one sequence of integers for every entry of its plan")
        if any(len(entry) != len(self.plan.keys) for entry in self.released):
            raise InputError("a measurement needs one integer for every group of its plan")

    @property
    def release(self) -> Group:
        """What all measurements of one release have in common."""
        return self.identity[:-1]

    @property
    def unnamed(self) -> bool:
        """Whether it was released by hand and has no name, so that its integers alone tell it from another."""
        return self.identity[:2] == (_BY_HAND, "")

    def of_groups(self, places: Sequence[int]) -> Measurement:
        """Return the same measurement of some groups, by their places."""
        kept = replace(self.plan, keys=tuple(self.plan.keys[place] for place in places))
        return replace(self, plan=kept, released=tuple(tuple(one[place] for place in places) for one in self.released))


def _require_kinds(made: object, **kinds: Any) -> None:
    """Refuse a field of another kind than its own, before anything is computed with it."""
    for name, kind in kinds.items():
        if not isinstance(getattr(made, name), kind):
            raise InputError(
                f"{name} of a {type(made).__name__} must be of its own kind; got {type(getattr(made, name)).__name__}, "
                "take it from answer.measurements, a statistic or noisy_counts"
            )


def _hashable(identity: Group) -> bool:
    """Say whether an identity can be looked up."""
    try:
        hash(identity)
    except TypeError:
        return False
    return True


def by_hand(release: str = "", *, place: int = 0) -> Group:
    """Return the identity of a measurement outside a session: that of a named release, or one that no other has."""
    return (_BY_HAND, release, "" if release else words(2).tobytes().hex(), place)
