"""Averaging: noise that sticks to a question is gone once the question is asked in many ways.

The ways: other spellings, other conditions of the same meaning, and sums over a partition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from discreet.attacks.asking import Charged, Floats, Integers, Run, counted
from discreet.attacks.results import read_only
from discreet.display.plots import BLUE, ORANGE, Plot, axes, explained
from discreet.display.result import Row, told_in_rows
from discreet.errors import BudgetExceeded, InputError, ParameterError
from discreet.laws.number import Number, positive_rational
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import whole

Wording = tuple[str, ...]
"""Texts whose answers add up to the count wanted."""

_HEAD = "SELECT COUNT(*) AS people FROM"
_OR = re.compile(r"\bOR\b", re.IGNORECASE)


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Averaging:
    """What the average over many wordings of one count came to.

    `estimates` has the sum of the answers of every wording that was answered, in order, and `sizes` the number of texts
    that each took. `queries` were answered, of which `replayed` got a stored answer again; `refused` tells whether a
    budget ended the attack. `deviation` is the standard deviation of one answer, if stated, `truth` the count, if the
    owner of the table gave it, and `loss` the price of all answers, stored ones included, if the target charged one.
    """

    estimates: Floats
    sizes: Integers
    queries: int
    replayed: int
    refused: bool
    deviation: float | None
    truth: float | None
    loss: PrivacyLoss | None

    def __post_init__(self) -> None:
        read_only(self.estimates, self.sizes)

    @property
    def running(self) -> Floats:
        """The average after one wording, two, and so on: wordings of c texts have the weight 1/c."""
        weights = 1 / self.sizes
        return np.asarray(np.cumsum(weights * self.estimates) / np.cumsum(weights))

    @property
    def value(self) -> float:
        """The average over all wordings that were answered."""
        return float(self.running[-1])

    @property
    def running_error(self) -> Floats | None:
        """The standard error of the averages, if the answers have independent noise of the stated deviation."""
        return None if self.deviation is None else np.asarray(self.deviation / np.sqrt(np.cumsum(1 / self.sizes)))

    @property
    def standard_error(self) -> float | None:
        """The standard error of the value, if the answers have independent noise of the stated deviation."""
        return None if self.running_error is None else float(self.running_error[-1])

    @property
    def error(self) -> float | None:
        """How far the value is from the truth, if that was given."""
        return None if self.truth is None else abs(self.value - self.truth)

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order."""
        return [
            ("wordings", f"{len(self.estimates):,}"),
            ("queries", f"{self.queries:,}"),
            ("stored answers", f"{self.replayed:,}"),
            ("ended by", "the budget" if self.refused else None),
            ("standard error", None if self.standard_error is None else f"{self.standard_error:.3g}"),
            ("error", None if self.error is None else f"{self.error:.3g}"),
        ]

    def plot(self) -> Plot:
        """Draw the average as wordings are added, with two standard errors if known; needs the extra `plot`."""
        drawn = axes(title="The same count, asked in many ways", x_label="wordings", y_label="average of the answers")
        places = np.arange(1, len(self.estimates) + 1)
        middle = self.running if self.truth is None else np.full(len(places), self.truth)
        if self.running_error is not None:
            low, high = middle - 2 * self.running_error, middle + 2 * self.running_error
            drawn.fill_between(places, low, high, color=BLUE, alpha=0.18, linewidth=0, label="2 standard errors")
        drawn.plot(places, self.running, color=BLUE, linewidth=2.0, label="average so far")
        if self.truth is not None:
            drawn.axhline(self.truth, color=ORANGE, linewidth=1.6, linestyle="--", label="true count")
        return explained(drawn, ncols=3)


