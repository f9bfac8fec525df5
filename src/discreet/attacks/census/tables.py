"""What is published about a census block, as linear statements about how many people of each kind live there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import Integers, numbers_of
from discreet.data import CensusBlock
from discreet.data.invented_block import AGE_RANGE, ORIGINS, RACES, SEXES
from discreet.errors import InputError, ParameterError
from discreet.privacy.numbers import nonnegative, whole

AGES = AGE_RANGE[1] + 1
SHAPE = (AGES, len(SEXES), len(RACES), len(ORIGINS))
CELLS = math.prod(SHAPE)
COUNTED_IN = 4  # tables of counts that a person is in, each time in one cell
_BAND = 5
_LAST_BAND = 85
_SINGLE_YEARS = 20
_LARGEST = 1e9  # of what is published: floats hold sums of such numbers exactly
_ROUNDING = 1e-6  # by which a sum of a count and its noise may be rounded, and more
_AGE, _SEX, _RACE, _ORIGIN = np.unravel_index(np.arange(CELLS), SHAPE)


@dataclass(frozen=True, eq=False)
class PublishedFact:
    """A published fact: the people of some cells, each counted with a weight, come to a number from `low` to `high`.

    A cell is one combination of age, sex, race and origin; `cells` are their numbers and `weights` whole numbers.
    """

    words: str
    cells: Integers
    weights: Integers
    low: int
    high: int

    def holds(self, histogram: Integers) -> bool:
        """Tell whether it is true of a block, given how many people are in each cell."""
        return self.low <= int(self.weights @ histogram[self.cells]) <= self.high


def describe(cell: int) -> str:
    """Return a cell in words.

    >>> describe(1234)
    'male, 61, green, near'
    """
    return f"{SEXES[_SEX[cell]]}, {_AGE[cell]}, {RACES[_RACE[cell]]}, {ORIGINS[_ORIGIN[cell]]}"


def age_of(cell: int) -> int:
    """Return the age of the people in a cell."""
    return int(_AGE[cell])


def histogram_of(block: CensusBlock) -> Integers:
    """Return how many people of a block are in each cell."""
    try:
        sex, race, origin = (
            np.array([values.index(value) for value in column.tolist()], dtype=np.int64)
            for values, column in ((SEXES, block.sex), (RACES, block.race), (ORIGINS, block.origin))
        )
        cells = np.ravel_multi_index((block.age, sex, race, origin), SHAPE)
    except (TypeError, ValueError):
        raise InputError(
            f"a block must have ages from {AGE_RANGE[0]} to {AGE_RANGE[1]} and the sexes, races and origins of "
            "census_block"
        ) from None
    return np.bincount(cells, minlength=CELLS)


def block_tables(block: CensusBlock, *, least: int = 3) -> tuple[PublishedFact, ...]:
    """Return the tables of a block: exact counts, and the mean and median age of groups of at least `least` people.

    Counts: all people; by sex, race and age in bands of five years, the last from 85; by sex, origin and age in the
    same bands; by race and origin; by sex and single years of age below 20. Ages: of all, by sex, by race, and by sex
    and race; the mean is rounded to a tenth, and the median of an even number is the lower of the two in the middle.

    >>> from discreet.data import census_block
    >>> tables = block_tables(census_block(7, seed=1))
    >>> tables[0].words, tables[0].low
    ('people', 7)
    >>> len(tables)
    318
    """
    smallest = whole(least, name="least")
    histogram = histogram_of(block)
    counts = [_exactly("people", np.arange(CELLS), histogram)]
    counts += [_exactly(words, cells, histogram) for words, cells in counted()]
    return (*counts, *_ages(histogram, smallest))


def noised_block_tables(block: CensusBlock, noise: Callable[[Any], Any], *, within: float) -> tuple[PublishedFact, ...]:
    """Return the four tables of counts put through noise, each count known to be within a distance of the truth.

    A person is counted at most once in each table: the counts together move by at most `COUNTED_IN` = 4 in the L1 norm,
    by 2 in L2, when somebody is added or removed. All of them go through `noise` in one array. With `within=0` they are
    taken at face value, as a careless reader would.

    >>> from discreet.data import census_block
    >>> tables = noised_block_tables(
    ...     census_block(7, seed=1), lambda counts: counts + 2, within=2
    ... )
    >>> tables[0].high - tables[0].low
    4
    """
    reach = float(nonnegative(within, name="within"))
    histogram = histogram_of(block)
    tables = list(counted())
    wanted = "noise must return one finite number for each count it is given"
    noised = numbers_of(noise(np.array([histogram[cells].sum() for _, cells in tables])), (len(tables),), wanted=wanted)
    if np.abs(noised).max() + reach > _LARGEST:
        raise InputError(f"counts and their error must stay within {_LARGEST:,.0f}: beyond, no solver tells them apart")
    return tuple(
        PublishedFact(
            words,
            cells,
            np.ones(len(cells), dtype=np.int64),
            math.ceil(count - reach - _ROUNDING),
            math.floor(count + reach + _ROUNDING),
        )
        for (words, cells), count in zip(tables, noised.tolist(), strict=True)
    )


def counted() -> Iterator[tuple[str, Integers]]:
    """Return the cells of every count of the four tables, each with its words."""
    band = np.minimum(_AGE, _LAST_BAND) // _BAND
    bands = [(band == number, _years(number)) for number in range(_LAST_BAND // _BAND + 1)]
    years = [(year == _AGE, str(year)) for year in range(_SINGLE_YEARS)]
    sexes, races, origins = _values(_SEX, SEXES), _values(_RACE, RACES), _values(_ORIGIN, ORIGINS)
    for axes in ((sexes, races, bands), (sexes, origins, bands), (races, origins), (sexes, years)):
        for chosen in product(*axes):
            mask = np.logical_and.reduce([one for one, _ in chosen])
            yield ", ".join(words for _, words in chosen), np.flatnonzero(mask)


def _years(band: int) -> str:
    return f"{_LAST_BAND} and over" if band * _BAND == _LAST_BAND else f"{band * _BAND} to {band * _BAND + _BAND - 1}"


def _values(codes: Integers, names: tuple[str, ...]) -> list[tuple[NDArray[np.bool_], str]]:
    return [(np.equal(codes, code), name) for code, name in enumerate(names)]


def _exactly(words: str, cells: Integers, histogram: Integers) -> PublishedFact:
    count = int(histogram[cells].sum())
    return PublishedFact(words, cells, np.ones(len(cells), dtype=np.int64), count, count)


def _ages(histogram: Integers, least: int) -> Iterator[PublishedFact]:
    """Return the mean and median age of every group that is large enough."""
    sexes, races = _values(_SEX, SEXES), _values(_RACE, RACES)
    both = [(one & two, f"{sex}, {race}") for (one, sex), (two, race) in product(sexes, races)]
    everybody = (np.ones(CELLS, dtype=np.bool_), "all")
    for mask, name in (everybody, *sexes, *races, *both):
        cells = np.flatnonzero(mask)
        if histogram[cells].sum() >= least:
            yield from _mean(name, cells, histogram[cells])
            yield from _median(name, cells, histogram[cells])


def _mean(name: str, cells: Integers, counts: Integers) -> Iterator[PublishedFact]:
    """State that the mean age, to a tenth, is what it is: a range for the sum of the ages."""
    people, total = int(counts.sum()), int(counts @ _AGE[cells])
    tenths = round(Fraction(10 * total, people))
    low, high = (Fraction((2 * tenths + side) * people, 20) for side in (-1, 1))
    yield PublishedFact(f"mean age, {name}", cells, _AGE[cells].astype(np.int64), math.ceil(low), math.floor(high))


def _median(name: str, cells: Integers, counts: Integers) -> Iterator[PublishedFact]:
    """State that the lower median is what it is: enough people up to it, not enough below it."""
    people, ages = int(counts.sum()), _AGE[cells]
    half = -(-people // 2)
    median = int(np.repeat(ages, counts)[np.argsort(np.repeat(ages, counts), kind="stable")][half - 1])
    up_to, below = cells[ages <= median], cells[ages < median]
    yield PublishedFact(f"median age, {name}", up_to, np.ones(len(up_to), dtype=np.int64), half, people)
    yield PublishedFact(f"median age, {name}", below, np.ones(len(below), dtype=np.int64), 0, half - 1)


def checked(statements: Sequence[PublishedFact]) -> tuple[PublishedFact, ...]:
    """Refuse what is not a list of statements about cells of a block."""
    tables = tuple(statements)
    if not tables or not all(isinstance(one, PublishedFact) for one in tables):
        raise ParameterError("tables must be statements, such as those of block_tables(block)", parameter="tables")
    if not all(_is_about_cells(one) for one in tables):
        raise InputError(
            f"a statement must have different cells from 0 to {CELLS - 1:,}, each with a whole weight, and whole "
            f"numbers from low to high, all within {_LARGEST:,.0f}"
        )
    return tables


def _is_about_cells(one: PublishedFact) -> bool:
    """Tell whether a statement is one that the solver and whole numbers take alike."""
    cells, weights = np.asarray(one.cells), np.asarray(one.weights)
    if cells.ndim != 1 or cells.shape != weights.shape or not {cells.dtype.kind, weights.dtype.kind} <= set("iu"):
        return bool(cells.size == 0 == weights.size)
    known = cells.size == 0 or (cells.min() >= 0 and cells.max() < CELLS and np.abs(weights).max() <= _LARGEST)
    whole_ends = all(isinstance(end, int) and abs(end) <= _LARGEST for end in (one.low, one.high))
    return bool(known and whole_ends and len(np.unique(cells)) == len(cells))
