"""Reconstruction by least squares: a whole secret column from counts that are each about half of the people.

Of a weighing design by one transform; of random subsets by the normal equations, or by steps that never leave the box.
"""

from __future__ import annotations

import math
import time
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Ask, Floats, asked
from discreet.attacks.reconstructing.certainty import (
    certain_fraction,
    distance_of_fit,
    distance_of_projection,
    least_eigenvalue,
)
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.attacks.reconstructing.subsets import RandomSubsets
from discreet.attacks.reconstructing.weighing import Weighing
from discreet.display.result import told_by_name
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import nonnegative

MOST_DENSE = 5000
_MOST_STEPS = 100
_STILL = 1e-3  # no number moves by more: the steps end
_FARTHEST = 2.0**60  # from the mean of all answers
_BEYOND = 6.0  # standard deviations by which the largest singular value could exceed what is expected


def least_squares(
    ask: Ask,
    people: int,
    *,
    queries: int,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    frequency: Number = HALF,
) -> Reconstruction:
    """Ask the counts of a `Weighing` through one function, solve them by least squares and round to bits.

    `ask` is all that the attack sees of its target (`exact_answers`, `noisy_answers`, `sql_answers`, or your own). The
    owner of the table may give `truth`, to learn the share that was guessed right, and `loss`, the price of all answers
    together, to learn the `ceiling` for bits that are 1 with the chance `frequency`; the attack uses neither.

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
    >>> least_squares(exact_answers(secret), 5040, queries=63, truth=secret).recovered
    1.0
    """
    started = time.perf_counter()
    design = Weighing(people=people, queries=queries)
    owner = Owner.of(design.people, truth, loss, frequency)
    estimates = design.estimate(asked(ask, design))
    return owner.judge(
        estimates, decoder="least squares", queries=design.queries, seconds=time.perf_counter() - started
    )


@told_by_name
class Solver(Enum):
    """How the squares are minimized.

    `DENSE`: over all real columns, by the normal equations. `ITERATIVE`: over columns with numbers in [0, 1], by
    accelerated projected gradients, which keep one bit a person and query in memory.
    """

    DENSE = "normal equations"
    ITERATIVE = "projected gradients"


def random_least_squares(  # noqa: PLR0913  an attack is asked in one call: what it asks, what is known of the errors
    ask: Ask,
    people: int,
    *,
    queries: int,
    seed: int,
    solver: Solver = Solver.DENSE,
    error: Number | None = None,
    noise_variance: Number | None = None,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
) -> Reconstruction:
    """Ask `RandomSubsets`, find the column that fits the answers best in squares, and round it to bits.

    `error` is the most by which an answer is off, if that is known, and `noise_variance` the variance of independent
    errors with mean 0; they give `floor` and `expected` and do not change the guesses. `truth` and `loss` are the
    owner's, as in `least_squares`.

    Accuracy. If all m answers are within E of the truth, the dense solution has at most 4 m E^2 / lambda wrong bits,
        lambda being the least eigenvalue of A'A, and so has the best fit in [0, 1]. Steps that ended early have at most
        4 (R + E sqrt m)^2 / lambda, for residuals of length R. `floor` is the share that is certain, if any is; for
        more than 5000 people it is not computed. Independent errors of variance v leave an error of variance v
        (A'A)^-1_ii in the dense estimate of bit i: `expected` is the mean of Phi(1 / (2 sqrt(v (A'A)^-1_ii))), which
        takes a sum of many errors for normal.
        Proof: the theorem of `certain_fraction`, with the distances of `distance_of_projection` and `distance_of_fit`.
        The dense estimate is s + (A'A)^-1 A'e, of covariance v (A'A)^-1.
    Cost. Dense: m n^2 + n^3 / 3 steps, for at most 5000 people. Iterative: some 20 passes over m n bits; n = 10 000
        with m = 20 000 takes seconds.
    Figure. decoders.svg
    Reference. Dinur, Nissim 2003; Beck, Teboulle 2009, for the accelerated steps; O'Donoghue, Candes 2015, for their
        restarts.

    >>> import numpy as np
    >>> from discreet.attacks import noisy_answers
    >>> secret = np.arange(300) % 7 < 3
    >>> ask = noisy_answers(secret, lambda counts: 5 * np.round(counts / 5))
    >>> random_least_squares(ask, 300, queries=1500, seed=1, truth=secret).recovered
    1.0
    >>> random_least_squares(
    ...     ask, 300, queries=600, seed=1, solver=Solver.ITERATIVE, truth=secret
    ... ).recovered
    1.0
    """
    started = time.perf_counter()
    design = RandomSubsets(people=people, queries=queries, seed=seed)
    owner = Owner.of(design.people, truth, loss)
    bound = None if error is None else float(nonnegative(error, name="error"))
    variance = None if noise_variance is None else float(nonnegative(noise_variance, name="noise_variance"))
    if not isinstance(solver, Solver):
        raise ParameterError("solver must be Solver.DENSE or Solver.ITERATIVE", parameter="solver")
    if solver is Solver.DENSE:
        refuse_dense(design)
    answers = design.checked(asked(ask, design))
    gram = design.gram() if solver is Solver.DENSE else None
    expected = None
    if gram is None:
        estimates = projected_gradients(design, answers)
    else:
        estimates, inverse = normal_equations(gram, design.transposed(answers))
        expected = None if variance is None else expected_right(inverse, variance)
    seconds = time.perf_counter() - started
    floor = None if bound is None else _floor(design, answers, estimates, bound, gram)
    return owner.judge(
        estimates, decoder=f"least squares, {solver.value}", queries=len(design), seconds=seconds, expected=expected,
        floor=floor,
    )  # fmt: skip


