"""The Fourier attack: a secret column of a million bits from as many counts, in a fraction of a second."""

from __future__ import annotations

import math
import time
from fractions import Fraction

from numpy.typing import ArrayLike

from discreet.attacks.asking.counting import Floats
from discreet.attacks.asking.targets import Ask, asked
from discreet.attacks.reconstructing.characters import Characters
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.laws.number import Number, round_down
from discreet.laws.walsh_hadamard import UNIT, rounding
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers.arguments import nonnegative, whole


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
