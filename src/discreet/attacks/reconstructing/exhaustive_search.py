"""Reconstruction by exhaustive search: the column that fits the answers about all subsets of a few people best."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Ask, Floats, asked
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.attacks.reconstructing.subsets import AllSubsets
from discreet.errors import InputError
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import nonnegative

_ROUNDING = 1e-9  # by which a sum of a few floats can be off, and much more


def exhaustive(
    ask: Ask,
    people: int,
    *,
    error: Number,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    frequency: Number = HALF,
) -> Reconstruction:
    """Ask about all 2^n subsets of n people, and take the column whose worst answer is least wrong.

    `error` is E, the most by which any answer is off. Every column with no answer off by more than E would do; the one
    that fits best is taken. `truth`, `loss` and `frequency` are the owner's, as in `least_squares`.

    Accuracy. If all answers are within E of the truth, whatever the errors are, and the column found fits them within
        E' <= E, at most 2 (E + E') <= 4 E bits are wrong: `floor` is the share that is certain.
        Proof: let T be the people whose bit is 1 and found to be 0. The answer about T is within E of |T| and within E'
        of 0, so |T| <= E + E'. In the same way for those whose bit is 0 and found to be 1: the answer is within E of 0
        and within E' of their number.
    Cost. n 2^n steps: how far column c is above the answers, max over the sets a of |a AND c| - y_a, is found for all c
        at once, one person at a time. Of the sets that agree on the people still to come the larger of y and y' + c_i
        is kept, which halves the sets and doubles the columns.
    Figure. decoders.svg
    Reference. Dinur, Nissim 2003, the exponential adversary.

    >>> import numpy as np
    >>> from discreet.attacks import noisy_answers
    >>> secret = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1])
    >>> wrong_by_one = noisy_answers(
    ...     secret, lambda counts: counts + (-1) ** np.arange(4096)
    ... )
    >>> found = exhaustive(wrong_by_one, 12, error=1, truth=secret)
    >>> found.wrong <= 4, round(found.floor, 3)
    (True, 0.667)

    Raises:
        InputError: no column of bits fits all answers within `error`.
    """
    started = time.perf_counter()
    design = AllSubsets(people=people)
    bound = float(nonnegative(error, name="error"))
    owner = Owner.of(design.people, truth, loss, frequency)
    worst = misfit(design.checked(asked(ask, design)))
    best = int(worst.argmin())
    if worst[best] > bound + _ROUNDING:
        raise InputError(
            f"no column of {design.people} bits fits all {len(design):,} answers within {bound:g}; the best one is off "
            f"by {worst[best]:.3g}. Raise error= to what the answers may be off by"
        )
    wrong = int(min(2 * (bound + min(float(worst[best]), bound)) + _ROUNDING, design.people))
    return owner.judge(
        (best >> np.arange(design.people) & 1).astype(np.float64),
        decoder="exhaustive search",
        queries=len(design),
        seconds=time.perf_counter() - started,
        floor=(design.people - wrong) / design.people,
    )


def misfit(answers: Floats) -> Floats:
    """Return for every column c (its bits are those of the place) the most by which an answer is off if c is the truth.

    `answers` are those to `AllSubsets`, in order.

    >>> misfit(np.array([0.0, 1.0, 0.0, 1.0])).tolist()
    [1.0, 0.0, 1.0, 1.0]
    """
    people = len(answers).bit_length() - 1
    above = below = -answers
    for person in range(people):
        # axes: later people of the set, this person, earlier people who are already those of the column
        shape = (-1, 2, 1 << person)
        above, below = above.reshape(shape), below.reshape(shape)
        without, within = above[:, 0], above[:, 1]
        above = np.stack([np.maximum(without, within), np.maximum(without, within + 1)], axis=1)
        without, within = below[:, 0], below[:, 1]
        below = np.stack([np.minimum(without, within), np.minimum(without, within + 1)], axis=1)
    return np.maximum(above.ravel(), -below.ravel()) + 0.0  # minus zero is zero
