"""The bars of the Fourier attacks: time of decoding, share recovered against theory, garbage, and a real session."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.bars import Bar
from benchmarks.common.measure import in_turns
from discreet.attacks import (
    Characters,
    Flip,
    Reconstruction,
    ceiling,
    fourier,
    noisy_answers,
    recovered_fraction,
    robust_fourier,
    session_answers,
)
from discreet.attacks.asking.noise import garbage, malicious_noise, uniform_noise
from discreet.cli.attack.people import PERSON, SECRET, TABLE, counts_loss, invented_bits, secret_session, split

MILLION = 2**20 - 1
LEVELS = (0.1, 0.2, 0.25, 0.5, 1.0)
RHOS = (0.05, 0.5, 2.0, 8.0)
_SEED = 2026
_ROUNDS = 15


def bars() -> Iterator[Bar]:
    """Return every line of this piece."""
    yield decoding()
    yield from recovered()
    yield from malice()
    yield from robust()
    yield from relabeled()
    yield from sessions()


def decoding() -> Bar:
    """Time the whole decoding of a million people against one real Fourier transform of numpy, in turns."""
    secret = invented_bits(MILLION, seed=_SEED)
    design = Characters(people=MILLION)
    answers = noisy_answers(secret, uniform_noise(100, seed=_SEED))(design)
    sides = {"ours": lambda: design.decode(answers), "numpy": lambda: np.fft.rfft(answers)}
    best = in_turns({name: _timed(side) for name, side in sides.items()}, rounds=_ROUNDS)
    ratio = best["ours"] / best["numpy"]
    shown = f"{1000 * best['ours']:.1f} ms, numpy rfft {1000 * best['numpy']:.1f} ms: {ratio:.2f} x"
    return Bar("decode 2^20 bits, best of 15 in turns", shown, "<= 1.5 x one rfft", ratio <= 1.5)


def recovered() -> Iterator[Bar]:
    """Hold the share recovered through uniform noise against its formula."""
    secret = invented_bits(MILLION, seed=_SEED)
    for level in LEVELS:
        error = level * 2**10
        ask = noisy_answers(secret, uniform_noise(error, seed=_SEED + 1))
        found = fourier(ask, MILLION, noise_variance=error**2 / 3, truth=secret)
        share, expected = float(found.recovered or 0), float(found.expected or 0)
        yield Bar(
            f"2^20 people, noise uniform within {level:g} sqrt n",
            f"{share:.5f}",
            f"{expected:.5f} +- .005",
            abs(share - expected) <= 0.005,
        )


def malice() -> Iterator[Bar]:
    """Count the bits that the worst errors we know turn, against the theorem."""
    secret = invented_bits(MILLION, seed=_SEED)
    for level in (0.05, *LEVELS):
        error = level * 2**10
        ask = noisy_answers(secret, malicious_noise(error, seed=_SEED + 2))
        found = fourier(ask, MILLION, error=error, truth=secret)
        wrong, most = int(found.wrong or 0), 16 * error**2
        yield Bar(
            f"2^20 people, malicious errors within {level:g} sqrt n",
            f"{wrong:,} wrong",
            f"<= {min(most, MILLION):,.0f}",
            wrong <= most,
        )


def robust() -> Iterator[Bar]:
    """Recover a column with garbage among the answers, by absolute values and by squares."""
    people = 2**16 - 1
    secret = invented_bits(people, seed=_SEED)
    for level, many, share in ((0.1, 4, 0.1), (0.1, 4, 0.2), (0.25, 8, 0.2)):
        noise = garbage(share, seed=_SEED + 3, of=uniform_noise(level * 2**8, seed=_SEED + 4))
        answers = noisy_answers(secret, noise)(Characters(people=people, relabelings=many, seed=_SEED))
        squares = fourier(lambda _, answers=answers: answers, people, relabelings=many, seed=_SEED, truth=secret)  # type: ignore[misc]
        found = robust_fourier(lambda _, answers=answers: answers, people, relabelings=many, seed=_SEED, truth=secret)  # type: ignore[misc]
        absolute, least = float(found.recovered or 0), float(squares.recovered or 1)
        yield Bar(
            f"n = 65,536, {many}n queries, {share:.0%} garbage, c = {level:g}",
            f"{absolute:.5f} in {found.seconds:.1f} s, least squares {least:.3f}",
            ">= .999, least squares <= .6",
            absolute >= 0.999 and least <= 0.6,
        )


def relabeled() -> Iterator[Bar]:
    """Ask the same people in other places, through noise as large as the square root of n."""
    people, error = 2**16 - 1, 2**8
    secret = invented_bits(people, seed=_SEED)
    for many, bar in ((4, 0.81), (16, 0.96), (64, 0.9997)):
        ask = noisy_answers(secret, uniform_noise(error, seed=_SEED + 5))
        found = fourier(ask, people, relabelings=many, seed=_SEED, noise_variance=error**2 / 3, truth=secret)
        share = float(found.recovered or 0)
        shown = f"{share:.4f} (theory {found.expected:.4f})"
        yield Bar(f"n = 65,536, c = 1, {many} relabelings", shown, f"{bar:g} +- .01", abs(share - bar) <= 0.01)


def sessions(people: int = 1023, repeats: int = 2) -> Iterator[Bar]:
    """Ask a session in SQL under a budget of zCDP, the same budget for other people a few times over."""
    queries = Characters(people=people).length
    for rho in RHOS:
        right, seconds = 0, 0.0
        for repeat in range(repeats):
            secret = invented_bits(people, seed=_SEED + repeat)
            found, each = _asked(secret, rho)
            right += people - int(found.wrong or 0)
            seconds += found.seconds
        drawn = repeats * people
        share = right / drawn
        expected = recovered_fraction(queries / (2 * rho), queries=queries)
        highest = ceiling(counts_loss(each, queries=queries), flip=Flip.ONE_ROW).upper
        # normal noise makes the bits' errors independent: the count is binomial
        error, most = (math.sqrt(chance * (1 - chance) / drawn) for chance in (expected, highest))
        yield Bar(
            f"{repeats} sessions, {queries:,} queries in SQL each, rho = {rho:g}",
            f"{share:.4f}, {(share - expected) / error:+.1f} standard errors; {seconds / repeats:.0f} s each",
            f"{expected:.4f} +- 4 standard errors ({4 * error:.4f}), <= {highest:.4f}",
            abs(share - expected) <= 4 * error and share <= highest + 4 * most,
        )


def _asked(secret: NDArray[np.int64], rho: float) -> tuple[Reconstruction, Fraction]:
    """Attack one session that may spend rho in all."""
    queries = Characters(people=len(secret)).length
    with secret_session(secret, rho=rho, purpose="benchmarks") as session:
        each = split(session, queries=queries)
        ask = session_answers(session, rho=each, table=TABLE, secret=SECRET, person=PERSON)
        return fourier(ask, len(secret), truth=secret), each


def _timed(action: Callable[[], object]) -> Callable[[], float]:
    """Return a function that times one call."""

    def seconds() -> float:
        start = time.perf_counter()
        action()
        return time.perf_counter() - start

    return seconds


if __name__ == "__main__":
    for row in bars():
        print(f"{'met  ' if row.met else 'SHORT'}  {row.what}: {row.measured}; bar {row.bar}", flush=True)