def _floor(
    design: RandomSubsets, answers: Floats, estimates: Floats, error: float, gram: Floats | None
) -> float | None:
    """Return the share that is certain; with a Gram matrix the estimates are the best fit, up to rounding."""
    if gram is None and design.people > min(MOST_DENSE, len(design)):
        return None
    residuals = answers - design.times(estimates)
    eigenvalue = least_eigenvalue(design.gram() if gram is None else gram)
    if eigenvalue == 0:
        return None
    distance = distance_of_fit(residuals, error)
    if gram is not None:
        # the best fit b has A'(y - A b) = 0, so that |A (x - b)|^2 = g'(A'A)^-1 g with g = A'(y - A x)
        unsolved = float(np.linalg.norm(design.transposed(residuals))) / math.sqrt(eigenvalue)
        distance = min(distance, distance_of_projection(len(design), error) + unsolved)
    return certain_fraction(design.people, distance=distance, eigenvalue=eigenvalue)


def refuse_dense(design: RandomSubsets) -> None:
    """Refuse what the normal equations cannot solve."""
    if design.people > MOST_DENSE:
        raise ParameterError(
            f"the normal equations of {design.people:,} people take too much memory; take solver=Solver.ITERATIVE",
            parameter="solver",
        )
    if len(design) < design.people:
        raise ParameterError(
            f"{len(design):,} queries do not determine {design.people:,} numbers; ask at least as many queries as "
            "there are people, or take solver=Solver.ITERATIVE",
            parameter="queries",
        )


def normal_equations(gram: Floats, projected: Floats) -> tuple[Floats, Floats]:
    """Return the solution x of A'A x = A'y, and the inverse of A'A."""
    from scipy.linalg import cho_factor, cho_solve

    try:
        factor = cho_factor(gram, lower=True)
    except np.linalg.LinAlgError:
        raise ParameterError(
            "these queries do not tell everybody apart; ask more of them, or take another seed", parameter="queries"
        ) from None
    return np.asarray(cho_solve(factor, projected)), np.asarray(cho_solve(factor, np.eye(len(gram))))


def expected_right(inverse: Floats, variance: float) -> float:
    """Return the frequency of bits that errors of this variance are expected to leave right, from (A'A)^-1."""
    from scipy.special import ndtr

    if variance == 0:
        return 1.0
    return float(ndtr(0.5 / np.sqrt(variance * np.diag(inverse))).mean())


def projected_gradients(design: RandomSubsets, answers: Floats) -> Floats:
    """Return the column with numbers in [0, 1] that fits best, up to the mean of the answers.

    Every query holds about half of the people, so that the sum of a column moves all answers alike: one singular value
    is far above all others and would dictate tiny steps. Answers and queries are therefore taken less their means,
    which costs one of the m equations and brings the largest singular value down to about (sqrt m + sqrt n) / 2.
    """
    queries, people = len(design), design.people
    largest = (math.sqrt(queries) + math.sqrt(people) + _BEYOND) / 2
    mean = (design.transposed(np.ones(queries)) / queries - 0.5).astype(np.float32)
    # no honest answer is beyond this, and sums of what single precision holds must not leave it
    centered = np.clip(answers - answers.mean(), -_FARTHEST, _FARTHEST).astype(np.float32)
    current = np.full(people, 0.5, dtype=np.float32)
    ahead, momentum = current, 1.0
    for _ in range(_MOST_STEPS):
        slope = _gradient(design, centered, mean, ahead)
        moved = np.clip(ahead - slope / np.float32(largest**2), 0, 1)
        if float(np.abs(moved - current).max()) < _STILL:
            return moved.astype(np.float64)
        uphill = float((ahead - moved) @ (moved - current)) > 0
        following = 1.0 if uphill else (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + np.float32(0 if uphill else (momentum - 1) / following) * (moved - current)
        current, momentum = moved, following
    return current.astype(np.float64)


def _gradient(
    design: RandomSubsets, centered: NDArray[np.float32], mean: NDArray[np.float32], column: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return B'(B x - y) in one pass over the queries, B being the matrix less the mean of each of its columns."""
    half, shift = column.sum() / 2, mean @ column
    total = np.zeros(design.people, dtype=np.float32)
    residuals = np.float32(0)
    start = 0
    for part in design.parts():
        residual = part @ column - half - shift - centered[start : start + len(part)]
        start += len(part)
        sums = residual.sum()
        total += residual @ part - sums / 2
        residuals += sums
    return total - residuals * mean