def averaging(
    run: Run, wordings: Iterable[Wording], *, deviation: Number | None = None, truth: Number | None = None
) -> Averaging:
    """Ask every wording of a count, add up the texts of each, and average.

    Wordings come from `rephrasings` (noise seeded by the text), `splits` (noise seeded by the set of rows), or
    `spellings` (which a session takes for one question). A budget that is spent ends the attack with what it has.

    Privacy. Against a session averaging buys nothing: m answers at rho-zCDP each, with Gaussian noise, cost m rho and
        average to the error of a single answer that costs m rho; m answers at epsilon each, with Laplace noise, cost m
        epsilon and average to sqrt(m) times the error of a single answer that costs as much. Stored answers cost
        nothing and tell nothing.
        Proof: Gaussian noise of rho-zCDP has the variance D^2/(2 rho), the average of m has D^2/(2 m rho), which is
        that of one answer of m rho. Laplace noise of epsilon has the variance 2 D^2/epsilon^2 (on a fine grid), the
        average 2 D^2/(m epsilon^2) = m 2 D^2/(m epsilon)^2. A stored answer is a function of an earlier one.
    Accuracy. If all answers have independent noise of mean 0 and the deviation sigma, the average of wordings that take
        c_1, ..., c_m texts has the standard error sigma / sqrt(1/c_1 + ... + 1/c_m), and no unbiased weighted average
        has less: sigma/sqrt(m) for rephrasings, sigma sqrt(c/m) for partitions of c cells. If the noise lies
        within B, the average of m rephrasings is off by more than t with a chance of at most 2 exp(-m t^2 / (2 B^2)).
        Proof: the sum of c answers has the variance c sigma^2. The average with weights w_i that add up to 1 has the
        variance sum of w_i^2 c_i sigma^2; by the Cauchy-Schwarz inequality 1 = (sum of w_i)^2 <= (sum of w_i^2 c_i)(sum
        of 1/c_i), with equality for w_i in proportion to 1/c_i. The last is Hoeffding's inequality.
    Cost. As many queries as there are texts.
    Figure. averaging.svg
    Reference. Asghar, Kaafar 2020, for sums over partitions; Gadotti et al. 2019, for static noise and dummy
        conditions; Denning 1980, for averaging.

    >>> from discreet.attacks.isolating.averaging_attack import rephrasings
    >>> from discreet.attacks.isolating.sticky import StickyNoise
    >>> engine = StickyNoise(lambda text: [(100,)], deviation=10, seed=1)
    >>> wordings = rephrasings(
    ...     "t", ["a = 1", "b = 2", "c = 3"], count=400, dummies=["d >= 0", "e >= 0"]
    ... )
    >>> found = averaging(engine, wordings, deviation=10, truth=100)
    >>> found.standard_error, found.error < 2
    (0.5, True)
    """
    sigma = None if deviation is None else float(positive_rational(deviation, name="deviation"))
    before = (run.answered, run.replayed, run.distinct) if isinstance(run, Charged) else (0, 0, 0)
    estimates, sizes, asked, refused = [], [], 0, False
    if isinstance(wordings, str) or not isinstance(wordings, Iterable):
        raise InputError("wordings must be a list of tuples of texts, such as rephrasings(...) gives")
    for wording in wordings:
        if isinstance(wording, str) or not wording:
            raise InputError("a wording must be a tuple of at least one text, whose answers add up to the count")
        try:
            answers = [counted(run, text) for text in wording]
        except BudgetExceeded:
            refused = True
            break
        estimates.append(math.fsum(answers))
        sizes.append(len(wording))
        asked += len(wording)
    if not estimates:
        raise InputError("no wording was answered: there is nothing to average")
    answered, replayed, loss = asked, 0, None
    if isinstance(run, Charged):
        answered, replayed, loss = run.answered - before[0], run.replayed - before[1], run.loss
        # the same answer again has no noise of its own
        sigma = sigma if run.distinct - before[2] == answered else None
    known = None if truth is None else float(truth)
    return Averaging(np.array(estimates), np.array(sizes), answered, replayed, refused, sigma, known, loss)


def spellings(table: str, conditions: Sequence[str], *, count: int) -> tuple[Wording, ...]:
    """Return `count` texts of one query that differ in spaces, capitals, brackets, names, comments and nesting only.

    >>> for (text,) in spellings("patients", ["marker = 1", "age > 30"], count=3):
    ...     print(text)
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age > 30
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND (age > 30)
    SELECT COUNT(*) AS people FROM patients WHERE (marker = 1) AND age > 30
    """
    return _taken(_spelled(table, _listed(conditions)), count)


