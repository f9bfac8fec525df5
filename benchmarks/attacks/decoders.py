"""Decoders side by side on the same secret bits, accuracy and seconds; columns from tables, and census blocks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.bars import Bar
from discreet.attacks import (
    AllSubsets,
    Reconstruction,
    Solver,
    block_tables,
    exact_answers,
    exhaustive,
    fourier,
    from_marginals,
    linear_program,
    noisy_answers,
    random_least_squares,
    reconstruct_block,
)
from discreet.attacks.asking.noise import Noise, uniform_noise
from discreet.attacks.census.tables import histogram_of
from discreet.data import census_block

PEOPLE, LEVEL, SEED = 512, 0.25, 2026
ERROR = LEVEL * math.sqrt(PEOPLE)
FEW, DRAWS = 12, 100
BLOCKS, IN_A_BLOCK = 20, 30
Integers = NDArray[np.int64]


def bars() -> Iterator[Bar]:
    """Return everything this piece measures."""
    yield from side_by_side()
    yield from few_people()
    yield from tables()
    yield blocks()


def side_by_side() -> Iterator[Bar]:
    """Run every decoder on 512 people whose counts carry uniform noise of a quarter of the square root of 512."""
    secret = np.random.default_rng(SEED).integers(0, 2, PEOPLE)
    variance, queries = ERROR**2 / 3, 2 * PEOPLE
    halves = {"queries": queries, "seed": SEED, "truth": secret}
    characters = {"noise_variance": variance, "error": ERROR, "truth": secret}
    runs: dict[str, Callable[[], Reconstruction]] = {
        "LP, feasible": lambda: linear_program(noisy(secret), PEOPLE, error=ERROR, **halves),
        "LP, least absolute errors": lambda: linear_program(noisy(secret), PEOPLE, **halves),
        "least squares, dense": lambda: random_least_squares(
            noisy(secret), PEOPLE, noise_variance=variance, **halves
        ),
        "least squares, iterative in the box": lambda: random_least_squares(
            noisy(secret), PEOPLE, solver=Solver.ITERATIVE, **halves
        ),
        "Fourier, all but one of them": lambda: fourier(
            noisy(secret[1:]), PEOPLE - 1, **characters | {"truth": secret[1:]}
        ),  # the place of one stays empty: with a person less, half of the queries are enough
        "Fourier": lambda: fourier(noisy(secret), PEOPLE, **characters),
    }  # fmt: skip
    for name, run in runs.items():
        found = run()
        share, about = found.recovered or 0.0, f"{found.queries:,} queries"
        if found.expected is None:
            bar, met = ">= .85", share >= 0.85
        else:
            margin = 4 * math.sqrt(found.expected * (1 - found.expected) / PEOPLE)
            bar, met = f"{found.expected:.4f} +- {margin:.4f}", abs(share - found.expected) <= margin
        yield Bar(f"{PEOPLE} people, c = {LEVEL}, {name}, {about}", f"{share:.4f} in {found.seconds:.3f} s", bar, met)


def noisy(secret: Integers) -> Callable[..., NDArray[np.float64]]:
    """Return a toy curator with uniform noise, the same for everybody who asks the same number of queries."""
    return noisy_answers(secret, uniform_noise(ERROR, seed=SEED + 1))


def few_people() -> Iterator[Bar]:
    """Run the exponential attack on 12 people, with errors at random and with errors that pull to another column."""
    for error in (1, 2):
        random = np.random.default_rng(error)
        wrong, seconds = 0, 0.0
        for _ in range(DRAWS):
            secret = random.integers(0, 2, FEW)
            for noise in (uniform_noise(error, seed=int(random.integers(2**31))), pulled(secret, error, random)):
                found = exhaustive(noisy_answers(secret, noise), FEW, error=error, truth=secret)
                wrong, seconds = max(wrong, found.wrong or 0), max(seconds, found.seconds)
        what = f"{FEW} people, all {2**FEW:,} subsets, E = {error}, {2 * DRAWS} draws, half of them malicious"
        yield Bar(what, f"{wrong} wrong at most, {1000 * seconds:.0f} ms", f"<= {4 * error} wrong", wrong <= 4 * error)


def pulled(secret: Integers, error: float, random: np.random.Generator) -> Noise:
    """Return errors within a bound that pull every answer towards another column, 4 E bits away."""
    other = secret.copy()
    for value in (0, 1):
        places = random.permutation(np.flatnonzero(secret == value))
        other[places[: int(2 * error)]] = 1 - value
    towards = AllSubsets(people=FEW).exact(other)
    return lambda counts: counts + np.clip(towards - np.asarray(counts), -error, error)


def tables() -> Iterator[Bar]:
    """Reconstruct 2000 people from all two-way tables of their public attributes by the secret bit."""
    random = np.random.default_rng(SEED)
    people = 2000
    secret = random.integers(0, 2, people)
    for attributes, error, least in (
        (30, 0.0, None),
        (45, 0.0, 0.999),
        (50, 0.0, 0.999),
        (60, 0.0, 0.999),
        (60, 2.0, 0.99),
    ):
        public = random.integers(0, 2, (people, attributes))
        ask = noisy_answers(secret, uniform_noise(error, seed=SEED)) if error else exact_answers(secret)
        found = from_marginals(ask, public, truth=secret)
        share = found.recovered or 0.0
        what = f"tables of {people:,} people, {attributes} attributes, {found.queries:,} counts, error {error:g}"
        measured = f"{share:.4f} in {found.seconds:.2f} s"
        yield Bar(what, measured) if least is None else Bar(what, measured, f">= {least}", share >= least)


def blocks() -> Bar:
    """Prove what can be proven about invented blocks, and compare every claim with the truth."""
    started, proven, matched, false = time.perf_counter(), 0, 0, 0
    for seed in range(BLOCKS):
        block = census_block(IN_A_BLOCK, seed=seed)
        truth = histogram_of(block)
        found = reconstruct_block(block_tables(block), truth=block)
        proven, matched = proven + found.proven, matched + (found.matched or 0)
        false += int(np.maximum(found.least - truth, 0).sum())
        false += int((truth[found.certain] != found.least[found.certain]).sum())
    seconds = (time.perf_counter() - started) / BLOCKS
    everybody = BLOCKS * IN_A_BLOCK
    measured = f"{proven} of {everybody} proven, {false} false; one solution has {matched} right; {seconds:.2f} s each"
    return Bar(f"{BLOCKS} census blocks of {IN_A_BLOCK} people", measured, "no false claim", false == 0)
