"""From a pair to its layout on a grid: which kind of release it is, its atoms, and what sampling makes of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.laws import FinitePair, LocationPair, Pair
from discreet.privacy.accounting.lattice.atoms import (
    certain,
    claim_source,
    claim_table,
    mixed_table_source,
    no_atoms,
    noise_source,
    noise_table,
    table_source,
)
from discreet.privacy.accounting.lattice.cells import Atoms, Reach, Source
from discreet.privacy.accounting.lattice.curve import CurveSource
from discreet.privacy.accounting.lattice.densities import (
    Density,
    DensitySource,
    ExponentialDensity,
    NormalDensity,
)
from discreet.privacy.accounting.lattice.fft_bounds import UNIT
from discreet.privacy.accounting.lattice.loss_map import LossMap, Sampling
from discreet.privacy.pairs import (
    BoundedRangePair,
    FixedSizePair,
    LaplacePair,
    NormalPair,
    PoissonPair,
    PureApproxPair,
    Side,
)

_WHOLE = LossMap.of(Sampling.NONE, 1)
_SMALL = 64 * UNIT


def source_of(pair: Pair, reach: Reach) -> Source:
    """Return the layout of a pair; a pair of no known kind is laid out by its curve, from above only."""
    known = _direct(pair, reach)
    if known is None and isinstance(pair, PoissonPair | FixedSizePair):
        known = _sampled(pair, reach)
    return CurveSource(pair) if known is None else known


def _direct(pair: Pair, reach: Reach) -> Source | None:
    """Return the layout of a pair that is not a sample."""
    source: Source | None = None
    match pair:
        case NormalPair() if pair.mu > 0:
            source = DensitySource(NormalDensity(float(pair.mu)), no_atoms(), _WHOLE)
        case LaplacePair() if pair.ratio > 0:
            source = DensitySource(*_laplace(pair), _WHOLE)
        case BoundedRangePair() if pair.range > 0:
            source = DensitySource(_bounded_range(pair), no_atoms(), _WHOLE)
        case NormalPair() | LaplacePair() | BoundedRangePair():
            source = table_source(certain())
        case PureApproxPair():
            source = claim_source(pair)
        case FinitePair():
            source = table_source(pair)
        case LocationPair():
            source = noise_source(pair, reach)
    return source


def _sampled(pair: PoissonPair | FixedSizePair, reach: Reach) -> Source | None:
    """Sample a density through its loss map, anything with atoms as a table."""
    base, kind = pair.base, Sampling.FIXED
    if isinstance(pair, PoissonPair):
        kind = Sampling.REMOVE if pair.side is Side.REMOVE else Sampling.ADD
    mapped = LossMap.of(kind, Fraction(pair.rate))
    if isinstance(base, NormalPair) and base.mu > 0:
        return DensitySource(NormalDensity(float(base.mu)), no_atoms(), mapped)
    if isinstance(base, BoundedRangePair) and base.range > 0:
        return DensitySource(_bounded_range(base), no_atoms(), mapped)
    if isinstance(base, LaplacePair) and base.ratio > 0:
        density, atoms = _laplace(base)
        doubt = float(np.max(mapped.doubt(atoms.loss, mapped.loss(atoms.loss))))
        return DensitySource(density, _mapped_atoms(atoms, mapped), mapped, doubt)
    table = _as_table(base, reach)
    if table is None:
        return None
    return mixed_table_source(table, Fraction(pair.rate), kind)


def _laplace(pair: LaplacePair) -> tuple[Density, Atoms]:
    """The density e^((l - r)/2)/4 and atoms of mass 1/2 at r and e^-r/2 at -r."""
    ratio = float(pair.ratio)
    half = -math.log(2.0)
    atoms = Atoms.of([-ratio, ratio], [half - ratio, half], _SMALL + 8 * UNIT * ratio)
    return ExponentialDensity(ratio, 2 * half - ratio / 2), atoms


def _bounded_range(pair: BoundedRangePair) -> Density:
    """The density e^(l/2)/(4 sinh(r/2))."""
    width = float(pair.range)
    return ExponentialDensity(width, -math.log(2.0) - width / 2 - math.log(-math.expm1(-width)))


def _mapped_atoms(atoms: Atoms, mapped: LossMap) -> Atoms:
    """Move atoms by a loss map; a sample of fixed size keeps the positive ones and their mirror images."""
    loss = mapped.loss(atoms.loss)
    log_mass = atoms.log_mass + mapped.log_factor(atoms.loss, loss)
    slack = atoms.slack + 16 * UNIT * (np.abs(loss) + np.abs(atoms.loss) + 4) + 2 * mapped.doubt(atoms.loss, loss)
    moved = Atoms(loss, log_mass, slack)
    if mapped.kind is not Sampling.FIXED:
        return moved
    up = moved.loss > 0
    above = Atoms(loss[up], log_mass[up], slack[up])
    return Atoms.joined(above, Atoms(-above.loss, above.log_mass - above.loss, above.slack))


def _as_table(pair: Pair, reach: Reach) -> FinitePair | None:
    """Return a pair with atoms as a table that encloses it."""
    if isinstance(pair, FinitePair):
        return pair
    if isinstance(pair, NormalPair | LaplacePair | BoundedRangePair):
        return certain()
    if isinstance(pair, PureApproxPair):
        return claim_table(pair)
    if isinstance(pair, LocationPair):
        return certain() if pair.shift == 0 else noise_table(pair, reach)
    return None
