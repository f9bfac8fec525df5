"""Intervals for what was computed from an answer: totals, ratios, shares, differences, and anything else by samples.

The steps after the noise are walked once more, with what each column is in terms of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import Coins, coins
from discreet.laws import DiscreteLaplace
from discreet.laws.noise import IntegerNoise
from discreet.query.answer.after_noise.forms import (
    Ends,
    Floats,
    Form,
    KnownColumn,
    Matrix,
    RatioColumn,
    SampledColumn,
    WeightedColumn,
    numbers,
    read_by,
    taken,
)
from discreet.query.answer.after_noise.intervals import ComputedIntervals, sampled_ends
from discreet.query.answer.after_noise.one_step import OneStep
from discreet.query.answer.after_noise.steps import Evaluate, Finished, StepTaken
from discreet.query.measures import MeanOfGroups, Measure, OneInteger, QuantilesOfGroups, SelectedKeys
from discreet.query.plan import PostProcessing, gone
from discreet.query.pricing import PricedQuery, ReleasedTable

_MOST_SAMPLES, _LEAST_SAMPLES = 8_000, 1_000
_MOST_CELLS = 1_000_000
_SLOW_CELLS = 20_000  # of variances, which are computed one by one
_SEED = 2026  # public: nothing private is drawn, and the same answer has the same intervals


@dataclass(frozen=True)
class Derived:
    """The columns of an answer in terms of the noise."""

    made: PricedQuery
    released: ReleasedTable
    finished: Finished
    evaluate: Evaluate

    @cached_property
    @np.errstate(all="ignore")  # what leaves the floats has no interval
    def forms(self) -> dict[str, Form | None]:
        """What each column of the answer is; None where nothing is known of its noise."""
        forms = self._leaves()
        for step, stage in zip(self.made.query.finish, self.finished.stages, strict=True):
            forms = self._after(step, stage, forms)
        return forms

    def has(self, column: str) -> bool:
        """Say whether a column was computed from noise, in a way that is followed."""
        form = self.forms[column]
        return form is not None and not isinstance(form, KnownColumn)

    def ends(self, column: str, rest: float) -> Ends:
        """Return low and high of a column for each row, each to fail with a chance of at most `rest`."""
        return self.ends_of(self.forms[column], rest, len(self.finished.rows))

    @np.errstate(all="ignore")
    def ends_of(self, form: Form | None, rest: float, rows: int) -> Ends:
        """Return low and high of what a column is, for each of its rows."""
        if isinstance(form, SampledColumn):
            if form.known_ends is not None:
                return form.known_ends(rest)
            return [(None, None)] * rows if form.samples is None else sampled_ends(form.samples, rest)
        return [(None, None)] * rows if form is None else self._intervals.of(form, rest)

    @cached_property
    def _intervals(self) -> ComputedIntervals:
        return ComputedIntervals(self.laws, self.law_of)

    @cached_property
    def laws(self) -> tuple[IntegerNoise, ...]:
        """The laws of the noises, one for each measure that has one."""
        return tuple(law for law, _ in self._blocks.values())

    @cached_property
    def law_of(self) -> NDArray[np.int64]:
        """For each released integer the place of its law."""
        sizes = [
            entries * self.groups
            for _, entries in ((law, self.made.measures[at].entries) for at, (law, _) in self._blocks.items())
        ]
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def groups(self) -> int:
        """How many groups were released."""
        return len(self.released.keys)

    @cached_property
    def atoms(self) -> int:
        """How many integers with noise were released."""
        return len(self.law_of)

    @cached_property
    def _blocks(self) -> dict[int, tuple[IntegerNoise, int]]:
        """Return for each measure with a law of noise that law, and where its integers begin."""
        found: dict[int, tuple[IntegerNoise, int]] = {}
        start = 0
        for place, (measure, part) in enumerate(zip(self.made.measures, self.made.parts, strict=True)):
            if not isinstance(measure, QuantilesOfGroups):
                found[place] = measure.noise_of(part), start
                start += measure.entries * self.groups
        return found

    @cached_property
    def _members(self) -> Matrix:
        """Which groups each row before the steps adds up."""
        from scipy.sparse import csr_matrix

        members = (
            [(one,) for one in range(self.groups)] if self.finished.totals is None else self.finished.totals.members
        )
        rows = np.repeat(np.arange(len(members)), [len(one) for one in members])
        columns = np.array([one for row in members for one in row], dtype=np.int64)
        return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(members), self.groups))

    def _leaves(self) -> dict[str, Form | None]:
        """Return the columns before the steps."""
        aggregation, totals = self.made.query.aggregation, self.finished.totals
        keys = self.released.keys if totals is None else totals.keys
        found: dict[str, Form | None] = {
            key.name: KnownColumn([one[place] for one in keys]) for place, key in enumerate(aggregation.keys)
        }
        if totals is not None and self.made.query.totals:
            for place, key in enumerate(aggregation.keys):
                found[gone(key.name)] = KnownColumn([one[place] for one in totals.gone])
        for asked in aggregation.asked:
            found[asked.name] = self._leaf(*self.made.places[asked.name])
        return found

    def _leaf(self, place: int, inner: int) -> Form | None:
        """Return the column of an aggregate."""
        measure = self.made.measures[place]
        if isinstance(measure, OneInteger | SelectedKeys):
            step = float(measure.step) if isinstance(measure, OneInteger) else 1.0
            return self._entry(place, 0, step)
        if isinstance(measure, MeanOfGroups):
            scale = measure.scale
            low, width = float(scale.value(0)), float(scale.steps * scale.grid)
            first, second = self._entry(place, 0, 1.0), self._entry(place, 1, 1.0)
            below = WeightedColumn(first.numbers + second.numbers, first.weights + second.weights)
            above = WeightedColumn(
                low * below.numbers + width * first.numbers, low * below.weights + width * first.weights
            )
            ends = np.full(len(below.numbers), low), np.full(len(below.numbers), low + width)
            return RatioColumn(above, below, ends)
        if isinstance(measure, QuantilesOfGroups):
            return None
        entries = [self._entry(place, entry, 1.0) for entry in range(measure.entries)]
        return SampledColumn(lambda: self._of_measure(measure, place, inner), reads=read_by(entries))

    def _entry(self, place: int, entry: int, step: float) -> WeightedColumn:
        """Return the integers of one entry of a measure, times a step."""
        from scipy.sparse import csr_matrix

        start = self._blocks[place][1] + entry * self.groups
        whole = self._members * step
        shape = whole.shape[0], self.atoms
        weights = csr_matrix((whole.data, whole.indices + start, whole.indptr), shape=shape)
        values = np.array([float(one) for one in self.released.released[place][entry]], dtype=np.float64)
        return WeightedColumn(self._members @ values * step, weights)

    @cached_property
    def noise(self) -> Floats | None:
        """Samples of all noises, from a public seed: one row a sample; None where there would be too many."""
        rows = max(len(self.finished.rows), *(len(stage.first) for stage in self.finished.stages), 1)
        slow = any(not isinstance(one, OneInteger | SelectedKeys | MeanOfGroups) for one in self.made.measures)
        cells = _SLOW_CELLS if slow else _MOST_CELLS
        count = min(_MOST_SAMPLES, cells // rows, 8 * _MOST_CELLS // max(self.atoms, 1))
        if count < _LEAST_SAMPLES:
            return None
        drawn = coins(_SEED)
        return np.concatenate(
            [_drawn(law, (count, int((self.law_of == at).sum())), drawn) for at, law in enumerate(self.laws)], axis=1
        )

    def _of_measure(self, measure: Measure, place: int, inner: int) -> Floats | None:
        """Return samples of an aggregate that is no weighted sum."""
        if self.noise is None:
            return None
        start = self._blocks[place][1]
        released = [np.array(one, dtype=object) for one in self.released.released[place]]
        members = range(self.groups) if self.finished.totals is None else self.finished.totals.members
        groups = [(one,) if isinstance(one, int) else one for one in members]
        found = []
        for sample in self.noise:
            noisy = [
                one - np.array(list(map(int, sample[start + entry * self.groups :][: self.groups])), dtype=object)
                for entry, one in enumerate(released)
            ]
            summed = [[int(sum(one[at] for at in rows)) for rows in groups] for one in noisy]
            found.append(numbers(measure.values(summed)[inner]))
        return np.array(found)

    def samples(self, form: Form | None, rows: int) -> Floats | None:
        """Return samples of a column; None where there are none."""
        if form is None or self.noise is None:
            return None
        if isinstance(form, KnownColumn):
            return np.broadcast_to(form.numbers, (len(self.noise), rows))
        if isinstance(form, WeightedColumn):
            found: Floats = form.numbers - (form.weights @ self.noise.T).T
            return found
        if isinstance(form, RatioColumn):
            above, below = self.samples(form.above, rows), self.samples(form.below, rows)
            if above is None or below is None:
                return None
            with np.errstate(all="ignore"):
                ratios = np.where(below == 0, np.nan, above / below)
            return ratios if form.within is None else np.clip(ratios, *form.within)
        return form.samples

    def _after(self, step: PostProcessing, stage: StepTaken, forms: dict[str, Form | None]) -> dict[str, Form | None]:
        """Return the columns after one step."""
        forms = {name: taken(form, stage.first) for name, form in forms.items()}
        at = OneStep(self, stage, forms)
        for name, window in step.windows:
            forms[name] = at.window(name, window)
        return {name: taken(at.form(expression), stage.last) for name, expression in step.columns}


def _drawn(law: IntegerNoise, shape: tuple[int, int], drawn: Coins) -> Floats:
    """Return noise of a law from public coins."""
    scale = float(law.scale)
    if isinstance(law, DiscreteLaplace):
        if scale > 1e15:
            return drawn.laplace(0.0, scale, shape)
        chance = -np.expm1(-1.0 / scale)
        return (drawn.geometric(chance, shape) - drawn.geometric(chance, shape)).astype(np.float64)
    if scale > 8:
        return np.rint(drawn.normal(0.0, scale, shape))
    places = np.arange(-80, 81)
    masses = np.exp(np.asarray(law.log_pmf(places), dtype=np.float64))
    return drawn.choice(places, p=masses / masses.sum(), size=shape).astype(np.float64)
