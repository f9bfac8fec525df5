"""From a pair to its layout on a grid: which kind of release it is, its atoms, and what sampling makes of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.laws import DiscreteGaussian, DiscreteLaplace, FinitePair, LocationPair, Pair, RoundedGaussian
from discreet.laws.number import round_down, round_up
from discreet.privacy.accounting.lattice.cells import LEAST, AtomSource, CurveSource, LatticeAtoms, LossSource, Reach
from discreet.privacy.accounting.lattice.densities import Density, DensitySource, ExponentialDensity, NormalDensity
from discreet.privacy.accounting.lattice.fft_bounds import UNIT, Floats
from discreet.privacy.accounting.lattice.loss_map import LossMap, SamplingKind
from discreet.privacy.numbers import bounds, number
from discreet.privacy.pairs import (
    BallsInBinsPair,
    BoundedRangePair,
    FixedSizePair,
    LaplacePair,
    NormalPair,
    PoissonPair,
    PureApproxPair,
    Side,
)
from discreet.randomness.rigor import lower_float, precision, upper_float

_WHOLE = LossMap.of(SamplingKind.NONE, 1)
_SMALL = 64 * UNIT
_MOST_ATOMS = 1 << 21
_MOST_ROWS = 1 << 17


def source_of(pair: Pair, reach: Reach) -> LossSource:
    """Return the layout of a pair; a pair of no known kind is laid out by its curve, from above only."""
    known = _direct(pair, reach)
    if known is None and isinstance(pair, PoissonPair | FixedSizePair):
        known = _sampled(pair, reach)
    return CurveSource(pair) if known is None else known


def _direct(pair: Pair, reach: Reach) -> LossSource | None:
    """Return the layout of a pair that is not a sample."""
    source: LossSource | None = None
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
        case BallsInBinsPair() if pair.is_followed:
            source = _balls_in_bins(pair)
    return source


def _balls_in_bins(pair: BallsInBinsPair) -> AtomSource:
    """The atoms of the ratio R under Q, from below and from above; with a person removed P has R times their mass."""
    sides, infinite, wobble = [], [], 0.0
    for upper in (False, True):
        law = pair.ratios(upper=upper)
        seen = (law.ratio > 0) & (law.mass > 0)  # few steps leave points of the grid without a sum
        loss, log_mass = np.log(law.ratio[seen]), np.log(law.mass[seen])
        slack = _SMALL + law.doubt + 16 * UNIT * (np.abs(loss) + np.abs(log_mass))
        removed = pair.side is Side.REMOVE
        columns = (loss, log_mass + loss, slack + law.shift) if removed else (-loss, log_mass, slack)
        sides.append(LatticeAtoms(*columns))
        infinite.append(law.beyond if removed else math.fsum(law.mass[~seen]) * (1 + 2 * law.doubt + _SMALL))
        wobble = max(wobble, law.shift + 8 * UNIT * float(np.max(np.abs(loss))))
    excess = 2 * float(np.max(sides[1].slack))  # masses are rounded up, and may add up to a little more than 1
    source = AtomSource((sides[0], sides[1]), (0.0, infinite[1]), wobble, law.spacing, excess)
    source.resolution = law.spacing / 4  # the two laws are further apart than what finer steps would gain
    return source


def _sampled(pair: PoissonPair | FixedSizePair, reach: Reach) -> LossSource | None:
    """Sample a density through its loss map, anything with atoms as a table."""
    base, kind = pair.base, SamplingKind.FIXED
    if isinstance(pair, PoissonPair):
        kind = SamplingKind.REMOVE if pair.side is Side.REMOVE else SamplingKind.ADD
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


def _laplace(pair: LaplacePair) -> tuple[Density, LatticeAtoms]:
    """The density e^((l - r)/2)/4 and atoms of mass 1/2 at r and e^-r/2 at -r."""
    ratio = float(pair.ratio)
    half = -math.log(2.0)
    atoms = LatticeAtoms.of([-ratio, ratio], [half - ratio, half], _SMALL + 8 * UNIT * ratio)
    return ExponentialDensity(ratio, 2 * half - ratio / 2), atoms


def _bounded_range(pair: BoundedRangePair) -> Density:
    """The density e^(l/2)/(4 sinh(r/2))."""
    width = float(pair.range)
    return ExponentialDensity(width, -math.log(2.0) - width / 2 - math.log(-math.expm1(-width)))


def _mapped_atoms(atoms: LatticeAtoms, mapped: LossMap) -> LatticeAtoms:
    """Move atoms by a loss map; a sample of fixed size keeps the positive ones and their mirror images."""
    loss = mapped.loss(atoms.loss)
    log_mass = atoms.log_mass + mapped.log_factor(atoms.loss, loss)
    slack = atoms.slack + 16 * UNIT * (np.abs(loss) + np.abs(atoms.loss) + 4) + 2 * mapped.doubt(atoms.loss, loss)
    moved = LatticeAtoms(loss, log_mass, slack)
    if mapped.kind is not SamplingKind.FIXED:
        return moved
    up = moved.loss > 0
    above = LatticeAtoms(loss[up], log_mass[up], slack[up])
    return LatticeAtoms.joined(above, LatticeAtoms(-above.loss, above.log_mass - above.loss, above.slack))


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


def no_atoms() -> LatticeAtoms:
    """Return an empty list."""
    return LatticeAtoms.of([], [], 0.0)


def claim_source(pair: PureApproxPair) -> AtomSource:
    """Two atoms, at plus and minus epsilon, and delta at infinity."""
    epsilon, delta = Fraction(pair.claimed_epsilon), Fraction(pair.claimed_delta)
    infinite = (round_down(delta), round_up(delta))
    if delta == 1:
        return AtomSource((no_atoms(), no_atoms()), infinite, 0.0)
    if epsilon == 0:
        rest = LatticeAtoms.of([0.0], [math.log1p(-float(delta))], _SMALL)
        return AtomSource((rest, rest), infinite, 0.0)
    low, high = bounds(lambda: number(1 - delta).log() - (-number(epsilon)).exp().log1p())
    likely = low + (high - low) / 2
    reach = float(epsilon)
    atoms = LatticeAtoms.of([-reach, reach], [likely - reach, likely], _SMALL + 8 * UNIT * (abs(likely) + reach))
    return AtomSource((atoms, atoms), infinite, 4 * UNIT * reach)


def certain() -> FinitePair:
    """Return the pair of a release that says nothing: one outcome, loss 0."""
    one = np.ones(1)
    return FinitePair([0], one, one, one, one)


def table_source(pair: FinitePair) -> AtomSource:
    """Give the upper side each atom's largest mass and loss, the lower side its least ones."""
    low, high = pair.losses()
    lower = LatticeAtoms(low, _log(pair.p_low), _small(pair.p_low))
    upper = LatticeAtoms(high, _log(pair.p_high), _small(pair.p_high))
    infinite = (
        math.fsum(pair.p_low[low == math.inf]) * (1 - 4 * UNIT),
        min(math.fsum(pair.p_high[high == math.inf]) * (1 + 4 * UNIT), 1.0),
    )
    sides = (_finite(lower), _finite(upper))
    return AtomSource(sides, infinite if len(sides[1].loss) else (1.0, 1.0), 0.0)


