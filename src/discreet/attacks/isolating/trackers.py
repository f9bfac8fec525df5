"""Trackers: counts of sets too small to be answered, from counts of large ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.attacks.asking import Run, counted
from discreet.attacks.isolating.differencing import Differencing, believed, judged
from discreet.errors import ConflictingParameters, MissingParameter, QueryRefused
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import whole

_Question = tuple[str, tuple[str, ...], tuple[int, ...]]


class MinimumSize:
    """A toy engine that answers counts exactly, but refuses small sets: the rule that trackers defeat.

    Refused are counts below `least` and, if the number of `people` is given, also counts above `people` - `least`,
    whose complement is small. It protects nobody; it is here to be broken.

    >>> engine = MinimumSize(lambda text: [(3,)], least=5)
    >>> engine("SELECT COUNT(*) FROM patients WHERE practice = 7")
    Traceback (most recent call last):
        ...
    discreet.errors.QueryRefused: this set is too small or too large to be counted
    """

    def __init__(self, run: Run, *, least: int, people: int | None = None) -> None:
        """Put the rule in front of something that runs SQL."""
        self._run = run
        self.least = whole(least, name="least")
        self.people = None if people is None else whole(people, name="people")

    def __call__(self, text: str) -> Sequence[Sequence[Any]]:
        """Answer a count, or refuse it."""
        rows = [tuple(row) for row in self._run(text)]
        count = counted(lambda _: rows, text)
        if count < self.least or (self.people is not None and count > self.people - self.least):
            raise QueryRefused("this set is too small or too large to be counted")
        return rows


def tracker(  # noqa: PLR0913  one call, all by keyword: the question, what is known of the noise, what the owner knows
    run: Run,
    *,
    table: str,
    secret: str,
    target: str,
    within: str | None = None,
    pad: str | None = None,
    truth: bool | None = None,
    noise: IntegerNoise | None = None,
    grid: Number = 1,
    exact: bool = False,
    loss: PrivacyLoss | None = None,
    share: Number = 0.5,
) -> Differencing:
    """Learn whether the target has the secret where small sets are refused, by padding the question with a large set.

    `within` is a public condition that the target meets together with many others: the individual tracker asks for
    them without the target's row unless it has the secret, and without it in any case. `pad` is any public condition
    that a fair part of the people meet: the general tracker adds those who meet it, then those who do not, and
    subtracts everybody. Columns in conditions must not be missing (NULL). For the rest see `differencing`.

    Privacy. As for `differencing`: the same ceiling, for the price of all queries.
        Proof: there.
    Accuracy. From exact answers the guess is always right, and no query is refused by a minimum size k: with `within`
        if at least k + 1 people meet it (and at most n - k, if counts above n - k are refused); with `pad` if from k to
        n - k people meet it (from k + 1 to n - k - 1, if counts above n - k are refused). Such a set of people exists
        if n >= 2k (n >= 2k + 2). To count any set of fewer than k people where counts above n - k are refused, from
        2k - 1 to n - 2k + 1 must meet `pad`, which is possible exactly if k <= (n + 2)/4.
        Proof: let C be the set to be counted (the target with the secret: nobody or one), T those who meet `pad` and U
        the others. Everybody in C is counted twice among the members of C or T and the members of C or U, all others
        once: |C| = |C or T| + |C or U| - |T| - |U|. The sets lie between |T| and |T| + |C|, and |U| and |U| + |C|, and
        with |C| <= c both ends occur. All are answered if min(|T|, |U|) >= k and, with the upper rule, max(|T|, |U|) +
        c <= n - k, which by |U| = n - |T| says k + c <= |T| <= n - k - c, and such a number exists if n >= 2k + 2c. For
        the target c = 1; for all sets of fewer than k people c = k - 1, and n >= 4k - 2. With `within`, let A be those
        who meet it: the counts are those of A without the target, or with it, so from |A| - 1 to |A|, and their
        difference is the bit.
    Cost. Two queries with `within`, four with `pad`, of which two are the same for every target.
    Reference. Schlörer 1975 (individual tracker); Denning, Denning, Schwartz 1979 (general tracker).

    >>> def run(text):  # ten people; the target has the secret
    ...     return [(6 if "OR" in text else 5,)]
    >>> engine = MinimumSize(run, least=3)
    >>> found = tracker(engine, table="t", secret="s = 1", target="id = 4", within="id < 6", exact=True)
    >>> found.guess, found.queries, found.refused
    (True, 2, 0)
    """
    if within and pad:
        raise ConflictingParameters("give within= (individual tracker) or pad= (general tracker)", parameter="pad")
    if not within and not pad:
        raise MissingParameter(
            "a tracker needs a public group: within= one that the target is in, or pad= any", parameter="within"
        )
    name, conditions, signs = _individual(secret, target, within) if within else _general(secret, target, pad or "")
    texts = [f"SELECT COUNT(*) AS people FROM {table} WHERE {one}" for one in conditions]  # noqa: S608
    stated = believed(noise, grid=grid, exact=exact, queries=len(texts))
    return judged(name, run, texts, signs, truth=truth, expected=stated, loss=loss, share=share)


def _individual(secret: str, target: str, within: str) -> _Question:
    """Return the name, the conditions and the signs of the individual tracker."""
    conditions = (f"({within}) AND (NOT ({target}) OR ({secret}))", f"({within}) AND NOT ({target})")
    return "individual tracker", conditions, (1, -1)


def _general(secret: str, target: str, pad: str) -> _Question:
    """Return the name, the conditions and the signs of the general tracker."""
    wanted = f"(({target}) AND ({secret}))"
    conditions = (f"{wanted} OR ({pad})", f"{wanted} OR NOT ({pad})", f"({pad})", f"NOT ({pad})")
    return "general tracker", conditions, (1, 1, -1, -1)
