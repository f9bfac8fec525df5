"""Estimated frequencies of values, with their standard errors: unbiased unless asked otherwise.

The values that stand out are listed largest first, and an empty list says that nothing stands out. The nearest
distribution is the Euclidean projection on the simplex.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.display import Table, format_number
from discreet.display.plots import Plot
from discreet.errors import InputError, ParameterError
from discreet.local.estimates.block_support import BlockSupport
from discreet.local.estimates.columns import EstimateColumns
from discreet.local.estimates.intervals import Intervals, allowed_error, stated_target, two_sided_normal
from discreet.local.estimates.support import Support
from discreet.local.protocol import Floats, Integers, Spec, counted, is_integer, number_of_people
from discreet.privacy import Estimate, Target
from discreet.privacy.numbers import whole
from discreet.statistics import EstimateTable

_SHOWN, _MOST_DRAWN = 10, 100


@dataclass(frozen=True, eq=False, repr=False)
class Frequencies(EstimateColumns):
    """The estimated frequency of every value among `people`: raw and unbiased, with standard errors.

    Raw estimates of rare values are often negative. That is what makes sums and averages of them right; cutting them
    at zero and scaling the rest to one ruins the large ones (see the page on estimates). `projected` gives frequencies
    that are a distribution, `top` the values that stand out, each for its purpose. `counts` are estimated numbers of
    people.

    `labels` name the values, if they have names: texts, or other keys. `support` is the number of reports that speak
    for each value, where the protocol counts such: it makes intervals right also where counts are small.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> spec = DirectResponse(epsilon=1, categories=("tea", "coffee", "water"))
    >>> frequencies = spec.estimate(np.array([5_000, 3_000, 2_000]), 10_000)
    >>> frequencies
    Frequencies(3 categories, 10,000 people, standard errors 0.0112 to 0.0131)
    >>> print(frequencies["tea"])
    0.791 [0.765, 0.817] (95 %, table)
    >>> frequencies.counts.round().tolist()
    [7910.0, 2418.0, -328.0]
    """

    spec: Spec
    people: int
    value: Floats
    standard_error: Floats
    labels: tuple[Any, ...] = ()
    support: Support | BlockSupport | None = field(default=None)

    def __post_init__(self) -> None:
        if is_integer(self.people) and self.people == 0:
            raise InputError("there are no reports to estimate from")
        object.__setattr__(self, "people", number_of_people(self.people))
        for name in ("value", "standard_error"):
            column = np.array(getattr(self, name), dtype=np.float64)
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if self.value.ndim != 1 or not len(self) or self.value.shape != self.standard_error.shape:
            raise ParameterError("value and standard_error must be columns of the same length", parameter="value")
        if not (np.isfinite(self.value).all() and np.isfinite(self.standard_error).all()):
            raise ParameterError("value and standard_error must be finite", parameter="value")
        if len(self.labels) not in (0, len(self)):
            raise ParameterError("labels must name all lines or none", parameter="labels")
        object.__setattr__(self, "labels", tuple(self.labels))

    @classmethod
    def from_support(cls, spec: Spec, support: Support, labels: Sequence[Any] = ()) -> Self:
        """Estimate the frequencies from the number of reports that speak for each value."""
        names = tuple(labels) or getattr(spec, "labels", ())
        return cls(spec, support.people, support.frequencies, support.standard_errors(), names, support)

    @property
    def _line(self) -> str:
        """A category where the spec lists them, else a key."""
        return "category" if hasattr(self.spec, "categories") else "key"

    @property
    def _lines_in_words(self) -> str:
        return counted(len(self), self._line, "categories" if self._line == "category" else "keys")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels or range(len(self)))

    def __getitem__(self, value: Any) -> Estimate:
        return self.of(value)

    @property
    def counts(self) -> Floats:
        """The estimated numbers of people: frequencies times people, raw and unbiased too."""
        return self.value * self.people

    def intervals(
        self,
        *,
        confidence: float = 0.95,
        together: bool = False,
        target: Target = Target.TABLE,
        among: Sequence[Any] | None = None,
    ) -> Intervals:
        """Return an interval for every value, or for those in `among`, in that order.

        Each holds with the stated confidence; with `together=True` all of them do at once (Bonferroni: each is
        taken at (1 - confidence) / their number). `among` must be chosen without looking at these reports.
        """
        chosen = None if among is None else self._chosen(among)
        count = len(self) if chosen is None else chosen.size
        rest = allowed_error(confidence)
        each = rest / max(count, 1) if together else rest
        low, high = self._ends(each, stated_target(target), chosen)
        return Intervals(low, high, float(confidence), target, bool(together))

    def of(self, value: Any, *, confidence: float = 0.95, target: Target = Target.TABLE) -> Estimate:
        """Return the estimated frequency of one value, named before looking, with its interval."""
        place = self._place(value)
        ends = self.intervals(confidence=confidence, target=target, among=[value])
        frequency, guarantee = float(self.value[place]), self.spec.guarantee
        return Estimate(frequency, float(ends.low[0]), float(ends.high[0]), confidence, target, guarantee, self._method)

    def projected(self) -> Floats:
        """Return the distribution nearest to the raw frequencies: better over all values, biased for the large ones.

        That takes the frequencies of all values: those of some keys do not sum to one.
        """
        if getattr(self.spec, "category_count", None) != len(self):
            raise InputError("projected() needs all categories; use the raw frequencies of some keys")
        return onto_simplex(self.value)

    def top(self, k: int, *, confidence: float = 0.95) -> TopList:
        """Return the largest frequencies, at most k, of the values that certainly somebody holds.

        A value is listed when the lower end of its interval is above zero, all intervals taken together: so
        with the stated confidence no value that nobody holds is listed, and no interval shown is wrong, although the
        list was chosen by looking. The list may be shorter than k, or empty. Hostile reports can put any value there.
        """
        ends = self.intervals(confidence=confidence, together=True)
        seen = np.flatnonzero(ends.low > 0)
        best = seen[np.argsort(-self.value[seen], kind="stable")][: whole(k, name="k")]
        frequencies, low, high = self.value[best], ends.low[best], ends.high[best]
        reach = float(np.max(np.maximum(high - frequencies, frequencies - low), initial=0.0))
        labels = tuple(self._label(place) for place in best.tolist())
        loss = self.spec.loss
        words = f"{self._method}, all {self._lines_in_words} at once"
        return TopList(labels, frequencies, low, high, reach, confidence, self.spec.guarantee, words, loss)

    def table(self, k: int = _SHOWN, *, confidence: float = 0.95) -> Table:
        """Return the k largest raw frequencies with intervals that hold together, and what a hostile report could do.

        Every column times `people` is about numbers of people.
        """
        rows = self._lines(self._largest(k).tolist(), confidence)
        names = [self._line, "frequency", "standard error", "low", "high"]
        return Table(names, rows, self._caption(confidence, len(rows)))

    def plot(self, k: int = 2 * _SHOWN, *, confidence: float = 0.95, title: str = "") -> Plot:
        """Draw the k largest raw frequencies, k <= 100, with intervals that hold together; needs the extra `plot`."""
        if whole(k, name="k") > _MOST_DRAWN:
            raise ParameterError(f"k must be at most {_MOST_DRAWN} lines of a plot; table(k) lists more", parameter="k")
        return self._drawn(self._largest(k).tolist(), confidence, title or "Largest frequencies", "frequency")

    def _largest(self, k: int) -> Integers:
        """Return the places of the largest raw frequencies."""
        return np.argsort(-self.value, kind="stable")[: whole(k, name="k")].astype(np.int64)

    def _ends(self, rest: float, target: Target, chosen: Integers | None) -> tuple[Floats, Floats]:
        """Return the ends of intervals that miss with probability `rest` each."""
        if self.support is not None:
            return self.support.interval(rest, target, chosen)
        places = slice(None) if chosen is None else chosen
        frequencies, errors = self.value[places], self.standard_error[places]
        if target is Target.POPULATION:
            held = np.clip(frequencies, 0.0, 1.0)
            errors = np.sqrt(errors**2 + held * (1 - held) / self.people)
        reach = two_sided_normal(rest) * errors
        return frequencies - reach, frequencies + reach

    @property
    def _method(self) -> str:
        """How intervals come about, in words."""
        return "normal approximation" if self.support is None else self.support.method

    @cached_property
    def _places(self) -> dict[Any, int]:
        """Where each label stands."""
        return {label: place for place, label in enumerate(self.labels)}

    def _place(self, value: Any) -> int:
        """Return where a value stands: by label, or by index unless labels are numbers."""
        try:
            place = self._places.get(value)
        except TypeError:  # no label can be unhashable
            place = None
        by_index = not self.labels or isinstance(self.labels[0], str)
        if place is None and by_index and is_integer(value) and 0 <= value < len(self):
            place = int(value)
        if place is None:
            raise ParameterError("value must be one of those that were estimated", parameter="value")
        return place

    def _chosen(self, among: Sequence[Any]) -> Integers:
        """Return the places of the values named."""
        if isinstance(among, str | bytes) or not isinstance(among, Iterable):
            raise ParameterError("among must be a list of values or labels, such as among=[3, 17]", parameter="among")
        return np.array([self._place(value) for value in among], dtype=np.int64)

    def _label(self, place: int) -> Any:
        """Return the name of a value, its index where it has none."""
        return self.labels[place] if self.labels else place

    def _caption(self, confidence: float, shown: int) -> str:
        """Say who reported, under which guarantee, how exact the result is, and what one hostile report can do."""
        gain = getattr(self.spec, "poisoning_gain", None)
        hostile = "" if gain is None else f"; one hostile report moves a count by up to {format_number(gain, digits=3)}"
        return (
            f"{counted(self.people, 'person', 'people')}, epsilon {format_number(self.spec.epsilon)} each: {shown} of "
            f"{self._lines_in_words}, {100 * confidence:.6g} % intervals that hold together; "
            f"{self._errors}{hostile}"
        )

    @property
    def _errors(self) -> str:
        """The range of the standard errors, in words."""
        least, most = (format_number(float(one), digits=3) for one in np.sort(self.standard_error)[[0, -1]])
        return f"standard error {least}" if least == most else f"standard errors {least} to {most}"

    def __repr__(self) -> str:
        return f"Frequencies({self._lines_in_words}, {counted(self.people, 'person', 'people')}, {self._errors})"


_NONE = "nothing stands out from chance"


class TopList(EstimateTable):
    """The largest frequencies, each of a value that certainly somebody holds; it may be empty."""

    def _table(self) -> Table:
        """Return the lines of the table, or one line that says that it is empty."""
        if len(self):
            return super()._table()
        return Table([_NONE], [], f"{self.guarantee!r}, {100 * self.confidence:.6g} %")

    def __str__(self) -> str:
        return super().__str__() if len(self) else f"{_NONE} ({self.guarantee!r}, {100 * self.confidence:.6g} %)"

    def __repr__(self) -> str:
        return super().__repr__() if len(self) else f"TopList({_NONE}, {self.guarantee!r})"


def onto_simplex(frequencies: ArrayLike) -> NDArray[np.float64]:
    """Return the non-negative numbers with sum 1 that are nearest to the given ones: subtract a constant, cut at 0.

    Accuracy. No distribution is nearer in the Euclidean distance, and the result is nearer to every distribution,
        the true one too, than the given frequencies are.
        Proof: let u be the frequencies in falling order, and c the k of them with k u_k > u_1 + ... + u_k - 1; such k
        form a run from 1, since u_k (k - 1) - (u_1 + ... + u_(k-1)) falls with k. For the last k put t = (u_1 + ... +
        u_k
        - 1) / k, so that u_(k+1) <= t < u_k and w = max(v - t, 0) has sum 1. For any distribution x the products
        (v_i - w_i)(x_i - w_i) equal t (x_i - w_i) where w_i > 0 and are at most t x_i = t (x_i - w_i) elsewhere,
        because there v_i <= t; their sum is at most t (1 - 1) = 0. So |v - x|^2 >= |v - w|^2 + |w - x|^2.
    Cost. One sort.
    Reference. Held, Wolfe, Crowder 1974; for noisy frequencies: Wang et al. 2020 (Norm-Sub).

    The result is biased: what is small is cut, and the constant is paid by the large.

    >>> onto_simplex([0.7, 0.5, -0.1]).round(6).tolist()
    [0.6, 0.4, 0.0]
    """
    values = np.asarray(frequencies, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ParameterError("frequencies must be a column of at least one finite number", parameter="frequencies")
    falling = np.sort(values)[::-1]
    # centered first: sums of numbers far from 1 / length would lose digits
    top = falling[0]
    excess = np.cumsum(falling - top) - 1.0
    counts = np.arange(1, values.size + 1)
    last = int(np.flatnonzero(counts * (falling - top) > excess)[-1])
    projected = np.maximum(values - top - excess[last] / (last + 1), 0.0)
    return np.asarray(projected / projected.sum())
