"""From one promise to another: the best that provably follows, or a refusal that says why nothing does."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar, cast

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError
from discreet.laws.number import Number
from discreet.privacy.guarantees import rules
from discreet.privacy.guarantees.curves import delta_of, epsilon_of
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.numbers import probability, renyi_order, written
from discreet.privacy.relation import require_known

Promise = TypeVar("Promise", bound=Guarantee)


def convert(
    guarantee: Guarantee, to: type[Promise], *, delta: Number | None = None, alpha: Number | None = None
) -> Promise:
    """Return the strongest promise of another notion that is proven to follow, rounded up, for the same relation.

    `delta` belongs to `ApproxDP` and `ZCDP`: the delta the new promise shall have (left out: the one the old promise
    has). `alpha` belongs to `RenyiDP`. Where nothing follows, `NoSoundConversion` says why and what would.

    Privacy. Every release that keeps the first promise keeps the second.
        Proof: one theorem for each step, in `guarantees.rules`; a promise with delta = 0, or with no loss at all,
        is first restated in its plainest notion, which is an equivalence: zero divergence means equal laws, and a
        mixture with equal first parts is within delta in total variation.

    >>> convert(PureDP(1), ZCDP)
    ZCDP(rho=0.4621171572600098, delta=0.0)
    >>> convert(ZCDP(0.5), RenyiDP, alpha=8)
    RenyiDP(alpha=8, epsilon=4.0)
    """
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(f"a promise is needed, not {type(guarantee).__name__}", parameter="guarantee")
    wanted_delta, wanted_alpha = _arguments(to, delta, alpha)
    source = _plainest(guarantee)
    found: Guarantee
    if to is PureDP:
        found = _to_pure(source)
    elif to is ApproxDP:
        found = _to_approx(source, wanted_delta)
    elif to is ZCDP:
        found = _to_zcdp(source, wanted_delta)
    elif to is RenyiDP:
        found = _to_renyi(source, cast(Number, wanted_alpha))
    elif to is GaussianDP:
        found = _to_gaussian(source)
    else:
        raise ParameterError("to must be PureDP, ApproxDP, ZCDP, RenyiDP or GaussianDP", parameter="to")
    return cast(Promise, guarantee if found == guarantee else found)


def implies(guarantee: Guarantee, other: Guarantee) -> bool:
    """Say whether the second promise is proven to follow from the first; False means 'not proven here'.

    A promise for a stated relation is concluded only from one for the same relation; anything else raises
    `RelationMismatch`. A promise without a stated relation follows from its numbers alone.

    Privacy. True only if every release that keeps the first promise keeps the second.
        Proof: convert to the second notion at the second's delta or order, and compare: each notion weakens as its
        parameters grow. For (epsilon, delta) either coordinate may be the one computed.

    >>> implies(PureDP(1), ZCDP(0.5)), implies(ZCDP(0.5), PureDP(1))
    (True, False)
    """
    if not isinstance(other, Guarantee):
        raise ParameterError(f"a promise is needed, not {type(other).__name__}", parameter="other")
    require_known(guarantee.relation, other.relation)
    try:
        return _follows(guarantee, other)
    except NoSoundConversion:
        return False


def _follows(guarantee: Guarantee, other: Guarantee) -> bool:
    """Convert to the other's notion and compare parameters, exactly."""
    match other:
        case PureDP():
            return written(convert(guarantee, PureDP).epsilon) <= written(other.epsilon)
        case ApproxDP():
            source, delta, epsilon = _plainest(guarantee), Fraction(other.delta), Fraction(other.epsilon)
            return epsilon_of(source, delta) <= epsilon or delta_of(source, epsilon) <= delta
        case ZCDP():
            return written(convert(guarantee, ZCDP, delta=other.delta).rho) <= written(other.rho)
        case RenyiDP():
            return written(convert(guarantee, RenyiDP, alpha=other.alpha).epsilon) <= written(other.epsilon)
        case GaussianDP():
            return written(convert(guarantee, GaussianDP).mu) <= written(other.mu)
    return False


