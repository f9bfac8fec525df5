"""What k-anonymity leaves open: groups that share one secret, and two releases whose groups intersect in one.

How often that happens by chance, if secrets are independent, is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Integers, array_of, coded
from discreet.attacks.linking.mondrian_boxes import Boxes
from discreet.attacks.results import read_only
from discreet.display.plots import BLUE, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import Row, percent, told_in_rows
from discreet.errors import InputError, ParameterError
from discreet.frames import joint_codes, named, person_codes, unit_array

Floats = NDArray[np.float64]

_MOST_WORDS = 2**27  # of bits for the secrets of all groups: one gibibyte
_MOST_WORK = 4e9
_MOST_PEOPLE = 1000  # in a group alone: the binomial coefficients of more are no floats


@dataclass(frozen=True, eq=False, repr=False)
class AttackedRelease:
    """A k-anonymous table as it is published, a group and a secret value a row, and who its rows are.

    `person` is known to the owner only; it serves to say who is in two releases. The attacker knows the facts that the
    boxes are made of, and so finds a person's group: boxes do not overlap.
    """

    boxes: Boxes
    secret: NDArray[np.generic]
    person: NDArray[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.boxes, Boxes):
            raise ParameterError("boxes must be what mondrian(...) returns", parameter="boxes")
        codes = person_codes(self.person)  # before numpy makes floats of numbers of several types
        if (codes < 0).any():
            raise InputError("every row of a release belongs to a person: drop the rows whose person is missing")
        # ids stay the objects they are: as numbers or texts of numpy, different ones may be equal
        kept = {"secret": array_of(self.secret, what="secret").copy(), "person": unit_array(self.person)}
        for name, array in kept.items():
            if array.shape != self.boxes.group.shape:
                raise InputError(f"{name} must hold one value a row of the boxes")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if len(np.unique(codes)) != len(codes):
            raise InputError("a person must have at most one row in a release")

    def __repr__(self) -> str:
        return f"<AttackedRelease: {len(self.person):,} people in {len(self.boxes.sizes):,} groups of {self.boxes.k}+>"


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exposure:
    """How many secret values are left for each person, and the frequency of people with one: their secret is known.

    `people` are those that were looked at (in the order of their number), `candidates` the number of values left for
    each, and `expected` the share exposed if secrets were independent of everything else, None where that is unknown.
    """

    what: str
    people: NDArray[Any]
    candidates: Integers
    expected: float | None

    def __post_init__(self) -> None:
        read_only(self.people, self.candidates)

    @property
    def frequency(self) -> float:
        """The frequency of people with one candidate left."""
        return float(np.mean(self.candidates == 1)) if len(self.candidates) else 0.0

    def _asked(self) -> list[tuple[str, str]]:
        """Return the source, which is told first."""
        return [("from", self.what)]

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order."""
        return [
            ("people", f"{len(self.people):,}"),
            ("one candidate left", percent(self.frequency)),
            ("if independent", percent(self.expected)),
        ]

    def plot(self) -> Plot:
        """Draw how many people have how many candidates left; needs the extra `plot`."""
        drawn = axes(title=f"Secrets left open by {self.what}", x_label="candidates for the secret", y_label="people")
        counts = np.bincount(self.candidates, minlength=3)[1:]
        places = np.arange(1, len(counts) + 1)
        drawn.bar(places[:1], counts[:1], color=ORANGE, hatch="//", edgecolor="white", linewidth=0, label="known")
        drawn.bar(places[1:], counts[1:], color=BLUE, label="several left")
        drawn.set_xticks(places)
        drawn.grid(axis="y", color=SOFT, alpha=0.18, linewidth=0.8)
        drawn.set_axisbelow(True)
        return explained(drawn, ncols=2)


