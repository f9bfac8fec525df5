"""One step after the noise: what its columns and windows are in terms of the noise, and the ends of their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.query.answer.after_noise.forms import (
    Ends,
    Floats,
    Form,
    KnownColumn,
    SampledColumn,
    WeightedColumn,
    added,
    chosen,
    divided,
    multiplied,
    numbers,
    read_by,
    scaled,
    taken,
)
from discreet.query.answer.after_noise.images import FOLDING, corners, exactly, extremes, has_corners, image
from discreet.query.answer.after_noise.intervals import sampled_ends
from discreet.query.answer.after_noise.steps import StepTaken, evaluated
from discreet.query.answer.after_noise.windows import chosen as looked_up
from discreet.query.answer.after_noise.windows import counted, frames
from discreet.query.expression import Apply, Column, Expression, Literal, Operation, Type, Value
from discreet.query.plan import AnswerWindow, WindowKind

if TYPE_CHECKING:
    from discreet.query.answer.after_noise.derived import Derived

_MOST_WEIGHTS = 4_000_000
_SHOWS = (WindowKind.LAG, WindowKind.LEAD, WindowKind.FIRST, WindowKind.LAST, WindowKind.NTH)


@dataclass(frozen=True)
class OneStep:
    """One step: the rows that met its condition, with what their columns are."""

    derived: Derived
    stage: StepTaken
    forms: dict[str, Form | None]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.stage.first)

    def values(self, expression: Expression) -> list[Value]:
        """Return the values of an expression, as they are shown."""
        return self._values([expression])[0]

    def _values(self, expressions: Sequence[Expression]) -> list[list[Value]]:
        stage = self.stage
        return evaluated(expressions, stage.windowed, stage.windowed_types, self.rows, self.derived.evaluate)

    def form(self, expression: Expression) -> Form | None:
        """Return what an expression is in terms of the noise."""
        if isinstance(expression, Column):
            return self.forms[expression.name]
        if isinstance(expression, Literal):
            return KnownColumn([expression.value] * self.rows)
        below = {one.name: self.forms[one.name] for one in expression.columns()}
        if all(isinstance(one, KnownColumn) for one in below.values()):
            return KnownColumn(self.values(expression))
        if not isinstance(expression, Apply) or not expression.type.numeric or None in below.values():
            return None

        def samples() -> Floats | None:
            return self._sampled(expression, below)

        if expression.operation in _CHOICES:
            return self._chosen(expression, samples)
        parts = [self.form(one) for one in expression.arguments]
        found = None if None in parts else self._combined(expression, parts)  # type: ignore[arg-type]
        return found if found is not None else self._of_arguments(expression, parts, samples)

    def _combined(self, expression: Apply, parts: Sequence[Form]) -> Form | None:
        if expression.operation is Operation.CAST:
            return parts[0] if expression.type is Type.REAL else None
        rule = _RULES.get(expression.operation)
        return None if rule is None else rule(parts, self.derived.atoms)

    def _of_arguments(
        self, expression: Apply, parts: Sequence[Form | None], samples: Callable[[], Floats | None]
    ) -> SampledColumn:
        """Return anything else: as samples, with ends that follow from those of its arguments where samples fold.

        What is made of several numbers that hold the same noise may fold like what is made of one, as n * (n - 1) does.
        """
        forms = dict(zip(expression.arguments, parts, strict=True))
        noisy = [one for one, form in forms.items() if not isinstance(form, KnownColumn)]
        operation = expression.operation
        read = read_by([forms[one] for one in noisy])
        folded = any(isinstance(form, SampledColumn) and form.folds for form in parts)
        folded |= len(noisy) > 1 and (read is None or bool((read > 1).nnz))
        ends: Callable[[float], Ends] | None = None
        if None not in parts and len(noisy) == 1:
            ends = self._image(expression, noisy[0], forms)
        elif None not in parts and operation in (Operation.GREATEST, Operation.LEAST):
            ends = self._together(forms, len(noisy), lambda each: extremes(operation, each))
        elif None not in parts and folded and has_corners(operation):
            ends = self._together(forms, len(noisy), lambda each: corners(operation, each))
        elif None not in parts:
            ends = self._where_known(expression, forms, lambda: found.samples)
        found = SampledColumn(samples, ends, folded or operation in FOLDING, read)
        return found

    def _where_known(
        self, expression: Apply, forms: Mapping[Expression, Form | None], samples: Callable[[], Floats | None]
    ) -> Callable[[float], Ends]:
        """Return ends from samples, in rows where every argument has ends itself, and no denominator may be 0.

        Of a quotient whose denominator is within its noise samples tell too little, also as a part of something else.
        """

        def ends(rest: float) -> Ends:
            drawn = samples()
            if drawn is None:
                return [(None, None)] * self.rows
            found = sampled_ends(drawn, rest)
            for place, one in enumerate(expression.arguments):
                form = forms[one]
                below = place == 1 and expression.operation is Operation.DIVIDE
                if isinstance(form, KnownColumn):
                    continue
                for row, (low, high) in enumerate(self.derived.ends_of(form, rest, self.rows)):
                    if low is None or high is None or (below and low <= 0.0 <= high):
                        found[row] = None, None
            return found

        return ends

    def _image(
        self, expression: Apply, noisy: Expression, forms: Mapping[Expression, Form | None]
    ) -> Callable[[float], Ends]:
        """Return the ends of a function of one column with noise."""

        def ends(rest: float) -> Ends:
            found = self.derived.ends_of(forms[noisy], rest, self.rows)
            known = {one: self.values(one) for one in forms if one != noisy}
            return image(expression, noisy, found, known, self._compute)

        return ends

    def _together(
        self, forms: Mapping[Expression, Form | None], noisy: int, combine: Callable[[list[Ends]], Ends]
    ) -> Callable[[float], Ends]:
        """Return the ends of a function of several columns, whose intervals hold together by the union bound."""

        def one(form: Form | None, rest: float) -> Ends:
            if isinstance(form, KnownColumn):
                return exactly(form.numbers)
            return self.derived.ends_of(form, rest / noisy, self.rows)

        return lambda rest: combine([one(form, rest) for form in forms.values()])

    def _compute(
        self, wanted: Sequence[Expression], columns: dict[str, list[Value]], types: dict[str, Type], count: int
    ) -> list[list[Value]]:
        return evaluated(wanted, columns, types, count, self.derived.evaluate)

    def _chosen(self, expression: Apply, samples: Callable[[], Floats | None]) -> Form:
        """Return CASE, COALESCE or NULLIF: every row from the branch that was taken in view of the answer."""
        branches = self._branches(expression)
        found = chosen(branches, self.rows, self.derived.atoms)
        if found is not None or any(form is None for _, form in branches):
            return found if found is not None else SampledColumn(samples)

        def ends(rest: float) -> Ends:
            rows: Ends = [(None, None)] * self.rows
            for mask, form in branches:
                of_branch = self.derived.ends_of(form, rest, self.rows)
                rows = [new if own else old for own, new, old in zip(mask, of_branch, rows, strict=True)]
            return rows

        folds = any(isinstance(form, SampledColumn) and form.folds for _, form in branches)
        return SampledColumn(samples, ends, folds, read_by([form for _, form in branches]))

    def _branches(self, expression: Apply) -> list[tuple[NDArray[np.bool_], Form | None]]:
        """Return what a row may be taken from, and which rows are."""
        arguments = expression.arguments
        if expression.operation is Operation.NULLIF:
            there = np.array([one is not None for one in self.values(expression)], dtype=bool)
            return [(there, self.form(arguments[0]))]
        if expression.operation is Operation.COALESCE:
            results: Sequence[Expression] = arguments
            held = [[value is not None for value in one] for one in self._values(arguments)]
        else:
            results = [*arguments[1::2], arguments[-1]]
            held = [[value is True for value in one] for one in self._values(arguments[:-1:2])]
            held.append([True] * self.rows)
        left, branches = np.ones(self.rows, dtype=bool), []
        for one, mask in zip(results, held, strict=True):
            own = left & np.array(mask, dtype=bool)
            left = left & ~own
            if own.any():
                branches.append((own, self.form(one)))
        return branches

    def _sampled(self, expression: Expression, below: Mapping[str, Form | None]) -> Floats | None:
        """Return samples of an expression: it is computed once for every sample of its columns."""
        noise = self.derived.noise
        if noise is None:
            return None
        count = len(noise)
        columns: dict[str, list[Value]] = {}
        for name, form in below.items():
            if isinstance(form, KnownColumn):
                columns[name] = list(form.values) * count
                continue
            samples = self.derived.samples(form, self.rows)
            if samples is None:
                return None
            flat = samples.ravel()
            columns[name] = [
                None if missing else value for value, missing in zip(flat.tolist(), np.isnan(flat), strict=True)
            ]
        types = {name: self.stage.windowed_types[name] for name in columns}
        types = {name: Type.REAL if not isinstance(below[name], KnownColumn) else kind for name, kind in types.items()}
        found = evaluated([expression], columns, types, count * self.rows, self.derived.evaluate)[0]
        return numbers(found).reshape(count, self.rows)

    def window(self, name: str, window: AnswerWindow) -> Form | None:
        """Return what a window is in terms of the noise."""
        read = [self.form(one) for one in window.read]
        if all(isinstance(one, KnownColumn) for one in read) or window.kind is WindowKind.COUNT:
            return KnownColumn(self.stage.windowed[name])
        known = dict(zip(window.read, self._values(window.read), strict=True))
        lookup = known.__getitem__
        form = None if window.argument is None else self.form(window.argument)
        if window.kind in _SHOWS:
            places = looked_up(window, frames(window, lookup, self.rows))
            return self._with_default(window, taken(form, places), places)
        if window.kind not in (WindowKind.SUM, WindowKind.MEAN) or not isinstance(form, WeightedColumn):
            return None
        return self._summed(window, form, lookup)

    def _with_default(self, window: AnswerWindow, form: Form | None, places: Sequence[int | None]) -> Form | None:
        """Put the default of LAG and LEAD where there is no row to show."""
        missing = np.array([place is None for place in places], dtype=bool)
        if window.default is None or not missing.any():
            return form
        branches = [(~missing, form), (missing, KnownColumn([window.default] * self.rows))]
        return chosen([one for one in branches if one[0].any()], self.rows, self.derived.atoms)

    def _summed(
        self, window: AnswerWindow, form: WeightedColumn, lookup: Callable[[Expression], Sequence[Value]]
    ) -> Form | None:
        """Return a sum or a mean over the rows that a window sees."""
        from scipy.sparse import csr_matrix

        seen = frames(window, lookup, self.rows)
        there = [one is not None for one in counted(window, lookup, self.rows)]
        if sum(one.end - one.start for one in seen) > _MOST_WEIGHTS:
            return None
        members = [[row for row in one.seen if there[row]] for one in seen]
        sizes = np.array([len(one) for one in members], dtype=np.int64)
        if (
            sum(form.weights.indptr[row + 1] - form.weights.indptr[row] for one in members for row in one)
            > _MOST_WEIGHTS
        ):
            return None
        columns = np.array([row for one in members for row in one], dtype=np.int64)
        places = np.repeat(np.arange(self.rows), sizes)
        which = csr_matrix((np.ones(len(columns)), (places, columns)), shape=(self.rows, self.rows))
        total = WeightedColumn(
            np.where(sizes > 0, which @ np.nan_to_num(form.numbers), np.nan), (which @ form.weights).tocsr()
        )
        if window.kind is WindowKind.SUM:
            return total
        with np.errstate(all="ignore"):
            return scaled(total, 1.0 / sizes)


_CHOICES = (Operation.CASE, Operation.COALESCE, Operation.NULLIF)
_RULES: dict[Operation, Callable[[Sequence[Form], int], Form | None]] = {
    Operation.ADD: lambda parts, atoms: added(parts[0], parts[1], 1.0, atoms),
    Operation.SUBTRACT: lambda parts, atoms: added(parts[0], parts[1], -1.0, atoms),
    Operation.NEGATE: lambda parts, _: multiplied(parts[0], KnownColumn([-1.0] * _length(parts[0]))),
    Operation.MULTIPLY: lambda parts, _: multiplied(parts[0], parts[1]),
    Operation.DIVIDE: lambda parts, atoms: divided(parts[0], parts[1], atoms),
}


def _length(form: Form) -> int:
    """Return how many rows a column has; samples have none that is known beforehand."""
    return 0 if isinstance(form, SampledColumn) else len(form.numbers)
