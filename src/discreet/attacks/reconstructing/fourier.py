"""The Fourier attack: a secret column of a million bits from as many counts, in a fraction of a second.

The robust Fourier attack: a secret column from counts of which many are garbage, by least absolute residuals.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Ask, Floats, asked
from discreet.attacks.reconstructing.characters import Characters
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.laws.number import Number, round_down
from discreet.laws.walsh_hadamard import UNIT, rounding
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import nonnegative, whole


def fourier(  # noqa: PLR0913  one call, all by keyword: the design, what is known of the noise, what the owner knows
    ask: Ask,
    people: int,
    *,
    relabellings: int = 1,
    seed: int | None = None,
    error: Number | None = None,
    noise_variance: Number | None = None,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    share: Number = HALF,
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
        labelling adds an orthogonal map of its errors, 2/(r sqrt N) times as long, so that the estimates' errors are
        uncorrelated, and independent if the answers' errors are normal. Third, Berry and Esseen's theorem for a sum of
        independent terms, those with the sign - included.
    Cost. r N queries, N the least power of two above n; decoding is r transforms: 10 ms for a million people.
    Figure. fourier.svg
    Reference. Dwork, Yekhanin 2008; Dinur, Nissim 2003; Shevtsova 2010, for the constant 0.56.

    >>> import numpy as np
    >>> from discreet.attacks import exact_answers, noisy_answers
    >>> from discreet.attacks.asking.noise import malicious_noise
    >>> secret = np.arange(4095) % 7 < 3
    >>> fourier(exact_answers(secret), 4095, truth=secret).fraction
    1.0
    >>> found = fourier(noisy_answers(secret, malicious_noise(5, seed=1)), 4095, error=5, truth=secret)
    >>> 100 < found.wrong <= 16 * 5**2, round(found.floor, 3)
    (True, 0.902)
    """
    started = time.perf_counter()
    design = Characters(people=people, relabellings=relabellings, seed=seed)
    within = None if error is None else Fraction(nonnegative(error, name="error"))
    expected = None if noise_variance is None else recovered_share(noise_variance, queries=len(design))
    owner = Owner.of(design.people, truth, loss, share)
    answers = design.checked(asked(ask, design))
    return owner.judge(
        design.estimate(answers),
        decoder="Fourier",
        queries=len(design),
        expected=expected,
        floor=None if within is None else _certain(design, within, answers),
        seconds=time.perf_counter() - started,
    )


def recovered_share(noise_variance: Number, *, queries: int) -> float:
    """Return the chance of the Fourier attack to recover a bit from so many counts whose noise has this variance.

    >>> round(recovered_share(100.0**2 / 3, queries=2**16), 4)
    0.8662
    """
    variance = float(nonnegative(noise_variance, name="noise_variance"))
    return 1.0 if variance == 0 else math.erfc(-math.sqrt(whole(queries, name="queries") / variance / 2) / 4) / 2


def _certain(design: Characters, error: Fraction, answers: Floats) -> float | None:
    """Return the share that is certain when every answer is within `error` of the truth, or None where nothing is."""
    largest = max(float(answers.max()), -float(answers.min()))
    # each estimate is off by floating point by at most this: the transforms, and adding them up
    off = Fraction(2 * (rounding(design.size) + 2 * design.relabellings * UNIT) * largest)
    if 2 * off >= 1:
        return None
    wrong = math.floor(16 * error**2 / (1 - 2 * off) ** 2)
    return round_down(Fraction(design.people - wrong, design.people)) if wrong < design.people else None


_ROUNDS = 60
_RESCALE = 5  # rounds between two looks at the scale of the residuals
_PLAUSIBLE = 4.0  # medians of a residual
_POLISHING = 10


def robust_fourier(
    ask: Ask,
    people: int,
    *,
    relabellings: int,
    seed: int,
    rounds: int = _ROUNDS,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    share: Number = HALF,
) -> Reconstruction:
    """Ask the counts of `Characters`, find the column with the least absolute residuals, and average what fits it.

    Where a share of the answers is garbage, least squares (and `fourier` is least squares) spreads the garbage over
    everybody; the sum of absolute values forgives few large residuals. It needs more answers than people: 4 or more
    `relabellings`. `truth` and `loss` are those of `least_squares`.

    Privacy. Answers of a price `loss` allow no attacker, this one included, a larger expected share than `ceiling`.
        Proof: every query counts rows with the bit 1, one row a person: `Flip.ONE_ROW` of `ceiling`.
    Accuracy. The estimates start from a column in [0, 1]^n whose sum of absolute residuals is the least, up to a gap
        that `least_absolute` bounds, and go from there towards least squares over the answers within 4 median
        residuals of it.
        Proof: see `least_absolute` and `polished`. For queries with random normal weights the least sum survives a
        share below 0.239 of arbitrary answers (the reference); for these queries that is measured, not proven.
    Cost. 2 r transforms a round: half a second for 65,535 people and 4 relabellings.
    Figure. robust_fourier.svg
    Reference. Dwork, McSherry, Talwar 2007, for the decoder; Boyd et al. 2011, for alternating directions.

    >>> from discreet.attacks import noisy_answers
    >>> from discreet.attacks.asking.noise import garbage, uniform_noise
    >>> secret = np.arange(4095) % 7 < 3
    >>> ask = noisy_answers(secret, garbage(0.1, seed=1, of=uniform_noise(6, seed=2)))
    >>> robust_fourier(ask, 4095, relabellings=4, seed=3, truth=secret).fraction
    1.0
    """
    started, rounds = time.perf_counter(), whole(rounds, name="rounds")
    design = Characters(people=people, relabellings=relabellings, seed=seed)
    owner = Owner.of(design.people, truth, loss, share)
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
    """Minimise the sum of absolute residuals |M u - y| over columns in [0, 1]^n, by alternating directions.

    M u is `Characters.times`, with the total as one more unknown between 0 and n.

    Accuracy. `distance` is what the estimates leave, and no column leaves less than `least`, up to floating point.
        Proof: a round solves, in turn, for residuals z that are shrunk towards 0 by t, for a column u, and adds what is
        left to d. As M'M = (r N / 4) I, the column nearest to given answers y + z - d within bounds is M'(y + z - d) /
        (r N / 4) clipped to them: no system is solved. After shrinking, p = d / t has |p| <= 1 everywhere, and for
        every u within bounds |M u - y| summed is at least p'(M u - y) = (M'p)'u - p'y, at least the sum of (M'p)_x over
        its negative entries, times the upper bound of u_x, less p'y. That is `least`; the largest of all rounds counts.
    Cost. 2 r transforms a round.

    >>> design = Characters(people=7, relabellings=4, seed=1)
    >>> answers = design.exact([1, 0, 1, 1, 0, 0, 0]).astype(float)
    >>> answers[3] += 100
    >>> fit = least_absolute(design, answers, rounds=200)
    >>> fit.column[1:].round(2).tolist(), round(fit.distance), round(fit.least)
    ([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 100, 100)
    """
    rounds = whole(rounds, name="rounds")
    highest = np.zeros(design.size)
    highest[1 : design.people + 1] = 1.0  # nobody has the places beyond
    highest[0] = design.people
    step = 4 / len(design)  # M'M is the identity divided by this
    column = np.clip(design.transposed(answers) * step, 0.0, highest)
    residuals = design.times(column) - answers
    shrinkage = _scale(residuals)
    dual, backward = np.zeros(len(design)), np.zeros(design.size)
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