def _finite(atoms: LatticeAtoms) -> LatticeAtoms:
    """Leave out what has no mass or an infinite loss."""
    keep = np.isfinite(atoms.loss) & np.isfinite(atoms.log_mass)
    return LatticeAtoms(atoms.loss[keep], atoms.log_mass[keep], atoms.slack[keep])


def _log(values: Floats) -> Floats:
    """Return logarithms, minus infinity at 0."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def _small(values: Floats) -> Floats:
    """Bound the errors of logarithms."""
    with np.errstate(divide="ignore"):
        return _SMALL + 16 * UNIT * np.abs(np.where(values > 0, np.log(values), 0.0))


def noise_source(pair: LocationPair, reach: Reach) -> AtomSource | None:
    """List the outcomes of integer noise about two centers; its losses are evenly spaced."""
    noise, shift = pair.noise, pair.shift
    if shift == 0:
        return table_source(certain())
    if isinstance(noise, DiscreteLaplace):
        return _integer_laplace(noise, shift)
    if isinstance(noise, DiscreteGaussian):
        return _integer_gaussian(noise, shift, reach)
    table = noise_table(pair, reach)
    return None if table is None else table_source(table)


def _integer_laplace(noise: DiscreteLaplace, shift: int) -> AtomSource | None:
    """Losses (2y - d)/s for 0 <= y <= d; both ends carry a whole tail."""
    if shift >= _MOST_ATOMS:
        return None
    scale = noise.scale
    y = np.arange(shift + 1)
    rate = float(1 / scale)
    loss: Floats = ((2.0 * y - shift) * rate).astype(np.float64)
    middle = bounds(lambda: (1 / (2 * number(scale))).tanh().log())
    end = bounds(lambda: -(-1 / number(scale)).exp().log1p())
    log_mass: Floats = (sum(middle) / 2 - (shift - y) * rate).astype(np.float64)
    log_mass[-1], log_mass[0] = sum(end) / 2, sum(end) / 2 - shift * rate
    atoms = LatticeAtoms(loss, log_mass, _SMALL + 16 * UNIT * np.abs(log_mass))
    return AtomSource((atoms, atoms), (0.0, 0.0), 8 * UNIT * shift * rate, 2 * rate)


def _integer_gaussian(noise: DiscreteGaussian, shift: int, reach: Reach) -> AtomSource | None:
    """Losses (2yd - d^2)/(2 s^2) on the outcomes within reach; the tails are cut off."""
    sigma = float(noise.scale)
    right, left = (math.ceil(sigma * math.sqrt(-2 * end)) + 2 for end in (reach.high, reach.low))
    if right + left >= _MOST_ATOMS or sigma > 2.0**40:
        return None
    off = np.arange(-left, right + 1)  # y - d
    square = noise.scale * noise.scale
    spacing, half = float(Fraction(shift) / square), float(Fraction(shift * shift) / (2 * square))
    loss: Floats = off.astype(np.float64) * spacing + half
    with precision(160):
        log_total = -noise.mass_ball(0).log()
        above, below = upper_float(noise.tail_ball(right + 1)), upper_float(noise.tail_ball(left + 1))
        middle = (lower_float(log_total) + upper_float(log_total)) / 2
    log_mass: Floats = -(off * off).astype(np.float64) * float(1 / (2 * square)) - middle
    atoms = LatticeAtoms(loss, log_mass, _SMALL + 16 * UNIT * (np.abs(log_mass) + abs(middle)))
    edge = LatticeAtoms.of([float(loss[0])], [math.log(max(below, LEAST))], _SMALL * 800)
    wobble = 8 * UNIT * float(np.max(np.abs(loss)) + half)
    return AtomSource((atoms, LatticeAtoms.joined(atoms, edge)), (0.0, above + LEAST), wobble, spacing)


def claim_table(pair: PureApproxPair) -> FinitePair:
    """Return the four outcomes of a guarantee."""
    epsilon, delta = Fraction(pair.claimed_epsilon), Fraction(pair.claimed_delta)
    ends = [
        (round_down(delta), round_up(delta)),
        bounds(lambda: number(1 - delta) / (1 + (-number(epsilon)).exp())),
        bounds(lambda: number(1 - delta) / (1 + number(epsilon).exp())),
        (0.0, 0.0),
    ]
    low, high = np.array([end[0] for end in ends]), np.array([end[1] for end in ends])
    return FinitePair(range(4), low, high, low[::-1].copy(), high[::-1].copy())


def noise_table(pair: LocationPair, reach: Reach) -> FinitePair | None:
    """List the outcomes of integer noise in balls; the two tails are atoms known by their bounds only."""
    noise, shift = pair.noise, pair.shift
    gaussian = not isinstance(noise, DiscreteLaplace)
    if not isinstance(noise, DiscreteGaussian | DiscreteLaplace | RoundedGaussian):
        return None
    out = math.ceil(float(noise.scale) * math.sqrt(-2 * min(reach.high, reach.low))) + 2 if gaussian else 0
    if 2 * out + shift > _MOST_ROWS:
        return None
    places = range(-out, shift + out + 1)
    with precision(128):
        mass = {y: noise.mass_ball(y) for y in range(-out - shift, shift + out + 1)}
        p, q = [mass[y - shift] for y in places], [mass[y] for y in places]
        tails = [noise.tail_ball(out + 1), noise.tail_ball(shift + out + 1)]
        if not gaussian:  # beyond both centers the loss is constant: the tails belong to the outermost outcomes
            p[0], p[-1] = p[0] + tails[1], p[-1] + tails[0]
            q[0], q[-1] = q[0] + tails[0], q[-1] + tails[1]
        columns = [
            np.array([max(0.0, side(b)) for b in part]) for part in (p, q) for side in (lower_float, upper_float)
        ]
        far = [upper_float(tail) if gaussian else 0.0 for tail in tails]
    ends = (np.array([0.0, 0.0]), np.array(far), np.array([0.0, 0.0]), np.array(far[::-1]))
    arrays = [np.concatenate([column, end]) for column, end in zip(columns, ends, strict=True)]
    return FinitePair(range(len(arrays[0])), *arrays)


def mixed_table_source(base: FinitePair, rate: Fraction, kind: SamplingKind) -> AtomSource:
    """Mix the columns of a table; a sample of fixed size takes each side's own set of positive losses."""
    share, rest = float(rate), float(1 - rate)
    near, far = 1 - 8 * UNIT, 1 + 8 * UNIT

    def mixed(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        return (rest * first[0] + share * second[0]) * near, (rest * first[1] + share * second[1]) * far

    p, q = (base.p_low, base.p_high), (base.q_low, base.q_high)
    outcomes = range(len(base.p_low))
    if kind is SamplingKind.ADD:
        return table_source(FinitePair(outcomes, *p, *mixed(p, q)))
    removed = FinitePair(outcomes, *mixed(q, p), *q)
    if kind is SamplingKind.REMOVE:
        return table_source(removed)
    upper, _ = _symmetric(removed, upper=True)
    lower, possible = _symmetric(removed, upper=False)
    if not possible:  # the base is not symmetric, so no pair has the stated curve: the upper side lies above it
        return AtomSource((no_atoms(), upper.sides[1]), (0.0, upper.infinite_mass[1]), 0.0)
    return AtomSource((lower.sides[0], upper.sides[1]), (lower.infinite_mass[0], upper.infinite_mass[1]), 0.0)


def _symmetric(removed: FinitePair, *, upper: bool) -> tuple[AtomSource, bool]:
    """Join the atoms whose loss may be (below: certainly is) positive, their images, and a rest that should be >= 0."""
    low, high = removed.losses()
    chosen = (high if upper else low) > 0
    columns = (removed.p_low, removed.p_high, removed.q_low, removed.q_high)
    p_low, p_high, q_low, q_high = (column[chosen] for column in columns)
    signed = [
        (1 - math.fsum(ends[0]) - math.fsum(ends[1])) + slack
        for ends, slack in (((p_high, q_high), -_SMALL), ((p_low, q_low), _SMALL))
    ]
    rest = [max(0.0, end) for end in signed]
    arrays = (
        np.concatenate([p_low, q_low, rest[:1]]), np.concatenate([p_high, q_high, rest[1:]]),
        np.concatenate([q_low, p_low, rest[:1]]), np.concatenate([q_high, p_high, rest[1:]]),
    )  # fmt: skip
    return table_source(FinitePair(range(len(arrays[0])), *arrays)), signed[1] >= 0
