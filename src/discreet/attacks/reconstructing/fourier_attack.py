"""The Fourier attack: a secret column of a million bits from as many counts, in a fraction of a second.

Its queries count over the sets that the characters of bit strings cut the people into; where many answers are garbage,
its robust form decodes them by least absolute residuals.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Ask, Bits, CountingQueries, Floats, Integers, asked, named, numbers_of, secret_bits
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.data.invention import coins as invented_coins
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import Number, round_down
from discreet.laws.walsh_hadamard import UNIT, rounding, walsh_hadamard
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import nonnegative, whole

_ROUNDS = 60
_RESCALE = 5  # rounds between two looks at the scale of the residuals
_PLAUSIBLE = 4.0  # medians of a residual
_POLISHING = 10
_MOST_QUERIES = 2**28  # two gibibytes of answers
_MOST_SEED = 2**63 - 1
_MOST_RELABELED_IN_SQL = 2**20  # the product of a place and its factor stays below 2^63
MOST_PEOPLE = 2**24 - 1


def fourier(  # noqa: PLR0913  one call, all by keyword: the design, what is known of the noise, what the owner knows
    ask: Ask,
    people: int,
    *,
    relabelings: int = 1,
    seed: int | None = None,
    error: Number | None = None,
    noise_variance: Number | None = None,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    frequency: Number = HALF,
) -> Reconstruction:
    """Ask the counts of `Characters` through one function, transform them back and round to bits.

    `ask` is all that the attack sees of its target. Who knows that all answers are within `error` of the truth learns
    the share that is certain to be right, and who knows the variance of their noise the share to expect. The owner of
    the table may give `truth` and `loss`, as for `least_squares`.

    Privacy. Answers of a price `loss` allow no attacker, this one included, a larger expected share than `ceiling`.
        Proof: every query counts rows with the bit 1, one row a person: `Flip.ONE_ROW` of `ceiling`.
    Accuracy. If all answers are within E of the truth, at most 16 E^2 people are recovered wrongly, however the errors
        were chosen: `floor` is 1 - 16 E^2 / n. If the errors are independent normal with the variance v, everybody is
        recovered with the chance Phi(sqrt(r N) / (4 sqrt v)), `expected`, independently of all others. For any other
        independent errors with mean 0, that variance and E|e|^3 <= k v^(3/2) the chance differs by at most 0.56 k /
        sqrt(r N).
        Proof: the first is the theorem of `Characters`; there, wrong bits are off by 1/2 less the rounding of floats,
        which `floor` takes into account. Second, an estimate is off by the mean over r N answers of twice their errors
        with signs, of variance 4 v / (r N); for one bit it must exceed 1/2, sqrt(r N) / (4 sqrt v) deviations. A
        labeling adds an orthogonal map of its errors, 2/(r sqrt N) times as long, so that the estimates' errors are
        uncorrelated, and independent if the answers' errors are normal. Third, Berry and Esseen's theorem for a sum of
        independent terms, those with the sign - included.
    Cost. r N queries, N the least power of two above n; decoding is r transforms: 10 ms for a million people.
    Figure. fourier.svg
    Reference. Dwork, Yekhanin 2008; Dinur, Nissim 2003; Shevtsova 2010, for the constant 0.56.

    >>> import numpy as np
    >>> from discreet.attacks import exact_answers, noisy_answers
    >>> from discreet.attacks.asking.noise import malicious_noise
    >>> secret = np.arange(4095) % 7 < 3
    >>> fourier(exact_answers(secret), 4095, truth=secret).recovered
    1.0
    >>> found = fourier(
    ...     noisy_answers(secret, malicious_noise(5, seed=1)),
    ...     4095,
    ...     error=5,
    ...     truth=secret,
    ... )
    >>> 100 < found.wrong <= 16 * 5**2, round(found.floor, 3)
    (True, 0.902)
    """
    started = time.perf_counter()
    design = Characters(people=people, relabelings=relabelings, seed=seed)
    within = None if error is None else Fraction(nonnegative(error, name="error"))
    expected = None if noise_variance is None else recovered_fraction(noise_variance, queries=len(design))
    owner = Owner.of(design.people, truth, loss, frequency)
    answers = design.checked(asked(ask, design))
    return owner.judge(
        design.estimate(answers),
        decoder="Fourier",
        queries=len(design),
        expected=expected,
        floor=None if within is None else _certain(design, within, answers),
        seconds=time.perf_counter() - started,
    )


def recovered_fraction(noise_variance: Number, *, queries: int) -> float:
    """Return the chance of the Fourier attack to recover a bit from `queries` counts whose noise has this variance.

    >>> round(recovered_fraction(100.0**2 / 3, queries=2**16), 4)
    0.8662
    """
    variance = float(nonnegative(noise_variance, name="noise_variance"))
    return 1.0 if variance == 0 else math.erfc(-math.sqrt(whole(queries, name="queries") / variance / 2) / 4) / 2


def _certain(design: Characters, error: Fraction, answers: Floats) -> float | None:
    """Return the share that is certain when every answer is within `error` of the truth, or None where nothing is."""
    largest = max(float(answers.max()), -float(answers.min()))
    # each estimate is off by floating point by at most this: the transforms, and adding them up
    off = Fraction(2 * (rounding(design.length) + 2 * design.relabelings * UNIT) * largest)
    if 2 * off >= 1:
        return None
    wrong = math.floor(16 * error**2 / (1 - 2 * off) ** 2)
    return round_down(Fraction(design.people - wrong, design.people)) if wrong < design.people else None


def robust_fourier(
    ask: Ask,
    people: int,
    *,
    relabelings: int,
    seed: int,
    rounds: int = _ROUNDS,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    frequency: Number = HALF,
) -> Reconstruction:
    """Ask the counts of `Characters`, find the column with the least absolute residuals, and average what fits it.

    Where a share of the answers is garbage, least squares (and `fourier` is least squares) spreads the garbage over
    everybody; the sum of absolute values forgives few large residuals. It needs more answers than people: 4 or more
    `relabelings`. `truth` and `loss` are those of `least_squares`.

    Privacy. Answers of a price `loss` allow no attacker, this one included, a larger expected share than `ceiling`.
        Proof: every query counts rows with the bit 1, one row a person: `Flip.ONE_ROW` of `ceiling`.
    Accuracy. The estimates start from a column in [0, 1]^n whose sum of absolute residuals is the least, up to a gap
        that `least_absolute` bounds, and go from there towards least squares over the answers within 4 median
        residuals of it.
        Proof: see `least_absolute` and `polished`. For queries with random normal weights the least sum survives a
        share below 0.239 of arbitrary answers (the reference); for these queries that is measured, not proven.
    Cost. 2 r transforms a round: half a second for 65,535 people and 4 relabelings.
    Figure. robust_fourier.svg
    Reference. Dwork, McSherry, Talwar 2007, for the decoder; Boyd et al. 2011, for alternating directions.

    >>> from discreet.attacks import noisy_answers
    >>> from discreet.attacks.asking.noise import garbage, uniform_noise
    >>> secret = np.arange(4095) % 7 < 3
    >>> ask = noisy_answers(secret, garbage(0.1, seed=1, of=uniform_noise(6, seed=2)))
    >>> robust_fourier(ask, 4095, relabelings=4, seed=3, truth=secret).recovered
    1.0
    """
    started, rounds = time.perf_counter(), whole(rounds, name="rounds")
    design = Characters(people=people, relabelings=relabelings, seed=seed)
    owner = Owner.of(design.people, truth, loss, frequency)
    answers = design.checked(asked(ask, design))
    estimates = polished(design, answers, least_absolute(design, answers, rounds=rounds))[1 : design.people + 1]
    return owner.judge(estimates, decoder="robust Fourier", queries=len(design), seconds=time.perf_counter() - started)


@dataclass(frozen=True)
class AbsoluteFit:
    """A number a place, the residuals it leaves, and the least sum of absolute residuals that any column can leave."""

    column: Floats
    residuals: Floats
    least: float

    @property
    def distance(self) -> float:
        """The sum of absolute residuals."""
        return float(np.abs(self.residuals).sum())


def least_absolute(design: Characters, answers: Floats, *, rounds: int = _ROUNDS) -> AbsoluteFit:
    """Minimize the sum of absolute residuals |M u - y| over columns in [0, 1]^n, by alternating directions.

    M u is `Characters.times`, with the total as one more unknown between 0 and n.

    Accuracy. `distance` is what the estimates leave, and no column leaves less than `least`, up to floating point.
        Proof: a round solves, in turn, for residuals z that are shrunk towards 0 by t, for a column u, and adds what is
        left to d. As M'M = (r N / 4) I, the column nearest to given answers y + z - d within bounds is M'(y + z - d) /
        (r N / 4) clipped to them: no system is solved. After shrinking, p = d / t has |p| <= 1 everywhere, and for
        every u within bounds |M u - y| summed is at least p'(M u - y) = (M'p)'u - p'y, at least the sum of (M'p)_x over
        its negative entries, times the upper bound of u_x, less p'y. That is `least`; the largest of all rounds counts.
    Cost. 2 r transforms a round.

    >>> design = Characters(people=7, relabelings=4, seed=1)
    >>> answers = design.exact([1, 0, 1, 1, 0, 0, 0]).astype(float)
    >>> answers[3] += 100
    >>> fit = least_absolute(design, answers, rounds=200)
    >>> fit.column[1:].round(2).tolist(), round(fit.distance), round(fit.least)
    ([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 100, 100)
    """
    rounds = whole(rounds, name="rounds")
    highest = np.zeros(design.length)
    highest[1 : design.people + 1] = 1.0  # nobody has the places beyond
    highest[0] = design.people
    step = 4 / len(design)  # M'M is the identity divided by this
    column = np.clip(design.transposed(answers) * step, 0.0, highest)
    residuals = design.times(column) - answers
    shrinkage = _scale(residuals)
    dual, backward = np.zeros(len(design)), np.zeros(design.length)
    least = 0.0
    for count in range(1, rounds + 1):
        dual = np.clip(residuals + dual, -shrinkage, shrinkage)
        before, backward = backward, design.transposed(dual)
        # the value of the dual problem at d / t; sums, as products of vectors would start threads
        bound = np.sum(np.minimum(backward, 0.0) * highest) - np.sum(dual * answers)
        least = max(least, float(bound) / shrinkage)
        # M'(y + z - d) without another transform: M' of the residuals is known from the column they belong to
        column = np.clip(column + step * (before - 2 * backward), 0.0, highest)
        residuals = design.times(column) - answers
        if count % _RESCALE == 0:
            # p = d / t stays what it is
            smaller = min(shrinkage, _scale(residuals))
            dual *= smaller / shrinkage
            backward *= smaller / shrinkage
            shrinkage = smaller
    return AbsoluteFit(column, residuals, least)


def polished(design: Characters, answers: Floats, fit: AbsoluteFit) -> Floats:
    """Take ten steps from the fit towards the least-squares column for the answers that the fit finds plausible.

    An answer is plausible if its residual is at most 4 medians of all. Absolute residuals tell garbage from noise, and
    squares average noise best. With all answers plausible one step would be enough, as M'M is a multiple of the
    identity; what is missing slows the descent down.
    """
    kept = np.abs(fit.residuals) <= _PLAUSIBLE * _scale(fit.residuals)
    column = fit.column
    for _ in range(_POLISHING):
        column = column - 4 / len(design) * design.transposed(kept * (design.times(column) - answers))
    return column


def _scale(residuals: Floats) -> float:
    """Return the median size of residuals: what is garbage must not set the scale."""
    return max(float(np.median(np.abs(residuals))), 2.0**-20)


@dataclass(frozen=True)
class Characters(CountingQueries):
    """N = 2^k queries about at most N - 1 people: query a counts those whose place has an even parity with a.

    Person i, from 0, has the place i + 1; nobody has the place 0. Query a, from 0 to N - 1, counts the people with the
    secret bit 1 whose place x has an even number of ones in the binary form of a AND x. So query 0 counts everybody,
    and every other half of the places. With more `relabelings` the N queries are asked again about people who have
    changed places, x becoming x (m + c x) mod N for a public odd m and even c from the seed, another pair each time.

    Accuracy. If u holds the total of all bits at the place 0 and the bits s at their places, the answers of one
        labeling are W u / 2 with W the matrix of signs (-1)^parity(a AND x), and W W = N I. If all answers are within
        E of the truth, at most 16 E^2 people are recovered wrongly, whatever the errors are: none when E < 1/4.
        Proof: a person is counted in query a with the weight (1 + W_ax)/2, and the sum of s/2 is the first term of W u
        / 2, the place 0 having the sign + everywhere. Two columns of W agree in half of the rows. So answers W u / 2 +
        e give (2/N) W y = u + (2/N) W e, and the squares of (2/N) W e add up to (4/N) |e|^2 <= 4 E^2. The mean over
        labelings of such vectors, people put back into their places, is no longer than the longest. A bit that is
        rounded wrongly is off by 1/2 at least and contributes at least 1/4.
        A relabeling permutes places and keeps 0: (x - y)(m + c (x + y)) is a multiple of N only if x - y is, the other
        factor being odd.
    Cost. 16 N additions a labeling and 4 bits of a place, by `walsh_hadamard`; with one labeling estimates are off by
        floating point by at most 2 `rounding(N)` times the largest answer: below 10^-7 for counts of a million people.
    Reference. Dwork, Yekhanin 2008. Charging the error of the total to every person would give 36 E^2.

    >>> design = Characters(people=6)
    >>> len(design), design.exact([1, 0, 0, 1, 1, 0]).tolist()
    (8, [3, 1, 3, 1, 1, 1, 1, 1])
    >>> design.decode([3, 1, 3, 1, 1, 1, 1, 1]).tolist()
    [1, 0, 0, 1, 1, 0]
    >>> print(design.text(5, {"table": "patients", "secret": "marker", "person": "id"}))
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND ((((id + 1) >> 0) +
        ((id + 1) >> 2)) & 1) = 0
    """

    people: int
    relabelings: int = 1
    seed: int | None = None

    def __post_init__(self) -> None:
        people = whole(self.people, name="people")
        if people > MOST_PEOPLE:
            raise ParameterError(f"people must be at most {MOST_PEOPLE:,}, got {people:,}", parameter="people")
        object.__setattr__(self, "people", people)
        relabelings = whole(self.relabelings, name="relabelings")
        most = min(_MOST_QUERIES // self.length, (self.length // 2) ** 2)
        if relabelings > most:
            words = f"relabelings must be at most {most:,} for {people:,} people, got {relabelings:,}"
            raise ParameterError(words, parameter="relabelings")
        object.__setattr__(self, "relabelings", relabelings)
        if self.seed is None:
            if relabelings > 1:
                raise MissingParameter("more than one labeling of people is drawn: pass seed=", parameter="seed")
            return
        whole_seed = isinstance(self.seed, Integral) and not isinstance(self.seed, bool)
        if not whole_seed or not 0 <= self.seed <= _MOST_SEED:
            raise ParameterError(f"seed must be a whole number from 0 to {_MOST_SEED:,}", parameter="seed")
        object.__setattr__(self, "seed", int(self.seed))

    @property
    def length(self) -> int:
        """N, the number of places and of queries of one labeling: the least power of two above the people."""
        return 1 << self.people.bit_length()

    @cached_property
    def factors(self) -> tuple[tuple[int, int], ...]:
        """The pairs (m, c) of the labelings, in order and all different; (1, 0) leaves people where they are."""
        coins = invented_coins(self.seed or 0)  # one labeling needs none, and more have a seed
        drawn = {(1, 0): None}  # in the order of drawing
        while len(drawn) < self.relabelings:
            pairs = coins.integers(0, self.length // 2, (self.relabelings - len(drawn), 2)).tolist()
            drawn |= {(2 * odd + 1, 2 * even): None for odd, even in pairs}
        return tuple(drawn)

    def __len__(self) -> int:
        return self.relabelings * self.length

    def places(self) -> Iterator[Integers]:
        """Return, one labeling after the other, where each place goes."""
        start = np.arange(self.length)
        for odd, even in self.factors:
            # beyond 2^63 products wrap around modulo 2^64, of which N is a divisor
            yield start * (odd + even * start) & (self.length - 1)

    def exact(self, secret: ArrayLike) -> Integers:
        """Return the true answers, labeling after labeling."""
        unknown = np.zeros(self.length)
        unknown[1 : self.people + 1] = secret_bits(secret, self.people)
        unknown[0] = unknown.sum()
        return self.times(unknown).astype(np.int64)  # half of even numbers

    def texts(self, names: Mapping[str, str]) -> Iterator[str]:
        """Return the queries as SQL over a table with one row a person; `names` gives table, secret and person.

        `person` is an INTEGER or BIGINT, a column or an expression in public columns, that numbers people from 0.
        Addition, multiplication, shifts and a bitwise AND are enough: the lowest bit of a sum is the parity of the
        lowest bits. No text comes twice, not even that of everybody in other places: who answers by the text, as a
        session does, would answer with the same noise.
        """
        return (self.text(number, names) for number in range(len(self)))

    def text(self, number: int, names: Mapping[str, str]) -> str:
        """Return one query as SQL, by its number from 0; `names` are those of `texts`."""
        table, secret, person = named(names, "table", "secret", "person")
        if not 0 <= number < len(self):
            raise InputError(f"the number of a query must be from 0 to {len(self) - 1:,}")
        place = f"({person} + 1)" if person.isidentifier() else f"(({person}) + 1)"
        odd, even = self.factors[number // self.length]
        if (odd, even) != (1, 0):
            if self.length > _MOST_RELABELED_IN_SQL:
                words = f"in SQL at most {_MOST_RELABELED_IN_SQL - 1:,} people change places; ask with relabelings=1"
                raise ParameterError(words, parameter="relabelings")
            wide = f"CAST({place} AS BIGINT)"
            place = f"({wide} * ({odd} + {even} * {wide}))"
        query = number % self.length
        shifts = [f"({place} >> {bit})" for bit in range(query.bit_length()) if query >> bit & 1]
        parity = " + ".join(shifts) if len(shifts) < 2 else f"({' + '.join(shifts)})"
        counted = f" AND ({parity} & 1) = 0" if shifts else f" AND ({place} & 0) = 0" if number else ""
        # the attacker writes this text and may write any other: what guards a table is who answers it
        return f"SELECT COUNT(*) AS people FROM {table} WHERE {secret} = 1{counted}"  # noqa: S608

    def times(self, unknown: Floats) -> Floats:
        """Return the answers that belong to a number a place, the total at the place 0: W u / 2 in every labeling."""
        answers = np.empty((self.relabelings, self.length))
        moved = np.empty(self.length)
        for row, place in zip(answers, self.places(), strict=True):
            moved[place] = unknown
            row[:] = walsh_hadamard(moved)
        answers *= 0.5
        return answers.reshape(-1)

    def transposed(self, answers: Floats) -> Floats:
        """Return, a number a place, the sum of half of the answers with the signs of that place."""
        if self.relabelings == 1:
            return 0.5 * walsh_hadamard(answers)
        total = np.zeros(self.length)
        for row, place in zip(answers.reshape(self.relabelings, self.length), self.places(), strict=True):
            total += walsh_hadamard(row)[place]
        return 0.5 * total

    def checked(self, answers: ArrayLike) -> Floats:
        """Return answers as one finite number a query."""
        wanted = f"answers must be one number for each of {len(self):,} queries"
        return numbers_of(answers, (len(self),), wanted=wanted)

    def estimate(self, answers: ArrayLike) -> Floats:
        """Return the estimate of every person's bit, not yet rounded: the least-squares solution, total unknown."""
        found = self.transposed(self.checked(answers))[1 : self.people + 1]
        found *= 4 / len(self)  # a power of two for one labeling: nothing is rounded
        return found

    def decode(self, answers: ArrayLike) -> Bits:
        """Return every person's bit: 1 where the estimate exceeds 1/2."""
        return (self.estimate(answers) > 0.5).astype(np.int8)
