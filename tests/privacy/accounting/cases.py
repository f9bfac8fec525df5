"""Random compositions with known truths: each a loss of the library beside the curves of its two directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from discreet import privacy
from discreet.privacy import ApproxDP, PrivacyLoss, PureDP, Relation
from tests.privacy.accounting.finite import (
    Atoms,
    beside,
    curve_of,
    discrete_gaussian,
    discrete_laplace,
    product,
    response,
    reversed_atoms,
    table,
)
from tests.privacy.accounting.integrals import beside_normal
from tests.privacy.accounting.references import (
    Curve,
    approximate,
    binomial,
    gaussian,
    laplace,
    poisson_add,
    poisson_remove,
    pure,
)

LARGEST_COUNT = 10**6
MOST_OUTCOMES = 1500


@dataclass(frozen=True)
class Case:
    """A composition, in words, as the library has it, and its true curves."""

    words: str
    loss: PrivacyLoss
    remove: Curve
    add: Curve


def log_uniform(random: Random, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return math.exp(random.uniform(math.log(low), math.log(high)))


def repetitions(random: Random, most: int = LARGEST_COUNT) -> int:
    """Draw how often a release is repeated, all sizes alike."""
    return min(most, int(log_uniform(random, 1, most + 1)))


def gaussians(random: Random) -> Case:
    """One to three kinds of Gaussian noise, each repeated, with a total mu between 0.001 and 20."""
    kinds = [(repetitions(random), log_uniform(random, 1e-3, 12)) for _ in range(random.randint(1, 3))]
    parts = [(math.sqrt(count) / mu, count) for count, mu in kinds]
    mu_squared = sum(count / Fraction(sigma) ** 2 for sigma, count in parts)
    loss = privacy.compose([privacy.gaussian_loss(sigma) * count for sigma, count in parts])
    return Case(f"Gaussian (sigma, count) {parts}", loss, gaussian(mu_squared), gaussian(mu_squared))


def pure_guarantees(random: Random) -> Case:
    """The same pure guarantee up to a million times."""
    count = repetitions(random)
    epsilon = min(8.0, log_uniform(random, 1e-2, 12) / math.sqrt(count))
    curve = pure(epsilon, count)
    return Case(f"pure {epsilon} x {count}", PureDP(epsilon).loss * count, curve, curve)


def approximate_guarantees(random: Random) -> Case:
    """The same approximate guarantee up to a hundred thousand times."""
    count = repetitions(random, 10**5)
    epsilon = min(8.0, log_uniform(random, 1e-2, 12) / math.sqrt(count))
    leak = log_uniform(random, 1e-40, 1e-3) / count
    curve = approximate(epsilon, leak, count)
    return Case(f"approximate {epsilon}, {leak} x {count}", ApproxDP(epsilon, leak).loss * count, curve, curve)


def responses(random: Random) -> Case:
    """Randomized response among several categories."""
    count, categories = repetitions(random, 800), random.randint(2, 12)
    epsilon = min(8.0, log_uniform(random, 1e-2, 12) / math.sqrt(count))
    curve = curve_of(response(epsilon, categories, count))
    loss = privacy.randomized_response_loss(epsilon, categories=categories) * count
    return Case(f"response {epsilon} among {categories} x {count}", loss, curve, curve)


def discrete_laplaces(random: Random) -> Case:
    """Integer Laplace noise; a shift of one is randomized response, so that it may be repeated a million times."""
    shift = random.randint(1, 4)
    count = repetitions(random) if shift == 1 else repetitions(random, 200)
    scale = max(0.2, shift * math.sqrt(count) / log_uniform(random, 1e-2, 12))
    curve = pure(1 / Fraction(scale), count) if shift == 1 else curve_of(discrete_laplace(scale, shift, count))
    loss = privacy.discrete_laplace_loss(scale, sensitivity=shift) * count
    return Case(f"integer Laplace {scale} shift {shift} x {count}", loss, curve, curve)


def discrete_gaussians(random: Random) -> Case:
    """Integer Gaussian noise, repeated a few times."""
    shift, count = random.randint(1, 3), repetitions(random, 12)
    sigma = log_uniform(random, 0.4, 4)
    atoms, lost = discrete_gaussian(sigma, shift, count)
    curve = curve_of([(p, q) for p, q in atoms if p > 1e-130], lost=lost + 1e-125)
    loss = privacy.discrete_gaussian_loss(sigma, sensitivity=shift) * count
    return Case(f"integer Gaussian {sigma} shift {shift} x {count}", loss, curve, curve)


def laplaces(random: Random) -> Case:
    """Continuous Laplace noise, repeated a few times."""
    count, scale = random.randint(1, 7), log_uniform(random, 0.1, 100)
    curve = laplace(1 / Fraction(scale), count)
    return Case(f"Laplace {scale} x {count}", privacy.laplace_loss(scale) * count, curve, curve)


def sampled(random: Random) -> Case:
    """One Gaussian or Laplace release on a Poisson sample."""
    rate, scale = log_uniform(random, 1e-4, 1), log_uniform(random, 0.3, 20)
    normal = random.random() < 0.5
    base = gaussian(1 / Fraction(scale) ** 2) if normal else laplace(1 / Fraction(scale))
    make = privacy.gaussian_loss if normal else privacy.laplace_loss
    loss = privacy.subsample(make(scale, relation=Relation.ADD_REMOVE), rate=rate)
    words = f"{'Gaussian' if normal else 'Laplace'} {scale} sampled at {rate}"
    return Case(words, loss, poisson_remove(base, rate), poisson_add(base, rate))


Law = tuple[Fraction, ...]


def _laws(random: Random, outcomes: int) -> tuple[Law, Law]:
    """Draw two laws on the same outcomes; some outcomes may be impossible under one of them."""
    weights = []
    for _ in range(2):
        zeros = random.random() < 0.3
        weights.append([random.randint(0 if zeros else 1, 20) for _ in range(outcomes)])
    first, second = weights
    first[0], second[0] = max(first[0], 1), max(second[0], 1)
    return tuple(Fraction(a, sum(first)) for a in first), tuple(Fraction(b, sum(second)) for b in second)


def _table(random: Random, most: int) -> tuple[Law, Law, int]:
    """Draw a table and a count with at most `most` vectors of counts."""
    outcomes, count = random.randint(2, 6), random.randint(1, 30)
    while math.comb(count + outcomes - 1, outcomes - 1) > most:
        count -= 1
    return *_laws(random, outcomes), max(count, 1)


def tables(random: Random) -> Case:
    """One finite table, repeated up to thirty times."""
    p, q, count = _table(random, MOST_OUTCOMES)
    atoms = table(p, q, count)
    loss = privacy.table_loss(p, q, relation=Relation.ADD_REMOVE) * count
    return Case(f"table {p} {q} x {count}", loss, curve_of(atoms), curve_of(reversed_atoms(atoms)))


def mixed_tables(random: Random) -> Case:
    """Two or three different tables, some of them on a Poisson sample."""
    parts: list[PrivacyLoss] = []
    remove, add, words = table((Fraction(1),), (Fraction(1),)), table((Fraction(1),), (Fraction(1),)), []
    for _ in range(random.randint(2, 3)):
        p, q, count = _table(random, 12)
        rate = Fraction(random.randint(1, 10), 10)
        one = privacy.table_loss(p, q, relation=Relation.ADD_REMOVE)
        parts.append((one if rate == 1 else privacy.subsample(one, rate=rate)) * count)
        mixed = tuple((1 - rate) * b + rate * a for a, b in zip(p, q, strict=True))
        remove, add = product(remove, table(mixed, q, count)), product(add, table(q, mixed, count))
        words.append(f"({p} {q} sampled at {rate} x {count})")
    return Case(f"tables {words}", privacy.compose(parts), curve_of(remove), curve_of(add))


def coins(random: Random) -> Case:
    """A table of two outcomes, repeated up to a million times."""
    count = repetitions(random)
    second = Fraction(random.randint(5, 90), 100)
    first = second + (1 - second) * Fraction(min(0.9, log_uniform(random, 1e-2, 3) / math.sqrt(count)))
    loss = privacy.table_loss((first, 1 - first), (second, 1 - second), relation=Relation.ADD_REMOVE) * count
    words = f"coins {float(first)} {float(second)} x {count}"
    return Case(words, loss, binomial(count, first, second), binomial(count, 1 - second, 1 - first))


def mixtures(random: Random) -> Case:
    """Noise of one kind beside finite releases of another."""
    sigma, epsilon = log_uniform(random, 0.3, 30), log_uniform(random, 1e-2, 4)
    p, q, count = _table(random, 30)
    times, categories = random.randint(1, 5), random.randint(2, 6)
    atoms: Atoms = product(table(p, q, count), response(epsilon, categories, times))
    normal = random.random() < 0.5
    base = gaussian(1 / Fraction(sigma) ** 2) if normal else laplace(1 / Fraction(sigma))
    noise = privacy.gaussian_loss(sigma) if normal else privacy.laplace_loss(sigma)
    one = privacy.table_loss(p, q, relation=Relation.ADD_REMOVE)
    finite = one * count + privacy.randomized_response_loss(epsilon, categories=categories) * times
    words = f"{'Gaussian' if normal else 'Laplace'} {sigma}, table {p} {q} x {count}, response {epsilon} among "
    words += f"{categories} x {times}"
    return Case(words, noise + finite, beside(base, atoms), beside(base, reversed_atoms(atoms)))


def beside_normals(random: Random) -> Case:
    """Repeated Gaussian noise beside one Gaussian or Laplace release on a Poisson sample."""
    count, mu = repetitions(random), log_uniform(random, 1e-2, 6)
    sigma, scale = math.sqrt(count) / mu, log_uniform(random, 0.4, 20)
    law, rate = random.choice(["gaussian", "laplace"]), random.choice([1.0, log_uniform(random, 1e-3, 1)])
    make = privacy.gaussian_loss if law == "gaussian" else privacy.laplace_loss
    one = make(scale, relation=Relation.ADD_REMOVE)
    loss = privacy.gaussian_loss(sigma) * count + (one if rate == 1 else privacy.subsample(one, rate=rate))
    mu_squared = count / Fraction(sigma) ** 2
    remove, add = (beside_normal(mu_squared, law=law, scale=scale, rate=rate, removing=way) for way in (True, False))
    return Case(f"Gaussian {sigma} x {count}, {law} {scale} sampled at {rate}", loss, remove, add)


FAMILIES: tuple[Callable[[Random], Case], ...] = (
    gaussians,
    pure_guarantees,
    approximate_guarantees,
    responses,
    discrete_laplaces,
    discrete_gaussians,
    laplaces,
    sampled,
    tables,
    mixed_tables,
    coins,
    mixtures,
    beside_normals,
)
