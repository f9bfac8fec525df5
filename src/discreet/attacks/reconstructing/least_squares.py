"""Reconstruction by least squares: a whole secret column from counts that are each about half of the people."""

from __future__ import annotations

import time

from numpy.typing import ArrayLike

from discreet.attacks.asking.targets import Ask, asked
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.attacks.reconstructing.weighing import Weighing
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss


def least_squares(
    ask: Ask,
    people: int,
    *,
    queries: int,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    share: Number = HALF,
) -> Reconstruction:
    """Ask the counts of a `Weighing` through one function, solve them by least squares and round to bits.

    `ask` is all that the attack sees of its target (`exact_answers`, `noisy_answers`, `sql_answers`, or your own). The
    owner of the table may give `truth`, to learn the share that was guessed right, and `loss`, the price of all answers
    together, to learn the `ceiling` for bits that are 1 with the chance `share`; the attack uses neither.

    Privacy. Answers of a price `loss` allow no attacker, this one included, a larger expected share than `ceiling`.
        Proof: every question counts rows with the bit 1, one row a person, and a person is in one block. So a flip adds
        or removes one counted row of one block: `Flip.ONE_ROW` of `ceiling`. (A person can count in N/2 of the N - 1
        questions only; the price of those alone gives a lower ceiling, that of all is what a ledger charges.)
    Accuracy. Exact answers give back every bit. Answers rounded to multiples of r err by at most r/2, so that at most 4
        r^2 people of a block are wrong, and answers with independent noise give `expected_fraction`.
        Proof: the theorem of `Weighing`, with E = 0 and with E = r/2.
    Cost. As many queries as stated, and a transform of milliseconds.
    Reference. Dinur, Nissim 2003; Dwork, McSherry, Talwar 2007; Dwork, Yekhanin 2008.

    >>> import numpy as np
    >>> from discreet.attacks import exact_answers
    >>> secret = np.arange(5040) % 7 < 3
    >>> least_squares(exact_answers(secret), 5040, queries=63, truth=secret).fraction
    1.0
    """
    started = time.perf_counter()
    design = Weighing(people=people, queries=queries)
    owner = Owner.of(design.people, truth, loss, share)
    estimates = design.estimate(asked(ask, design))
    return owner.judge(
        estimates, decoder="least squares", queries=design.queries, seconds=time.perf_counter() - started
    )