def rephrasings(
    table: str, conditions: Sequence[str], *, count: int, dummies: Sequence[str] = ()
) -> tuple[Wording, ...]:
    """Return `count` queries that select the same rows: conditions in another order, doubled, or beside a dummy.

    `dummies` are conditions that everybody meets, such as `age >= 0`.

    >>> for (text,) in rephrasings(
    ...     "patients", ["marker = 1", "age > 30"], count=3, dummies=["age >= 0"]
    ... ):
    ...     print(text)
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age > 30
    SELECT COUNT(*) AS people FROM patients WHERE age > 30 AND marker = 1
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age > 30 AND age >= 0
    """
    return _taken(_rephrased(table, _listed(conditions), list(dummies)), count)


def splits(table: str, conditions: Sequence[str], partitions: Iterable[Sequence[str]]) -> tuple[Wording, ...]:
    """Return the count as sums: one wording a partition, one text for each of its cells.

    A partition is a list of conditions of which every row meets exactly one, such as `["age < 40", "age >= 40"]`.

    >>> (wording,) = splits("patients", ["marker = 1"], [["age < 40", "age >= 40"]])
    >>> wording[1]
    'SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age >= 40'
    """
    return tuple(tuple(_text(table, [*conditions, cell]) for cell in _listed(cells)) for cells in partitions)


def thresholds(column: str, levels: Iterable[int]) -> list[tuple[str, str]]:
    """Return the partitions of a public column into those below a level and the others.

    >>> thresholds("age", [40])
    [('age < 40', 'age >= 40')]
    """
    return [(f"{column} < {level}", f"{column} >= {level}") for level in levels]


def _listed(conditions: Sequence[str]) -> list[str]:
    """Return conditions as a list; a text would be taken for a list of its letters, and none makes no WHERE."""
    if isinstance(conditions, str) or not conditions:
        raise ParameterError("give a list of conditions, at least one", parameter="conditions")
    return list(conditions)


def _text(table: str, conditions: Sequence[str], *, head: str = _HEAD) -> str:
    """Write a count of rows; the attacker may write any text, what guards a table is who answers it."""
    # AND binds before OR
    joined = " AND ".join(f"({one})" if _OR.search(one) else one for one in conditions)
    return f"{head} {table} WHERE {joined}"


def _spelled(table: str, conditions: list[str]) -> Iterator[str]:
    """Write one plan in many ways, without end."""
    bracketed = [[one, f"({one})"] for one in conditions]
    yield _text(table, conditions)
    for number in range(1, 1 << 20):
        for place, choice in enumerate(product(*bracketed)):
            if place == 0:
                continue
            yield _text(table, choice) + " " * (number - 1)
        if len(conditions) > 1:
            inner = _text(table, conditions[:1], head="SELECT * FROM")
            yield _text(f"({inner}) AS inner_rows", conditions[1:]) + " " * (number - 1)
        yield _text(table, conditions) + f" -- {number}"
        yield _text(table, conditions, head=_HEAD.replace("people", f"people_{number}"))
        yield _text(table, conditions, head=" " * number + "select count(*) AS people from")


def _rephrased(table: str, conditions: list[str], dummies: list[str]) -> Iterator[str]:
    """Write plans that select the same rows, from few conditions to many."""
    extras = [*dummies, *conditions]
    for size in range(len(extras) + 1):
        for added in combinations(extras, size):
            for order in permutations([*conditions, *added]):
                yield _text(table, order)


def _taken(texts: Iterator[str], count: int) -> tuple[Wording, ...]:
    """Return the first different texts."""
    wanted = whole(count, name="count")
    taken: dict[str, None] = {}
    for text in texts:
        taken[text] = None  # a text met again keeps its place
        if len(taken) == wanted:
            return tuple((one,) for one in taken)
    raise ParameterError(
        f"there are only {len(taken)} such wordings; give more conditions or dummies", parameter="count"
    )
