"""Sort the pairs of a composition into families that the contour engine knows in closed form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from discreet.laws import Pair, ProductPair
from discreet.laws.number import round_up
from discreet.privacy.accounting.contour.atoms import AtomsFactor, atoms_of
from discreet.privacy.accounting.contour.factor import Factor
from discreet.privacy.accounting.contour.normal import NormalFactor, WideGaussianFactor
from discreet.privacy.accounting.contour.sampled_normal import SampledNormalFactor
from discreet.privacy.accounting.contour.symmetric import SymmetricFactor
from discreet.privacy.pairs import NormalPair

Parts = Sequence[tuple[Pair, int]]


def flattened(parts: Iterable[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """Merge equal pairs, and take products apart: independent components are releases of their own."""
    counts: dict[Pair, int] = {}
    for pair, count in parts:
        pieces = pair.pairs if isinstance(pair, ProductPair) else (pair,)
        for piece in pieces:
            counts[piece] = counts.get(piece, 0) + count
    return list(counts.items())


def total_square(parts: Parts) -> Fraction:
    """Return the sum of mu^2 over the Gaussian pairs, exactly."""
    return sum((count * Fraction(pair.mu) ** 2 for pair, count in parts if isinstance(pair, NormalPair)), Fraction(0))


def gathered(parts: Parts) -> list[Factor] | None:
    """Return the factors of a flattened composition, or None if a pair belongs to no family."""
    factors: list[Factor] = []
    square = total_square(parts)
    if square:
        factors.append(NormalFactor(round_up(square)))
    rest = [(pair, count) for pair, count in parts if not isinstance(pair, NormalPair)]
    for family in (SymmetricFactor, WideGaussianFactor):
        sorted_out = [(pair, count, family.accepts(pair)) for pair, count in rest]
        members = [(pair, count) for pair, count, accepted in sorted_out if accepted]
        rest = [(pair, count) for pair, count, accepted in sorted_out if not accepted]
        if members:
            factors.append(family.of([pair for pair, _ in members], [count for _, count in members]))
    for pair, count in rest:
        found = _single(pair, count)
        if found is None:
            return None
        factors.append(found)
    return factors


def _single(pair: Pair, count: int) -> Factor | None:
    """Return the factor of one kind of release."""
    if SampledNormalFactor.accepts(pair):
        return SampledNormalFactor.of(pair, count)  # type: ignore[arg-type]  # accepts() has looked
    atoms = atoms_of(pair)
    return None if atoms is None else AtomsFactor(atoms, count)
