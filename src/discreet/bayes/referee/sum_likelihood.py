"""What records add up to, and how likely that makes the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.evidence.same_counts import require_same_counts
from discreet.bayes.referee.record_model import RecordModel
from discreet.errors import InputError, ParameterError
from discreet.statistics.measurement import Counts, Measurement, MeasurementPlan

Floats = NDArray[np.float64]
_SMALL = 1 << 62
_FAR, _LIKELY = 700.0, 10.0  # of ln probability: what never happens, and what each integer may well lose


class SumLikelihood:
    """All released integers in one row, and the law of their noise about the sums over the records.

    Integers that count every record once are looked up in a table, in units of their weight: there are few sums.
    """

    def __init__(
        self, model: RecordModel, measurements: Sequence[Measurement], people: range, *, one_row_a_person: bool
    ) -> None:
        self._model = model
        self._plans = tuple(one.plan for one in measurements)
        _require_readable(model, measurements, people, one_row_a_person=one_row_a_person)
        self._counted = tuple(_by_default(model) and isinstance(plan.adds_up, Counts) for plan in self._plans)
        self._parts: list[Callable[[NDArray[Any]], Floats]] = []
        for one, counted in zip(measurements, self._counted, strict=True):
            self._parts.append(_looked_up(one, people.stop - 1) if counted else _computed(one))
        best = (one.plan.noise.log_pmf([0])[0] * sum(map(len, one.released)) for one in measurements)
        self._best = float(sum(best)) - _LIKELY * sum(len(entry) for one in measurements for entry in one.released)
        widths = [plan.adds_up.entries * len(plan.keys) for plan in self._plans]
        ends = np.cumsum([0, *widths]).tolist()
        self._places = [slice(low, high) for low, high in pairwise(ends)]

    def added(self, records: NDArray[Any]) -> NDArray[Any]:
        """Return what every record adds to every integer: (chains, count, integers)."""
        chains, count = records.shape[:2]
        found = []
        for plan, counted in zip(self._plans, self._counted, strict=True):
            one = _whole(self._model.contribution(records, plan), (chains, count, plan.adds_up.entries, len(plan.keys)))
            found.append((one // plan.adds_up.weight if counted else one).reshape(chains, count, -1))  # type: ignore[attr-defined]
        return np.concatenate(found, axis=2)

    def log_likelihood(self, sums: NDArray[Any]) -> Floats:
        """Return ln P(release | sums) for every row of sums."""
        parts = [part(sums[:, place]) for part, place in zip(self._parts, self._places, strict=True)]
        return sum(parts[1:], start=parts[0])

    def possible(self, sums: NDArray[Any]) -> NDArray[np.bool_]:
        """Say for every row of sums whether noise could have made the release from it."""
        return self.log_likelihood(sums) > self._best - _FAR

    def counts(self, sums: NDArray[Any]) -> list[NDArray[np.int64]] | None:
        """Return how many records are in each group, plan by plan, where every integer is such a count."""
        return [sums[:, place].astype(np.int64) for place in self._places] if all(self._counted) else None


def _require_readable(
    model: RecordModel, measurements: Sequence[Measurement], people: range, *, one_row_a_person: bool
) -> None:
    """Refuse a release that the model would misread; who writes contributions of their own answers for them."""
    for plan in (one.plan for one in measurements):
        _require_public(plan, people)
    if not _by_default(model):
        return
    counted = [one for one in measurements if isinstance(one.plan.adds_up, Counts)]
    if counted:
        require_same_counts(measurements, counted, one_row_a_person=one_row_a_person, exhaustive=False)
    for plan in (one.plan for one in measurements):
        if not (getattr(plan.adds_up, "once", True) or one_row_a_person):
            raise InputError(
                f"a record must add its own value once, and in {plan.name} {getattr(plan.adds_up, 'why', '')}; write a "
                "model with its own contribution(records, plan), or state one_row_a_person=True if you know that "
                "nobody has two rows"
            )
    if len({one.plan.source.rows for one in measurements}) > 1:
        raise InputError(
            "measurements must be about the same rows; got several filters or joins, of which the model does not say "
            "who is in which, give one of them, or write a model with its own contribution(records, plan)"
        )


def _require_public(plan: MeasurementPlan, people: range) -> None:
    """Refuse groups that were selected by their noise, and a number of people that the release contradicts."""
    if not plan.source.listed:
        raise InputError(
            f"released must show all groups; got {plan.name}, whose groups with few people are left out, declare the "
            "values of its keys in the policy and ask again"
        )
    public = getattr(plan.adds_up, "people", None)
    if public is not None and public not in people:
        raise ParameterError(
            f"people must agree with the release, where their public number is {public:,}; got another, write "
            f"people={public}",
            parameter="people",
        )


def _by_default(model: RecordModel) -> bool:
    """Whether contributions follow from groups and positions."""
    return type(model).contribution is RecordModel.contribution


def _whole(added: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return contributions as whole numbers, refusing another shape and fractions."""
    found = np.asarray(added)
    if found.shape != shape or found.dtype.kind not in "iuO":
        raise InputError(
            f"contribution must return whole numbers in the shape {shape}: chains, records, entries, groups; got "
            f"{found.dtype} in the shape {found.shape}"
        )
    return found if found.dtype.kind == "O" else found.astype(np.int64)


def _looked_up(measurement: Measurement, most: int) -> Callable[[NDArray[Any]], Floats]:
    """Return the sum of ln pmf(released - weight * count), from a table over the counts 0 to `most`."""
    plan = measurement.plan
    weight = plan.adds_up.weight  # type: ignore[attr-defined]
    for one in measurement.released[0]:
        _require_reachable(plan, one, most)
    table = np.array(
        [plan.noise.log_pmf([one - weight * count for count in range(most + 1)]) for one in measurement.released[0]]
    )
    places = np.arange(len(plan.keys))

    def part(counts: NDArray[Any]) -> Floats:
        found = table[places, counts.astype(np.int64, copy=False)]
        return found[:, 0] if len(places) == 1 else np.asarray(found.sum(axis=-1))

    return part


def _require_reachable(plan: MeasurementPlan, released: int, most: int) -> None:
    """Refuse a noisy count that no number of people explains: floats would not tell these numbers apart either."""
    nearest = min(max(round(Fraction(released, plan.adds_up.weight)), 0), most)  # type: ignore[attr-defined]
    away = released - plan.adds_up.weight * nearest  # type: ignore[attr-defined]
    if not plan.noise.log_pmf([away])[0] >= plan.noise.log_pmf([0])[0] - _FAR:
        raise InputError(
            f"people must be able to make up the release, and {plan.name} is farther from every count from 0 to "
            f"{most:,} than noise ever is; write the right people="
        )


def _computed(measurement: Measurement) -> Callable[[NDArray[Any]], Floats]:
    """Return the sum of ln pmf(released - sum)."""
    flat = [one for entry in measurement.released for one in entry]
    small = all(abs(one) < _SMALL for one in flat)
    released = np.array([*flat, None], dtype=object)[:-1]
    fast = released.astype(np.int64) if small else released
    noise = measurement.plan.noise

    def part(sums: NDArray[Any]) -> Floats:
        return np.asarray(noise.log_pmf((released if sums.dtype == object else fast) - sums).sum(axis=-1))

    return part
