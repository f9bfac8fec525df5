"""One question under four budgets that mean the same (epsilon, delta): how noisy its answer would be in each notion."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction

from discreet.display import format_number
from discreet.errors import DiscreetError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, Price, PureDP, gaussian_budget, largest_rho
from discreet.privacy.adaptive import privacy_filter
from discreet.query.measures import QuantilesOfGroups
from discreet.query.policy import Policy
from discreet.query.pricing.priced_query import PricedQuery
from discreet.query.pricing.settling import priced

_DELTA = Fraction(1, 10**6)  # at which a budget without a point of its own is read
_CONFIDENCE = 0.95


def other_budgets(made: PricedQuery, policy: Policy, rows_expected: int | None) -> str:
    """Say how noisy a question would be under budgets of other notions; "" for a pure budget, which has no delta.

    As many questions like it as the whole budget holds share each of the budgets. No notion is the best for every
    question: Gaussian noise is cheapest under a Gaussian budget, many choices and much Laplace noise under zCDP, and
    few answers under an approximate one.
    """
    point = _point(policy.budget)
    if point is None or not made.query.aggregation.asked:
        return ""
    private_keys = made.selection is not None
    count = max(privacy_filter(policy.budget).fits(made.guarantee), 1)
    found = {
        name: _noise(made, replace(policy, budget=budget.under(policy.relation)), Fraction(1, count), rows_expected)
        for name, budget in _budgets(point, _reserve(policy.budget, private_keys), private_keys=private_keys).items()
    }
    sizes = [f"{name} {format_number(size, digits=4)}" for name, size in found.items() if size is not None]
    if not sizes:
        return ""
    epsilon, delta = (format_number(Fraction(one), digits=4) for one in (point.epsilon, point.delta))
    shared = f"{count:,} such questions" if count > 1 else "one such question"
    return f"with epsilon {epsilon} at delta {delta} for {shared}, {_measured(made)} would be: {', '.join(sizes)}"


def _point(budget: Guarantee) -> ApproxDP | None:
    """Return an (epsilon, delta) that a budget means: at twice the delta that it keeps for private keys."""
    match budget:
        case ApproxDP():
            return budget
        case ZCDP() | GaussianDP():
            return budget.to_approx(delta=2 * Fraction(budget.delta) or _DELTA)
    return None


def _reserve(budget: Guarantee, private_keys: bool) -> Fraction:
    """Return the delta that is set apart for private keys, the same in every notion."""
    if isinstance(budget, ApproxDP):
        return Fraction(budget.delta) / 2 if private_keys else Fraction(0)
    return Fraction(getattr(budget, "delta", 0))


def _budgets(point: ApproxDP, reserve: Fraction, *, private_keys: bool) -> dict[str, Guarantee]:
    """Return a budget of each notion that keeps the point, with the reserve; in its own notion it is the budget."""
    epsilon, delta = Fraction(point.epsilon), Fraction(point.delta)
    in_epsilon: dict[str, Guarantee] = {"approx": point} if private_keys else {"pure or approx": PureDP(epsilon)}
    rho = largest_rho(epsilon, (delta - reserve) / (1 - reserve))
    return in_epsilon | {
        "zcdp": ZCDP(rho, reserve),
        "gaussian": gaussian_budget(epsilon=epsilon, delta=delta, reserve=reserve),
    }


def _noise(made: PricedQuery, policy: Policy, share: Fraction, rows_expected: int | None) -> float | None:
    """Return how noisy the first aggregate is at a share of another budget: None where nothing predicts it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody asked for that budget
        try:
            bias = made.outer is not None
            other = priced(made.query, policy, Price(share=share), limits=made.limits, bias=bias)
        except DiscreetError:  # too small a share for a choice, or bounds that the other noise needs are not stated
            return None
        return _size(made, other, rows_expected)


def _size(made: PricedQuery, other: PricedQuery, rows_expected: int | None) -> float | None:
    """Return the noise, the half-width or the rank error of the first aggregate."""
    index, inner = made.places[made.query.aggregation.asked[0].name]
    measure, part = other.measures[index], other.parts[index]
    if isinstance(measure, QuantilesOfGroups):
        return measure.rank_error(part, _CONFIDENCE)
    spread = measure.spread(part)
    known = spread[inner] if spread else None
    return known if known is not None else next(iter(measure.width(part, _CONFIDENCE, rows_expected)), None)


def _measured(made: PricedQuery) -> str:
    """Name what is compared."""
    name = made.query.aggregation.asked[0].name
    index, inner = made.places[name]
    if isinstance(made.measures[index], QuantilesOfGroups):
        return f"the rank error of {name} at 95 %"
    spread = made.measures[index].spread(made.parts[index])[inner]
    return f"the {'half-width at 95 %' if spread is None else 'noise (st. dev.)'} of {name}"