def _arguments(to: type[Guarantee], delta: Number | None, alpha: Number | None) -> tuple[Number | None, Number | None]:
    """Check that each argument belongs to the notion asked for, and none is missing."""
    if delta is not None:
        if to not in (ApproxDP, ZCDP):
            raise ParameterError(f"delta is for ApproxDP and ZCDP; {to.__name__} has none", parameter="delta")
        delta = probability(delta, name="delta")
    if alpha is not None:
        if to is not RenyiDP:
            raise ParameterError(f"alpha is for RenyiDP; {to.__name__} has none", parameter="alpha")
        alpha = renyi_order(alpha, name="alpha")
    elif to is RenyiDP:
        raise MissingParameter("a Renyi promise needs its order: pass alpha= (greater than 1)", parameter="alpha")
    return delta, alpha


def _plainest(promise: Guarantee) -> Guarantee:
    """Restate a promise with no delta, or with no loss, in the plainest notion that says the same."""
    relation = promise.relation
    match promise:
        case ApproxDP(delta=0):
            return PureDP(promise.epsilon, relation=relation)
        case ZCDP(rho=0, delta=0) | RenyiDP(epsilon=0) | GaussianDP(mu=0):
            return PureDP(0, relation=relation)
        case ZCDP(rho=0):
            return ApproxDP(0, promise.delta, relation=relation)
    return promise


def _to_pure(source: Guarantee) -> PureDP:
    if isinstance(source, PureDP):
        return source
    raise NoSoundConversion(
        f"no epsilon bounds every outcome under {source!r}: it allows rare outcomes with unbounded loss. "
        "Convert to ApproxDP with a delta instead."
    )


def _to_approx(source: Guarantee, delta: Number | None) -> ApproxDP:
    if delta is not None:
        return rules.to_approx_at(source, delta)
    match source:
        case PureDP():
            return ApproxDP(source.epsilon, 0, relation=source.relation)
        case ApproxDP():
            return source
    raise MissingParameter(f"from {type(source).__name__} the epsilon depends on delta: pass delta=", parameter="delta")


def _to_zcdp(source: Guarantee, delta: Number | None) -> ZCDP:
    """Return the better of the direct rule and, where a delta is granted, the way through (epsilon, delta)."""
    found: list[ZCDP] = []
    match source:
        case PureDP():
            found.append(rules.pure_to_zcdp(source))
        case ApproxDP():
            found.append(rules.approx_to_zcdp(source))
        case ZCDP():
            found.append(source)
        case GaussianDP():
            found.append(rules.gaussian_to_zcdp(source))
    if delta is None and found:
        return found[0]
    if delta is None:
        raise NoSoundConversion(
            f"{source!r} bounds one order only; higher orders may be infinite, so no rho follows. Pass delta= for an "
            "approximate promise, or convert what this was made from."
        )
    enough = [promise for promise in found if Fraction(promise.delta) <= Fraction(delta)]
    try:
        enough.append(rules.approx_to_zcdp(rules.to_approx_at(source, delta)))
    except NoSoundConversion:
        if not enough:
            raise
    return ZCDP(min(promise.rho for promise in enough), delta, relation=source.relation)


def _to_renyi(source: Guarantee, alpha: Number) -> RenyiDP:
    match source:
        case PureDP():
            return rules.pure_to_renyi(source, alpha)
        case ZCDP(delta=0):
            return rules.zcdp_to_renyi(source, alpha)
        case RenyiDP():
            return rules.renyi_to_renyi(source, alpha)
        case GaussianDP():
            return rules.gaussian_to_renyi(source, alpha)
    raise _delta_forbids(source, "the Renyi divergence may be infinite. Keep ApproxDP or delta-approximate ZCDP.")


def _to_gaussian(source: Guarantee) -> GaussianDP:
    match source:
        case PureDP():
            return rules.pure_to_gaussian(source)
        case ZCDP(delta=0):
            return rules.zcdp_to_gaussian(source)
        case GaussianDP():
            return source
        case RenyiDP():
            raise NoSoundConversion(
                f"the loss under {source!r} can have an exponential tail, heavier than every normal one, so no mu "
                "follows. Convert to ApproxDP with a delta instead."
            )
    raise _delta_forbids(source, "no normal pair allows that with certainty. Keep ApproxDP or delta-approximate ZCDP.")


def _delta_forbids(source: Guarantee, consequence: str) -> NoSoundConversion:
    return NoSoundConversion(f"{source!r} allows a complete disclosure with probability delta > 0: {consequence}")
