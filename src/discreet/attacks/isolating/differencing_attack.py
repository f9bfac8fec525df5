"""Differencing: harmless counts whose difference is one secret; trackers pad them where small sets are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attacks.asking import Charged, Run, counted
from discreet.attacks.ceilings import Flip, ceiling
from discreet.attacks.results import QUARTERS
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, plotted
from discreet.display.result import Row, percent, told_in_rows
from discreet.errors import BudgetExceeded, ConflictingParameters, MissingParameter, ParameterError, QueryRefused
from discreet.laws import Enclosure
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number, positive_rational
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import whole

_REACH = 60.0  # scales of noise beyond which floats resolve no mass
_FINEST = 1000  # places a scale of noise from which on a sum over places is as good as an integral
_WIDEST = 1 << 54
_Question = tuple[str, tuple[str, ...], tuple[int, ...]]


@told_in_rows
@dataclass(frozen=True, slots=True, repr=False)
class Differencing:
    """What one person's bit looks like through counts that differ by that person.

    `guess` is the bit, None if something was refused; `difference` the number it was rounded from, `queries` how many
    were asked and `refused` how many of them got no answer. `right` says whether the guess is right, if the owner of
    the table gave the truth. `expected` is the chance of a right guess under the noise that was stated (1 for exact
    answers, None without a guess), and `ceiling` bounds it for any use of the answers, if their price was given.
    """

    method: str
    guess: bool | None
    difference: float | None
    queries: int
    refused: int
    right: bool | None
    expected: float | None
    ceiling: Enclosure | None

    @property
    def sure(self) -> bool:
        """Whether the answers were stated to be exact, and look it: the difference is then the bit."""
        return self.expected == 1.0 and self.difference in {0.0, 1.0}

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        top = None if self.ceiling is None else -(-self.ceiling.upper * 1000 // 1) / 10
        return [
            ("method", self.method),
            ("queries", f"{self.queries}"),
            ("refused", f"{self.refused}"),
            ("guess", None if self.right is None else "right" if self.right else "wrong"),
            ("right guesses expected", percent(self.expected)),
            ("ceiling", None if top is None else f"{top:.1f} %"),
        ]

    def _found(self) -> list[tuple[str, str]]:
        """Return the guess in words."""
        if self.guess is None or self.difference is None:
            return [("guessed bit", "none: something was refused")]
        return [("guessed bit", f"{int(self.guess)}, from the difference {self.difference:.6g}")]

    def plot(self) -> Plot:
        """Draw the chance of a right guess: a coin, this attack, the ceiling; needs the extra `plot`."""
        known = [("a coin", 0.5, SOFT)]
        if self.expected is not None:
            known.append(("this attack", self.expected, BLUE))
        if self.ceiling is not None:
            known.append(("any use of these answers", self.ceiling.upper, ORANGE))
        drawn = axes(
            title=f"One secret bit by {self.method}", x_label="chance of a right guess", height=1.4 + 0.5 * len(known)
        )
        names, chances, colors = zip(*known, strict=True)
        drawn.barh(range(len(known)), chances, color=list(colors), height=0.55)
        drawn.set_yticks(range(len(known)), list(names))
        drawn.set_xticks(*QUARTERS)
        drawn.axvline(0.5, color=INK, linewidth=1.2, linestyle="--")
        drawn.set_xlim(0, 1)
        drawn.invert_yaxis()
        drawn.tick_params(axis="y", length=0)
        return plotted(drawn)


def difference(run: Run, *, everyone: str, but_one: str) -> float:
    """Ask two counts and subtract the second.

    >>> counts = {"all": 4, "all but one": 3}
    >>> difference(
    ...     lambda text: [(counts[text],)], everyone="all", but_one="all but one"
    ... )
    1.0
    """
    return counted(run, everyone) - counted(run, but_one)


def differencing(  # noqa: PLR0913  one call, all by keyword: the question, what is known of the noise, what the owner knows
    run: Run,
    *,
    table: str,
    secret: str,
    target: str,
    truth: bool | None = None,
    noise: IntegerNoise | None = None,
    grid: Number = 1,
    exact: bool = False,
    loss: PrivacyLoss | None = None,
    frequency: Number = 0.5,
) -> Differencing:
    """Learn whether the target has the secret, from a count over everybody and a count over everybody else.

    `secret` and `target` are SQL conditions: `marker = 1`, and what is publicly known of exactly one person, such as
    `practice = 7 AND card = 12`. That person has one row, and no column in a condition is missing (NULL). `exact` or
    `noise` (the law of the noise of every answer, in units of `grid`, see `difference_chance`) states what the attacker
    believes about the answers. The owner of the table may give `truth` and `loss`, the price of the answers together (a
    `Charged` session knows it); the attack uses neither.

    Privacy. From these answers, of the price `loss`, no attacker can guess the bit, 1 with the chance `frequency`,
        better than `ceiling`. (Questions about both values of the bit are dearer: `Flip.TWO_ROWS`.)
        Proof: a query of this attack, or of a tracker, selects the target's row either in any case, or in no case, or
        only if the bit is 1; nobody else's row depends on the bit. So on the two tables that differ by the bit a
        release has either one law, or its laws on a table with the target's row and without it, always in the same
        direction: neighbors under add/remove. That is `Flip.ONE_ROW` of `ceiling`.
    Accuracy. From exact answers the guess is always right; with independent symmetric integer noise it is right with
        the chance (1 + P(X = Y))/2 for independent noises X and Y: `difference_chance`.
        Proof: the first count is the second plus the bit. With noise the difference is the bit plus W = X - Y, and the
        guess is 1 if it exceeds 1/2. It is right for a 0 if W <= 0 and for a 1 if W >= 0, each with the chance (1 + P(W
        = 0))/2, because W is symmetric.
    Cost. Two queries a person.
    Figure. differencing.svg
    Reference. Denning, Denning, Schwartz 1979; Dwork, Roth 2014, section 1.

    >>> def run(text):
    ...     return [(3 if "NOT" in text else 4,)]
    >>> differencing(
    ...     run, table="patients", secret="marker = 1", target="card = 12", exact=True
    ... ).sure
    True
    """
    texts = (
        f"SELECT COUNT(*) AS people FROM {table} WHERE ({secret})",  # noqa: S608  the attacker may write any text
        f"SELECT COUNT(*) AS people FROM {table} WHERE ({secret}) AND NOT ({target})",  # noqa: S608
    )
    stated = believed(noise, grid=grid, exact=exact, queries=len(texts))
    return judged("differencing", run, texts, (1, -1), truth=truth, expected=stated, loss=loss, frequency=frequency)


def believed(noise: IntegerNoise | None, *, grid: Number, exact: bool, queries: int) -> float | None:
    """Return the chance of a right guess from `queries` answers under what is believed about them."""
    if exact and noise is not None:
        raise ParameterError("answers are exact or have noise: give exact=True or noise=, not both", parameter="noise")
    return 1.0 if exact else None if noise is None else difference_chance(noise, queries=queries, grid=grid)


def judged(
    method: str,
    run: Run,
    texts: Sequence[str],
    signs: Sequence[int],
    *,
    truth: bool | None,
    expected: float | None,
    loss: PrivacyLoss | None,
    frequency: Number = 0.5,
) -> Differencing:
    """Ask all texts, add the answers up with their signs, and guess; what is refused ends in no guess."""
    answers, refused = [], 0
    for text in texts:
        try:
            answers.append(counted(run, text))
        except (QueryRefused, BudgetExceeded):
            refused += 1
    found = None if refused else float(np.dot(signs, answers))
    guess = None if found is None else found > 0.5
    right = None if truth is None or guess is None else guess == bool(truth)
    price = run.loss if loss is None and isinstance(run, Charged) else loss
    top = None if price is None else ceiling(price, flip=Flip.ONE_ROW, frequency=frequency)
    return Differencing(method, guess, found, len(texts), refused, right, None if refused else expected, top)


def difference_chance(noise: IntegerNoise, *, queries: int = 2, grid: Number = 1) -> float:
    """Return the chance of a right guess from sums and differences of `queries` counts with independent noise.

    `grid` is the unit of the noise, in people: 1, or one over a power of two (a session's counts have 2^-20).

    Accuracy. (1 + P(|W| < N/2) + P(W = N/2))/2 for the sum W of `queries` noises and N = 1/grid, which is (1 + P(W =
        0))/2 for N = 1; to seven digits, in floating point.
        Proof: that of `differencing`, W being a signed sum of independent symmetric noises, whose signs do not matter.
        In units of the noise the answers add up to W or N + W and the guess is 1 above N/2, so it is right for a 0 if
        W <= N/2 and for a 1 if W > -N/2; the chances of these two add up to 1 + P(|W| < N/2) + P(W = N/2). Of noise of
        a large scale b only every h-th place is summed, h <= b/1000: the trapezoidal rule errs by a relative (h/b)^2,
        and so does the height at 0 for the mean over N/2 < h places on either side.

    >>> from discreet.laws import DiscreteLaplace
    >>> (
    ...     round(difference_chance(DiscreteLaplace(1)), 3),
    ...     round(difference_chance(DiscreteLaplace(20)), 3),
    ... )
    (0.64, 0.506)
    """
    count, half = whole(queries, name="queries"), _half(grid)
    if noise.scale > _WIDEST:
        raise ParameterError("noise is too wide to leave anything: a scale of at most 2^54", parameter="noise")
    step = 1 << max(int(noise.scale / _FINEST).bit_length() - 1, 0)
    reach = int(_REACH * float(noise.scale) / step * count**0.5) + 40
    length = 1 << (2 * max(reach, half // step)).bit_length()
    places = step * (np.arange(length) - length // 2)
    one = step * np.fft.ifftshift(np.asarray(noise.pmf(places + noise.center), dtype=np.float64))
    mass = np.fft.irfft(np.fft.rfft(one) ** count, n=length)
    inner = half // step
    near = mass[0] + 2 * mass[1:inner].sum() + mass[inner] if inner else mass[0] * max(2 * half, 1) / step
    return min(float((1 + near) / 2), 1.0)


def _half(grid: Number) -> int:
    """Return half a person in units of the noise, 0 if the noise is of whole people."""
    units = 1 / positive_rational(grid, name="grid")
    if units.denominator != 1 or units.numerator.bit_count() != 1:
        raise ParameterError("grid must be 1 or one over a power of two", parameter="grid")
    return units.numerator // 2


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
    frequency: Number = 0.5,
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
    >>> found = tracker(
    ...     engine,
    ...     table="t",
    ...     secret="s = 1",
    ...     target="id = 4",
    ...     within="id < 6",
    ...     exact=True,
    ... )
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
    return judged(name, run, texts, signs, truth=truth, expected=stated, loss=loss, frequency=frequency)


def _individual(secret: str, target: str, within: str) -> _Question:
    """Return the name, the conditions and the signs of the individual tracker."""
    conditions = (f"({within}) AND (NOT ({target}) OR ({secret}))", f"({within}) AND NOT ({target})")
    return "individual tracker", conditions, (1, -1)


def _general(secret: str, target: str, pad: str) -> _Question:
    """Return the name, the conditions and the signs of the general tracker."""
    wanted = f"(({target}) AND ({secret}))"
    conditions = (f"{wanted} OR ({pad})", f"{wanted} OR NOT ({pad})", f"({pad})", f"NOT ({pad})")
    return "general tracker", conditions, (1, 1, -1, -1)
