"""An answer: a table of noisy values with their intervals, the guarantee under which it left, and its record.

The certificate of a release: what left, under which guarantee, by which record, and what is not guaranteed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from discreet.display import Table, definition_list, visible
from discreet.errors import ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.privacy import Estimate, Guarantee, Price, PrivacyLoss, Relation, Target
from discreet.privacy.guarantees import with_notion
from discreet.query.answer.after_noise import Derived, Finished
from discreet.query.answer.ends import (
    around,
    free_name,
    halved,
    in_words_with_ends,
    only_days,
    rounded_table,
    widened,
    with_ends,
)
from discreet.query.answer.record import Record, data_of
from discreet.query.engines import evaluate
from discreet.query.expression import Value
from discreet.query.measures import CutRows, Estimated, Measure
from discreet.query.pricing import (
    PricedQuery,
    ReleasedTable,
    in_one_line,
    left_out,
    measurement_plans,
)
from discreet.statistics.measurement import Measurement
from discreet.statistics.pricing import stated_confidence

if TYPE_CHECKING:
    from discreet.display.plots import Plot
    from discreet.query.answer.certificate import Certificate


LOW, HIGH = "low", "high"
CONFIDENCE = 0.95
_SHOWN = 60


@dataclass(frozen=True)
class Answer:
    """A released table. Every aggregate comes with an interval, and so do numbers that were computed from aggregates.

    Intervals are for the table as it was bounded and clipped: they cover the noise. What bounding and clipping leave
    out is not in them; `explain` says how to judge it. Sums, differences, shares and ratios of aggregates have theirs
    from the law of all noises in them, functions of one number, of numbers with the same noise, and GREATEST or LEAST
    from the intervals of what they are of, anything else from samples of these laws. A choice in view of the answer, by
    HAVING, LIMIT, CASE or the order of a window, counts as made beforehand.
    """

    priced: PricedQuery = field(repr=False)
    released: ReleasedTable = field(repr=False)
    finished: Finished = field(repr=False)
    record: Record
    unit: str
    lineage: str
    sql: str = ""
    budget: Guarantee | None = None  # the total one of the policy

    @property
    def releases(self) -> tuple[Answer, ...]:
        """The releases that it consists of: itself, or the parts of a UNION."""
        return (self,)

    def as_rehearsal(self) -> Self:
        """Return the answer as one from made-up rows."""
        return replace(self, record=replace(self.record, rehearsed=True))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, as asked."""
        return self.finished.names

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that the release keeps for one unit."""
        return self.priced.guarantee

    @property
    def relation(self) -> Relation:
        """What neighbors are."""
        return self.guarantee.relation

    @property
    def cost(self) -> PrivacyLoss:
        """What the release costs, as a loss that adds up with others."""
        return PrivacyLoss.from_guarantee(self.guarantee)

    @property
    def rows(self) -> list[tuple[Value, ...]]:
        """The rows of values, without intervals."""
        return [tuple(row) for row in self.finished.rows]

    def __len__(self) -> int:
        return len(self.finished.rows)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.finished.rows)

    def __getitem__(self, column: str) -> list[Value]:
        place = self._place(column)
        return [row[place] for row in self.finished.rows]

    @property
    def value(self) -> Value:
        """The value of an answer that has one aggregate and one row."""
        return self[self._single()][0]

    @property
    def low(self) -> float | None:
        """The lower end of the interval, at `confidence`, of an answer that has one aggregate and one row."""
        return around(*self._intervals(self._single(), CONFIDENCE)[0])[0]

    @property
    def high(self) -> float | None:
        """The upper end of the interval, at `confidence`, of an answer that has one aggregate and one row."""
        return around(*self._intervals(self._single(), CONFIDENCE)[0])[1]

    @property
    def confidence(self) -> float:
        """The confidence of `low` and `high`; `estimates` and `intervals` take another one."""
        return CONFIDENCE

    def _single(self) -> str:
        """Return the only aggregate of an answer that has one row, or the only number computed from several."""
        found = self.measured or self.derived
        if len(self) != 1 or len(found) != 1:
            raise ParameterError("value, low and high need an answer of one row and one aggregate; write answer.rows")
        return found[0]

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns that are aggregates as they were released, with intervals."""
        return tuple(name for name in self.columns if self._source(name) is not None)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that are keys, as they were released."""
        known = {key.name for key in self.priced.query.aggregation.keys}
        return tuple(name for name in self.columns if self.finished.shown[self._place(name)] in known)

    @property
    def derived(self) -> tuple[str, ...]:
        """The columns that were computed from aggregates after the noise, with intervals; they are no measurements."""
        plain = set(self.measured)
        return tuple(name for name in self.columns if name not in plain and self._is_derived(name))

    def estimates(self, column: str, confidence: float = CONFIDENCE) -> list[Estimate]:
        """Return a column as estimates: value, interval, guarantee."""
        if self._source(column) is None and not self._is_derived(column):
            raise ParameterError(f"{column!r} is neither an aggregate nor computed from some, so it has no interval")
        held = stated_confidence(confidence)
        found = self._intervals(column, held)
        if None in [value for value, _, _ in found]:
            raise ParameterError(f"{column!r} is NULL in some rows, which estimate nothing: read answer.intervals()")
        what = "the noise" if self._source(column) is not None else "all noises in it"
        method = f"quantile of {what}, for the rows as they were bounded and clipped"
        return [
            Estimate(value, *around(value, low, high), held, Target.TABLE, self.guarantee, method)
            for value, low, high in found
        ]

    def intervals(self, confidence: float = CONFIDENCE, *, together: bool = False) -> Table:
        """Return the answer as a table with low and high beside each aggregate.

        `together=True` widens all intervals so that all of them hold at once with the confidence, by the union bound
        over everything that was released: also for rows that HAVING or LIMIT chose by their noisy values.
        """
        held = stated_confidence(confidence)
        each = 1.0 - (1.0 - held) / max(self._cells, 1) if together else held
        names, columns = self._with_intervals(each)
        words = f"{100 * held:.12g} % intervals{' that hold together' if together else ''}, for the table as bounded"
        if self.priced.cuts and self.derived:
            words += "; columns that were computed do not include what bounding cuts"
        if any(low is None for name in self.measured + self.derived for _, low, _ in self._intervals(name, each)):
            words += "; where an end is empty there is no interval"
        return Table(names, [list(row) for row in zip(*columns, strict=True)], words, labels=self.keys)

    @property
    def _cells(self) -> int:
        """How many numbers with intervals there are, before anything was selected by its value."""
        rows = len(self.released.keys) if self.finished.totals is None else len(self.finished.totals.members)
        return rows * len(self.measured + self.derived)

    @property
    def bounding(self) -> str:
        """How units are bounded, and why so."""
        return self.priced.bounding.reason

    def _with_intervals(self, confidence: float) -> tuple[list[str], list[list[Any]]]:
        names: list[str] = []
        columns: list[list[Any]] = []
        for name in self.columns:
            names.append(name)
            columns.append(list(self[name]))
            if self._source(name) is None and not self._is_derived(name):
                continue
            ends = self._intervals(name, confidence)
            names += [free_name(f"{name}_{end}", self.columns) for end in (LOW, HIGH)]
            columns += [[low for _, low, _ in ends], [high for _, _, high in ends]]
        return names, columns

    def _intervals(self, column: str, confidence: float) -> list[Estimated]:
        source, totals = self._source(column), self.finished.totals
        if source is None or totals is None or self.priced.query.totals:
            found = self._computed(column, confidence)
        if source is not None:
            released = self._released_column(source, confidence)
            alone = [(row,) for row in range(len(released))] if totals is None else totals.members
            found = [
                released[alone[row][0]] if len(alone[row]) == 1 else found[place]
                for place, row in enumerate(self.finished.sources)
            ]
        if self.finished.rounding:  # what is shown is not what was released; the ends are
            found = [with_ends(value, low, high) for value, (_, low, high) in zip(self[column], found, strict=True)]
        # 0.0 is added for the sake of the negative zero, which people do not expect
        return [
            (value, None if low is None else low + 0.0, None if high is None else high + 0.0)
            for value, low, high in found
        ]

    def _released_column(self, source: str, confidence: float) -> list[Estimated]:
        """Return an aggregate in every released row, with what bounding cuts in its ends where that was bought."""
        index, inner = self.priced.places[source]
        cut = self.priced.cuts.get(source)
        if cut is None:
            return self._estimated(index, confidence)[inner]
        held = halved(confidence)
        return widened(self._estimated(index, held)[inner], self._cut(cut, held))

    def bias(self, column: str, confidence: float = CONFIDENCE) -> list[Estimate]:
        """Return about how much bounding takes from a column in every row, if that was bought with `bias=True`.

        The intervals hold if nobody has more rows than the policy's `outer_rows`.
        """
        cut = self.priced.cuts.get(self._source(column) or "")
        if cut is None:
            raise ParameterError(f"how much is cut of {column!r} was not bought: ask with bias=True")
        found = self._cut(cut, held := stated_confidence(confidence))
        method = "quantile of the noise, for rows up to the outer bound of the policy"
        return [
            Estimate(value, *around(value, low, high), held, Target.TABLE, self.guarantee, method)
            for value, low, high in (found[row] for row in self.finished.sources)
        ]

    def _cuts(self) -> list[tuple[str, Estimate]]:
        """Return how much was cut of each column of an answer of one row."""
        return [(name, self.bias(name)[0]) for name in self.measured if self._source(name) in self.priced.cuts]

    def _cut(self, place: int, confidence: float) -> list[Estimated]:
        """Return what bounding takes away in every group; nothing below 0 where no row adds less than 0."""
        measure = self.priced.measures[place]
        least = 0.0 if isinstance(measure, CutRows) and measure.only_less else -math.inf
        return [
            (max(value, least), max(low or 0.0, least), max(high or 0.0, least))
            for value, low, high in self._estimated(place, confidence)[0]
        ]

    def _computed(self, column: str, confidence: float) -> list[Estimated]:
        """Return a column that was computed after the noise, with ends that hold the values that are shown."""
        ends = self._after_noise.ends(column, 1.0 - confidence)
        return [with_ends(value, *pair) for value, pair in zip(self[column], ends, strict=True)]

    @cached_property
    def _after_noise(self) -> Derived:
        return Derived(self.priced, self.released, self.finished, evaluate)

    def _is_derived(self, column: str) -> bool:
        """Say whether a column was computed from aggregates, so that its noise is known."""
        return self.finished.shown[self._place(column)] is None and self._after_noise.has(column)

    def _estimated(self, index: int, confidence: float) -> list[list[Estimated]]:
        known: dict[tuple[int, float], list[list[Estimated]]] = self._known
        if (index, confidence) not in known:
            measure, part = self._measure(index)
            known[index, confidence] = measure.estimates(self.released.released[index], part, confidence)
        return known[index, confidence]

    @cached_property
    def _known(self) -> dict[tuple[int, float], list[list[Estimated]]]:
        return {}

    def _measure(self, index: int) -> tuple[Measure, Price]:
        return self.priced.measures[index], self.priced.parts[index]

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the answer leaves out beside the noise, a sentence each: what is over a bound or clipped."""
        return left_out(self.priced, self.unit)

    @property
    def noise(self) -> dict[str, float | None]:
        """The standard deviation of the noise of each aggregate; None where it depends on the size of a group."""
        found = {}
        for name in self.measured:
            index, inner = self.priced.places[self._source(name) or ""]
            measure, part = self._measure(index)
            found[name] = measure.spread(part)[inner]
        return found

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """What was released, for inference: an entry for every aggregate that adds rows up, about all groups.

        HAVING, ORDER BY and LIMIT leave no trace, and a stored answer that is handed out again has the identities that
        it had. Quantiles add nothing up and are left out. Where keys are private, the noisy numbers of units by which
        they were selected are there too, asked for or not.
        """
        record = self.record
        lineage = data_of(self.lineage, record)
        release = (lineage, record.number, record.entry_hash)
        found = measurement_plans(
            self.priced, self.released.keys, lineage, replayed=record.entry_hash if record.replayed else ""
        )
        return tuple(
            plan.measured(self.released.released[place], (*release, place), self.guarantee, rehearsed=record.rehearsed)
            for place, plan in found
        )

    def _source(self, column: str) -> str | None:
        """Return the aggregate that a column shows unchanged, or None."""
        shown = self.finished.shown[self._place(column)]
        return shown if shown in self.priced.places else None

    def _place(self, column: str) -> int:
        if column not in self.columns:
            raise ParameterError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        return self.columns.index(column)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, list[Any]]:
        """Return columns by name, intervals included."""
        return dict(zip(*self._with_intervals(stated_confidence(confidence)), strict=True))

    def to_pandas(self, confidence: float = CONFIDENCE) -> Any:
        """Return a pandas frame, intervals included."""
        return to_pandas(self.to_dict(confidence))

    def to_polars(self, confidence: float = CONFIDENCE) -> Any:
        """Return a Polars frame, intervals included."""
        return to_polars(self.to_dict(confidence), strict=False)

    def to_arrow(self, confidence: float = CONFIDENCE) -> Any:
        """Return an Arrow table, intervals included."""
        return to_arrow(self.to_dict(confidence))

    def plot(self, column: str | None = None, confidence: float = CONFIDENCE) -> Plot:
        """Draw an aggregate with its intervals: a line over a single numeric or date key, else bars."""
        from discreet.query.answer.plot import answer_plot

        return answer_plot(self, column, stated_confidence(confidence))

    def certificate(self) -> Certificate:
        """Return the certificate of this release, to be kept as HTML or JSON."""
        if self.record.rehearsed:
            raise ParameterError("a rehearsal on made-up rows releases nothing, so there is nothing to certify")
        from discreet.query.answer.certificate import certificate_of

        return certificate_of(self)

    def facts(self) -> list[tuple[str, str]]:
        """Return what goes with the table: guarantee, unit, relation, noise, record."""
        spread = ", ".join(f"{name} {one:.4g}" for name, one in self.noise.items() if one is not None)
        if self.record.rehearsed:
            return [
                ("rehearsal", "these are made-up rows of the same schema: nothing was read, nothing was spent"),
                ("guarantee it would keep", with_notion(self.guarantee)),
                ("bounding", self.bounding),
                ("left out", in_one_line(self.left_out, self.priced)),
            ]
        again = " (stored answer, handed out again)" if self.record.replayed else ""
        return [
            ("guarantee", with_notion(self.guarantee)),
            ("unit of protection", self.unit),
            ("neighbors", self.relation.sentence),
            *([("standard deviation of the noise", spread)] if spread else []),
            ("bounding", self.bounding),
            ("left out", in_one_line(self.left_out, self.priced)),
            *([("rounding", self.finished.rounding.words)] if self.finished.rounding else []),
            *([("about cut", in_words_with_ends(self._cuts()))] if self.priced.cuts and len(self) == 1 else []),
            ("record", f"{self.record.number}, {self.record.entry_hash[:16]}{again}"),
            *([("paid before", self.record.lost_words)] if self.record.lost else []),
        ]

    def table(self, confidence: float = CONFIDENCE) -> Table:
        """Return what people are shown: the first rows with their intervals, rounded to their noise."""
        whole = rounded_table(self.intervals(confidence), self.measured + self.derived)
        days = {place for place, name in enumerate(whole.columns) if name in self.columns and only_days(self[name])}
        rows = [
            [str(cell)[:10] if place in days and cell is not None else cell for place, cell in enumerate(row)]
            for row in whole.rows[:_SHOWN]
        ]
        left = len(whole) - _SHOWN
        caption = f"{whole.caption}; {left:,} more rows" if left > 0 else whole.caption
        return Table(whole.columns, rows, caption, digits=6, labels=whole.labels)

    def __str__(self) -> str:
        lines = [visible(f"{name}: {words}") for name, words in self.facts()]
        return "\n".join([str(self.table()), "", *lines])

    def _repr_html_(self) -> str:
        """Return the answer for a notebook."""
        return self.table()._repr_html_() + definition_list(self.facts())
