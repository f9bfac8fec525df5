"""The least noise for a target, and the kind of noise whose released sums have the least error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number, round_down
from discreet.learning.deep.plan.mixing import prefix_error
from discreet.learning.deep.plan.noises import Banded, IndependentNoise, TrainingNoise
from discreet.learning.deep.plan.placed_samplers import BallsInBins, CyclicPoisson
from discreet.learning.deep.plan.pricing import TrainingPrice, price_of
from discreet.learning.deep.plan.samplers import BatchSampler, FullBatch
from discreet.privacy import Relation, Sampler, balls_in_bins_loss
from discreet.privacy.numbers import positive_price

Kind = Callable[[float], TrainingNoise]
Choice = tuple[BatchSampler, Kind]
_MOST_TRIALS = 200
_ROUGH = 1e-2  # the width of a rough answer, over epsilon
_CLOSE = 1e-6  # how far below the target epsilon may be, where answers are as sharp
_MOST_GROUPS = 128  # more would keep as many secret sums in memory, for little less noise
_COARSEST, _COARSE = 64, 256  # cells of the laws by which the noise for balls in bins is searched
_NEAR = 3e-3  # how far below the target their epsilon may be
_SLOPE = -1.5  # d ln epsilon / d ln scale, before anything is known
_ABOUT = 1.02
_WORSE = 1.1  # a search ends where the error has risen by this factor


def calibrated(
    sampler: BatchSampler,
    kind: Kind | None,
    steps: int,
    relation: Relation,
    unit: str,
    *,
    epsilon: Number,
    delta: Number,
) -> tuple[BatchSampler, TrainingNoise]:
    """Return the sampler and the noise of a plan that is certified to keep (epsilon, delta)."""
    target = positive_price(epsilon, name="epsilon"), positive_price(delta, name="delta")
    if not isinstance(sampler, BatchSampler):
        raise ParameterError(
            f"sampler must be a BatchSampler; got a {type(sampler).__name__}, write sampler=PoissonBatches(rate=0.01), "
            "for example",
            parameter="sampler",
        )
    sampler.refuse_relation(relation)
    _refuse_stated_noise(kind)
    near, least, found = 1.0, float("inf"), []
    for drawn, make in _choices(sampler, kind, steps):

        def price(scale: float, drawn: BatchSampler = drawn, make: Kind = make) -> TrainingPrice:
            return price_of(drawn, make(scale), steps, relation, unit)

        search = _least_for_bins if isinstance(drawn, BallsInBins) else least_scale
        near = search(price, *target, start=near)
        error = near * prefix_error(make(near).coefficients(steps), steps)
        if error > _WORSE * least:
            break
        least = min(least, error)
        found.append((error, drawn, make(near)))
    if not found:
        raise ParameterError(
            "noise must have at most as many bands as there can be groups, one over the rate and at most "
            f"{_MOST_GROUPS}; got more, write fewer bands",
            parameter="noise",
        )
    # bands keep as many secret sums in memory: the fewest that are about as good as the best
    return next((drawn, noise) for error, drawn, noise in found if error <= _ABOUT * least)


def _refuse_stated_noise(kind: Kind | None) -> None:
    """Raise an error for what is no kind of noise: a noise whose scale is stated, or that needs more than a scale."""
    if kind is None:
        return
    if callable(kind):
        with suppress(TypeError):  # such as Banded, which needs its bands too
            if isinstance(kind(1.0), TrainingNoise):
                return
    raise ParameterError(
        f"noise must be a kind of noise, whose scale is found; got {_named(kind)}, write noise=IndependentNoise, or "
        "noise=lambda scale: Banded(scale, bands=8), or Plan(noise=...) where the scale is known",
        parameter="noise",
    )


def _named(kind: object) -> str:
    """Return a class by its name, and a value by that of its class."""
    return f"the class {kind.__name__}" if isinstance(kind, type) else f"a {type(kind).__name__}"


def least_scale(
    price: Callable[[float], TrainingPrice], epsilon: Fraction, delta: Fraction, *, start: float = 1.0
) -> float:
    """Return about the least scale whose price is certified to keep (epsilon, delta).

    A rough answer first, then the plan's own: see `_searched`, whose result was certified.
    """
    left, goal = round_down(price(1.0).of_steps(delta)), float(epsilon)
    _refuse_all_or_nothing(price(1.0), left)

    def rough(scale: float) -> Enclosure:
        return _between(price(scale).steps.loss.epsilon(left, tolerance=_ROUGH * goal), 0.5)

    near, slope = _searched(rough, goal, start, _SLOPE, close=_ROUGH / 10)
    return _searched(lambda scale: price(scale).epsilon(delta), epsilon, near, slope)[0]


def _refuse_all_or_nothing(price: TrainingPrice, delta: float) -> None:
    """Raise an error where delta is so large that everyone who is drawn could be shown, with no noise at all."""
    sampled = price.steps.sampler is Sampler.POISSON  # in balls in bins everyone is drawn in every epoch
    rate = float(price.steps.rate) if sampled and price.steps.rate is not None else 1.0
    drawn = -math.expm1(price.steps.count * math.log1p(-rate)) if rate < 1 else 1.0
    if delta >= drawn / 2:
        raise ParameterError(
            "delta must be far below the chance that a person is drawn at all, or nobody who is drawn is protected; "
            "got more than half of it, write delta=1e-6, for example",
            parameter="delta",
        )


def _least_for_bins(
    price: Callable[[float], TrainingPrice], epsilon: Fraction, delta: Fraction, *, start: float = 1.0
) -> float:
    """Return about the least scale for balls in bins: their law takes .1 s or more, so few are computed.

    The search goes by coarse laws, first a very coarse one, then two whose upper ends tell where that of a fine one is,
    since what they are above it falls with the square of their cells; then the priced law is asked once or twice. What
    is returned was certified.
    """
    left, goal = round_down(price(1.0).of_steps(delta)), float(epsilon)
    _refuse_all_or_nothing(price(1.0), left)
    bins, epochs = (price(1.0).steps.rate or Fraction(1)).denominator, price(1.0).steps.count

    def by(cells: int, scale: float) -> Enclosure:
        law = balls_in_bins_loss(scale, steps=bins, relation=Relation.ADD_REMOVE, cells=cells)
        return (law * epochs).epsilon(left)

    def coarse(scale: float) -> Enclosure:
        double, single = by(_COARSE // 2, scale).upper, by(_COARSE, scale)
        if not math.isfinite(double):
            return single
        point = max(single.upper - (double - single.upper) / 3, single.lower)
        return Enclosure(point, point, point, single.method)

    near, slope = _searched(lambda scale: _between(by(_COARSEST, scale), 0.2), goal, start, _SLOPE, close=0.03)
    near, slope = _searched(coarse, goal * (1 - _NEAR / 2), near, slope, close=_NEAR / 4)
    return _searched(lambda scale: price(scale).epsilon(delta), epsilon, near, slope, close=_NEAR)[0]


def _searched(
    ask: Callable[[float], Enclosure], goal: Number, here: float, slope: float, *, close: float = _CLOSE
) -> tuple[float, float]:
    """Return a scale whose epsilon was asked and is at most the goal, and the slope of ln epsilon in ln scale there.

    It ends where the goal is missed by no more than `close` of it, or than the answer is wide. That epsilon falls with
    the scale is used for the search only.
    """
    short, enough, last, target = 0.0, math.inf, (0.0, 0.0), float(goal)
    for _ in range(_MOST_TRIALS):
        found = ask(here)
        upper, wide = found.upper, found.upper - found.lower
        short, enough = (short, here) if upper <= goal else (here, enough)
        if enough == here and target - upper <= max(close * target, min(wide, 2 * _ROUGH * target)):
            return here, slope
        if enough <= short * (1 + _CLOSE / 10):
            return enough, slope
        slope = _slope(last, (here, upper), slope)
        last = (here, upper)
        here = _following(here, upper, target * (1 - close / 2) - min(wide, target * _ROUGH) / 2, slope)
        if not short < here < enough:
            here = 2 * short if enough == math.inf else enough / 2 if short == 0 else math.sqrt(short * enough)
    raise ParameterError(
        "epsilon and delta must be a target that noise can keep; got others, write larger ones", parameter="epsilon"
    )


def _between(found: Enclosure, towards: float) -> Enclosure:
    """Return a point between the ends of a rough answer as if it were sharp: good enough to begin with."""
    point = found.upper if math.isinf(found.upper) else found.lower + towards * (found.upper - found.lower)
    return Enclosure(point, point, point, found.method)


def _following(here: float, upper: float, aim: float, slope: float) -> float:
    """Return where epsilon would be the aim, if it were a power of the scale; a factor of 8 at most."""
    if not 0 < upper < math.inf:
        return here * (4.0 if upper else 0.25)
    return here * min(max(math.pow(upper / aim, -1 / slope), 0.125), 8.0)


def _slope(last: tuple[float, float], now: tuple[float, float], before: float) -> float:
    """Return d ln epsilon / d ln scale from two points, within reason, or what was known where they say nothing."""
    if not all(0 < one < math.inf for one in (*last, *now)) or last[0] == now[0]:
        return before
    found = math.log(now[1] / last[1]) / math.log(now[0] / last[0])
    return found if -30 < found < -0.3 else before


def _choices(sampler: BatchSampler, kind: Kind | None, steps: int) -> Iterator[Choice]:
    """Return the kinds of noise to compare, few bands first; with the sampler, which may leave its groups open."""
    open_groups = isinstance(sampler, CyclicPoisson) and sampler.groups is None
    stated = 1 if kind is None else len(kind(1.0).coefficients(steps))
    for groups in _counts(_groups_allowed(sampler, steps), stated) if open_groups else (None,):
        drawn = replace(sampler, groups=groups) if open_groups and isinstance(sampler, CyclicPoisson) else sampler
        if kind is not None:
            if groups is None or stated <= groups:
                yield drawn, kind
            continue
        for bands in _bands(drawn, groups, steps):
            yield drawn, _banded(bands)


def _bands(sampler: BatchSampler, groups: int | None, steps: int) -> Iterable[int]:
    """Return the numbers of bands to compare: where groups are chosen too, as many as groups."""
    if groups is not None:
        return (groups,)
    if isinstance(sampler, CyclicPoisson):
        return _counts(min(sampler.cycle, steps))
    return _counts(min(_MOST_GROUPS, steps)) if isinstance(sampler, FullBatch) else (1,)


def _groups_allowed(sampler: BatchSampler, steps: int) -> int:
    return min(int(1 / sampler.share), steps, _MOST_GROUPS)


def _counts(most: int, also: int = 1) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12, ..., one number besides, and the largest itself.

    >>> _counts(20)
    [1, 2, 3, 4, 6, 8, 12, 16, 20]
    """
    steps = sorted({1, also, *(one << power for power in range(most.bit_length()) for one in (2, 3))})
    return [*(one for one in steps if one < most), most]


def _banded(bands: int) -> Kind:
    return IndependentNoise if bands == 1 else lambda scale: Banded(scale, bands=bands)
