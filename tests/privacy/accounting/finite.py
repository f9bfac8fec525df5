"""Exact references for pairs of laws on finitely many outcomes, and for lattice noise, composed outcome by outcome."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import flint

from tests.privacy.accounting.references import BITS, Ball, Curve, ball, positive, precise

Atoms = list[tuple[Ball, Ball]]


def curve_of(atoms: Atoms, *, lost: object = 0) -> Curve:
    """Return the curve of a pair given by the masses of its outcomes; at most `lost` of the mass was left out."""

    @precise
    def delta(epsilon: object) -> Ball:
        factor = ball(epsilon).exp()
        total = sum((positive(p - factor * q) for p, q in atoms), flint.arb(0))
        return total + ball(lost).union(flint.arb(0)) if lost else total

    return delta


def beside(base: Curve, atoms: Atoms) -> Curve:
    """Return the curve of a pair composed with a finite one: the mean over the finite losses of the shifted curve."""

    @precise
    def delta(epsilon: object) -> Ball:
        level, total = ball(epsilon), flint.arb(0)
        for p, q in atoms:
            if q.is_zero():
                total += p
            elif not p.is_zero():
                total += p * base(level - (p / q).log())
        return total

    return delta


@precise
def table(p: Sequence[Fraction], q: Sequence[Fraction], count: int = 1) -> Atoms:
    """Return the outcomes of `count` independent draws from a finite pair, grouped by how often each outcome came."""
    common = math.lcm(*(one.denominator for one in (*p, *q)))
    outcomes = [(int(a * common), int(b * common)) for a, b in zip(p, q, strict=True) if a or b]
    scale = flint.fmpz(common) ** count
    return [
        (flint.arb(flint.fmpq(flint.fmpz(a), scale)), flint.arb(flint.fmpq(flint.fmpz(b), scale)))
        for a, b in _counted(outcomes, count)
        if a or b
    ]


def _counted(outcomes: list[tuple[int, int]], count: int) -> Iterable[tuple[int, int]]:
    """Yield the integer masses of every vector of counts of the outcomes."""
    a, b = outcomes[0]
    if len(outcomes) == 1:
        yield a**count, b**count
        return
    for times in range(count + 1):
        ways = math.comb(count, times)
        one, two = ways * a**times, ways * b**times
        if one or two:
            for rest, other in _counted(outcomes[1:], count - times):
                yield one * rest, two * other


@precise
def product(first: Atoms, second: Atoms) -> Atoms:
    """Return the outcomes of two independent releases."""
    return [(a * c, b * d) for a, b in first for c, d in second if not (a * c).is_zero() or not (b * d).is_zero()]


def reversed_atoms(atoms: Atoms) -> Atoms:
    """Exchange P and Q."""
    return [(q, p) for p, q in atoms]


def lattice(masses: Sequence[Ball], least: Ball, step: Ball, count: int) -> Atoms:
    """Compose `count` releases whose outcome j has the loss least + j step and the chance masses[j] under P."""
    power = flint.arb_poly(list(masses)) ** count
    atoms, ratio, decay = [], (-least * count).exp(), (-step).exp()
    for index in range(power.length()):
        chance = power[index]
        atoms.append((chance, chance * ratio))
        ratio *= decay
    return atoms


@precise
def response(epsilon: object, categories: int, count: int = 1) -> Atoms:
    """Randomized response among several categories: the loss is +epsilon, 0 or -epsilon."""
    level = ball(epsilon)
    total = level.exp() + categories - 1
    return lattice([1 / total, (categories - 2) / total, level.exp() / total], -level, level, count)


@precise
def discrete_laplace(scale: object, shift: int, count: int = 1) -> Atoms:
    """Integer Laplace noise: all outcomes beyond either center share one loss, those between differ by 2 / scale."""
    one = 1 / ball(scale)
    q = (-one).exp()
    between = [(1 - q) / (1 + q) * q ** (shift - j) for j in range(1, shift)]
    return lattice([q**shift / (1 + q), *between, 1 / (1 + q)], -shift * one, 2 * one, count)


@precise
def discrete_gaussian(sigma: object, shift: int, count: int = 1) -> tuple[Atoms, Ball]:
    """Integer Gaussian noise up to 33 sigma, and a bound of the mass left out.

    At most 2 sum over x > r of e^(-x^2 / 2 sigma^2) is left out of the normalizer, which is above 1, hence of
    each law; twice that moves both the outcomes and the normalizer, and the composition at most `count` times as much.
    """
    twice = 2 * ball(sigma) ** 2
    radius = math.ceil(33 * float(sigma)) + 2  # type: ignore[arg-type]
    weights = [(-(flint.arb(x) ** 2) / twice).exp() for x in range(-radius, radius + 1)]
    total = sum(weights, flint.arb(0))
    step = 2 * shift / twice
    least = (flint.arb(shift) ** 2 - 2 * shift * radius) / twice
    # consecutive weights beyond the radius fall at least as fast as the last two
    lost = 4 * count * weights[0] / (1 - weights[0] / weights[1])
    return lattice([weight / total for weight in weights], least, step, count), lost


def totals(atoms: Atoms) -> tuple[Ball, Ball]:
    """Return the totals under P and Q: both balls contain 1 if nothing was lost."""
    with flint.ctx.workprec(BITS):
        return sum((p for p, _ in atoms), flint.arb(0)), sum((q for _, q in atoms), flint.arb(0))