def homogeneity(release: AttackedRelease) -> Exposure:
    """Say for whom a single k-anonymous release tells the secret: everybody in their group has the same.

    Accuracy. With secrets drawn independently, the value v with chance q, `expected` is the mean over people of the sum
        over v of q^m, m the size of their group.
        Proof: that is the chance that all m of a group have the same value.
    Reference. Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007.

    >>> from discreet.attacks import mondrian
    >>> from discreet.data import register
    >>> table = register(people=20_000, seed=1).discharges
    >>> boxes = mondrian(table, k=2, columns=["zip_code", "birth_date", "sex"])
    >>> homogeneity(AttackedRelease(boxes, table.diagnosis, np.arange(len(table))))
    <Exposure: people 4,000; one candidate left ... %; if independent ... %>
    """
    _check(release)
    (values,) = _values([release])
    group, sizes = release.boxes.group, release.boxes.sizes
    # few chances and few sizes are different, however many values and groups there are
    chances, times = np.unique(np.bincount(values) / len(values), return_counts=True)
    different, place = np.unique(sizes, return_inverse=True)
    together = (times @ chances[:, None] ** different[None, :])[place.reshape(-1)]
    order = _order(release.person)
    pairs = np.unique(group * (int(values.max()) + 1) + values)
    left = np.bincount(pairs // (int(values.max()) + 1))[group]
    return Exposure("one release", release.person[order], left[order].astype(np.int64), float(together[group].mean()))


def intersection(*releases: AttackedRelease) -> Exposure:
    """Say for whom several k-anonymous releases together tell the secret: one value occurs in all of their groups.

    Only people in all of the releases are looked at, and a person must have the same secret in each.

    Accuracy. One candidate left is the person's secret, with certainty. For two releases, `expected` is the share with
        one left if secrets were drawn independently: `chance_of_one_left`, averaged over people.
        Proof: the secret occurs in every group of the person, so it is always left; `chance_of_one_left` is exact for
        each size of the two groups and of what they have in common.
    Cost. A sort; `expected` is left out where groups and values are too many for it.
    Reference. Ganta, Kasiviswanathan, Smith 2008.
    """
    if len(releases) < 2:
        raise ParameterError("an intersection needs at least two releases", parameter="releases")
    _check(*releases)
    values = _values(releases)
    codes = joint_codes(*(release.person for release in releases))
    shared = codes[0]
    for other in codes[1:]:
        shared = np.intersect1d(shared, other)
    places = [np.argsort(own)[np.searchsorted(np.sort(own), shared)] for own in codes]
    order = _order(releases[0].person[places[0]])
    places = [place[order] for place in places]
    people = releases[0].person[places[0]]
    for place, column in zip(places[1:], values[1:], strict=True):
        if np.any(column[place] != values[0][places[0]]):
            raise InputError("a person must have the same secret in every release")
    words = -(-(max(int(column.max()) for column in values) + 1) // 64)
    if words * max(len(release.person) for release in releases) > _MOST_WORDS:
        raise InputError("there are too many different secrets to intersect; coarsen them, or take fewer people")
    left = ~np.zeros((len(people), words), dtype=np.uint64)
    groups = [release.boxes.group[place] for release, place in zip(releases, places, strict=True)]
    for release, column, group in zip(releases, values, groups, strict=True):
        left &= _sets(release.boxes.group, column, words)[group]
    expected = None
    if len(releases) == 2 and len(people):
        chances = np.bincount(np.concatenate(values)) / sum(len(column) for column in values)
        expected = _expected(groups, [release.boxes.sizes for release in releases], chances)
    return Exposure(f"{len(releases)} releases", people, np.bitwise_count(left).sum(axis=1).astype(np.int64), expected)


def _order(people: NDArray[Any]) -> NDArray[np.intp]:
    """Return where people stand in the order of their ids, or as they came where ids have no order."""
    if people.dtype.kind != "O":
        return np.argsort(people)
    try:
        identities = [one.identity for one in map(named, people.tolist()) if one is not None]
        return np.array(sorted(range(len(people)), key=identities.__getitem__), dtype=np.intp)
    except Exception:  # such as a fraction beside a decimal; a message may show an id
        return np.arange(len(people))


def _check(*releases: AttackedRelease) -> None:
    """Raise unless everything given is a release."""
    for release in releases:
        if not isinstance(release, AttackedRelease):
            words = f"a release is AttackedRelease(mondrian(...), secret, person), not {type(release).__name__}"
            raise ParameterError(words, parameter="release")


def _values(releases: tuple[AttackedRelease, ...] | list[AttackedRelease]) -> list[Integers]:
    """Return the secrets as codes, the same for the same value in all releases."""
    codes = coded([{"secret": release.secret} for release in releases], "secret")
    return np.split(codes, np.cumsum([len(release.person) for release in releases])[:-1])


def _sets(group: Integers, values: Integers, words: int) -> NDArray[np.uint64]:
    """Return the values of every group as bits, a row of words each."""
    found = np.zeros((int(group.max()) + 1, words), dtype=np.uint64)
    np.bitwise_or.at(found, (group, values // 64), np.uint64(1) << (values % 64).astype(np.uint64))
    return found


def _expected(groups: list[Integers], sizes: list[Integers], chances: Floats) -> float | None:
    """Return the mean chance of one candidate left, over the sizes of people's groups and what they have in common."""
    pair, count = np.unique(np.stack(groups), axis=1, return_inverse=True, return_counts=True)[1:]
    own = count[pair.reshape(-1)]  # the people in both groups, the person included
    kinds = np.stack([sizes[0][groups[0]] - own, sizes[1][groups[1]] - own, own])
    kinds, people = np.unique(kinds, axis=1, return_counts=True)
    found = chance_of_one_left(chances, kinds)
    return None if found is None else float(people @ found / people.sum())


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
