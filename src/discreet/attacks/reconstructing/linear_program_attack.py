"""Reconstruction by linear programming: bits that fit random counts, within a bound or by least absolute errors."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Ask, Floats, asked
from discreet.attacks.reconstructing.certainty import certain_fraction, distance_of_fit, least_eigenvalue
from discreet.attacks.reconstructing.result import HALF, Owner, Reconstruction
from discreet.attacks.reconstructing.subsets import RandomSubsets, SubsetQueries
from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import nonnegative

_SOLVED, _INFEASIBLE = 0, 2  # what the solver says of its end
_MOST_ENTRIES = 2**25  # of a dense program: beyond that a solver takes hours
_SLACK = 1e-9  # by which a float within the bound may seem to lie outside


def linear_program(
    ask: Ask,
    people: int,
    *,
    queries: int,
    seed: int,
    error: Number | None = None,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    frequency: Number = HALF,
) -> Reconstruction:
    """Ask `RandomSubsets`, find numbers in [0, 1] that fit the answers by a linear program, and round them to bits.

    With `error` E the numbers must fit every answer within E: the polynomial adversary of Dinur and Nissim. Without it
    their sum of absolute errors is the least possible, which a share of arbitrary answers does not disturb: the
    decoder of Dwork, McSherry and Talwar. `truth`, `loss` and `frequency` are the owner's, as in `least_squares`.

    Accuracy. With `error`, if all answers are within E of the truth, at most 16 m E^2 / lambda bits are wrong for m
        queries, lambda being the least eigenvalue of A'A; `floor` is the share that is certain, if any is.
        Proof: the estimate's answers are within E of those given, and these within E of the true ones, so that they are
        at most 2 E sqrt(m) apart in Euclidean distance; then the theorem of `certain_fraction`.
    Cost. Minutes for a thousand people: least squares and the Fourier attack do better under honest noise.
    Figure. decoders.svg
    Reference. Dinur, Nissim 2003; Dwork, McSherry, Talwar 2007; the solver is HiGHS (Huangfu, Hall 2018).

    >>> import numpy as np
    >>> from discreet.attacks import noisy_answers
    >>> secret = np.arange(40) % 3 == 0
    >>> lies = np.where(
    ...     np.arange(240) % 10 == 0, 25, 0
    ... )  # every tenth answer is off by 25
    >>> ask = noisy_answers(secret, lambda counts: counts + lies)
    >>> linear_program(ask, 40, queries=240, seed=1, truth=secret).recovered
    1.0

    Raises:
        InputError: no numbers in [0, 1] fit all answers within `error`.
    """
    started = time.perf_counter()
    design = RandomSubsets(people=people, queries=queries, seed=seed)
    owner = Owner.of(design.people, truth, loss, frequency)
    bound = None if error is None else float(nonnegative(error, name="error"))
    refuse_large(design)
    answers = design.checked(asked(ask, design))
    matrix = design.matrix().astype(np.float64)
    estimates = least_absolute(matrix, answers) if bound is None else feasible(matrix, answers, bound)
    seconds = time.perf_counter() - started
    floor = None
    if bound is not None:
        distance = distance_of_fit(matrix @ estimates - answers, bound)
        floor = certain_fraction(design.people, distance=distance, eigenvalue=least_eigenvalue(matrix.T @ matrix))
    decoder = "least absolute errors" if bound is None else "linear program"
    return owner.judge(estimates, decoder=decoder, queries=len(design), seconds=seconds, floor=floor)


def refuse_large(design: SubsetQueries) -> None:
    """Refuse a program that no solver finishes in a sensible time."""
    if design.people * len(design) > _MOST_ENTRIES:
        raise ParameterError(
            f"a linear program of {len(design):,} queries about {design.people:,} people takes too long; ask fewer "
            "queries, or take random_least_squares or the Fourier attack",
            parameter="queries",
        )


def feasible(matrix: Floats, answers: Floats, error: float) -> Floats:
    """Return numbers in [0, 1] whose counts are within an error of all answers; raise if there are none."""
    from scipy.optimize import linprog

    reach = error + _SLACK
    found = linprog(
        np.zeros(matrix.shape[1]),
        A_ub=np.concatenate([matrix, -matrix]),
        b_ub=np.concatenate([answers + reach, reach - answers]),
        bounds=(0, 1),
        method="highs-ipm",
    )
    if found.status == _INFEASIBLE:
        raise InputError(
            f"no numbers in [0, 1] fit all {len(answers):,} answers within {error:g}: at least one answer is further "
            "off. Raise error=, or leave it out to find the least sum of absolute errors"
        )
    return _solution(found)


def least_absolute(matrix: Floats, answers: Floats) -> Floats:
    """Return numbers in [0, 1] whose counts have the least sum of absolute distances from the answers."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    queries, people = matrix.shape
    one = eye_array(queries)
    # a distance is the sum of two parts that are not negative, by which the count is too large or too small
    found = linprog(
        np.concatenate([np.zeros(people), np.ones(2 * queries)]),
        A_eq=hstack([csr_array(matrix), -one, one]),
        b_eq=answers,
        bounds=[(0, 1)] * people + [(0, None)] * (2 * queries),
        method="highs-ipm",
    )
    return _solution(found)[:people]


def _solution(found: object) -> Floats:
    """Return what the solver found, in the box that its tolerance lets it leave by a little."""
    if getattr(found, "status", None) != _SOLVED:
        raise InputError(f"the solver found no answer: {getattr(found, 'message', '')}. Ask fewer queries")
    return np.clip(np.asarray(found.x, dtype=np.float64), 0.0, 1.0)  # type: ignore[attr-defined]
