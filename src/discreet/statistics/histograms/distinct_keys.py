"""How many different keys a column holds."""

from __future__ import annotations

from typing import Any, Unpack

from discreet.privacy import Estimate
from discreet.statistics.columns import bounded_keys, distinct_table, split
from discreet.statistics.measurement import KEYS, Counts
from discreet.statistics.options import GroupOptions, named_after
from discreet.statistics.pricing import NoisyVector, priced_noise
from discreet.statistics.statistic import Statistic, Tables


class CountDistinct(Statistic):
    """The number of distinct keys of a column; missing keys are not counted.

    With `groups=` a person brings the first `groups` distinct keys of their rows.

    Privacy. One person moves the number by at most 1, by at most `groups` where they may bring several keys,
        under either relation.
        Proof: adding k keys to a set makes it larger by 0 to k. Changing a person's keys takes away 0 to k and then
        adds 0 to k, so the number moves by at most k either way.
    Accuracy. The interval is the exact quantile of the integer noise, cut at 0.
    Cost. One pass.
    Figure. distinct-error.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> from discreet.privacy import Relation
    >>> abs(
    ...     CountDistinct(relation=Relation.ADD_REMOVE, epsilon=1)(
    ...         ["a", "b", "a"]
    ...     ).value
    ...     - 2
    ... ) < 40
    True
    """

    mechanism: NoisyVector

    def __init__(self, **options: Unpack[GroupOptions]) -> None:
        super().__init__(**options)
        self.mechanism = priced_noise(
            self.price,
            sensitivity=self.groups or 1,
            relation=self.relation,
            width=lambda noisy: noisy.error(self.confidence),
            scalar=True,
        )

    def measure(self, value: Any) -> int:
        """Return the exact number of distinct keys."""
        values, unit = split(value, self.groups)
        if unit is None:
            return len(distinct_table(values)[0])
        return len(bounded_keys(values, unit, keys=self.groups or 1)[0])

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:
        """Return the noisy number with its interval."""
        width = self.mechanism.error(self.confidence)
        most = max(released + width, 0) if public_rows is None else min(max(released + width, 0), public_rows)
        return self._estimated(released, min(max(released - width, 0), most), most, "exact quantile of the noise")

    def _adds_up(self, column: str, people: int | None) -> Counts:  # noqa: ARG002  a count needs neither
        return Counts(KEYS, once=False, why="different keys are counted, which people share")

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A key comes, or is no longer held."""
        return [([1, 2], [1, 2, 3])] if added else [([1, 2], [1, 1])]


@named_after(CountDistinct)
def count_distinct(values: Any, *, unit: Any = None, **options: Unpack[GroupOptions]) -> Estimate:
    """Return a private number of distinct keys of a column: see `CountDistinct`.

    >>> from discreet.privacy import Relation
    >>> abs(
    ...     count_distinct(
    ...         list(range(500)) * 2, relation=Relation.ADD_REMOVE, epsilon=1
    ...     ).value
    ...     - 500
    ... ) < 40
    True
    """
    answer: Estimate = CountDistinct(**options).answer(values, unit)
    return answer
