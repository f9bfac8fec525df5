"""Releases on a secret sample: the price of sampling, and which samplers have one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.errors import NoSoundConversion, ParameterError, RelationMismatch
from discreet.laws import Pair
from discreet.laws.number import Number
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from discreet.privacy.loss.loss import PrivacyLoss
from discreet.privacy.loss.release import Release, Sampler
from discreet.privacy.numbers import probability
from discreet.privacy.pairs import ComposedPair, FixedSizePair, PoissonPair, Side
from discreet.privacy.relation import Relation


def subsample(loss: PrivacyLoss, *, rate: Number, sampler: Sampler | str = Sampler.POISSON) -> PrivacyLoss:
    """Return the price of a release made on a secret sample of the people, drawn afresh for it.

    With `sampler="poisson"` each person is in the sample independently with probability `rate`; the price must be for
    add/remove. With `sampler="fixed size"` a share `rate` of all rows, a fixed number, is drawn without replacement;
    the price must be for change-one. Several releases on one and the same sample: subsample their composition.

    Privacy. Poisson: `PoissonPair`, both directions. Fixed size: `FixedSizePair`.
        Proof: see there.
    Reference. Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.loss.reference import gaussian_loss
    >>> step = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01)
    >>> (step * 10_000).epsilon(1e-5).upper
    6.18771...
    """
    if not isinstance(loss, PrivacyLoss):
        raise ParameterError("subsample takes a price (a mechanism's .loss, a promise's .loss)", parameter="loss")
    share, how = probability(rate, name="rate"), Sampler.named(sampler)
    if share == 0:
        raise ParameterError("a sampling rate of 0 releases nothing about anybody", parameter="rate")
    if how is Sampler.EVERYONE:
        raise ParameterError("sampler must be 'poisson' or 'fixed size'", parameter="sampler")
    _require_relation(loss.relation, how)
    remove, add = (_pairs(loss, side) for side in (Side.REMOVE, Side.ADD))
    claim = _kept(loss.claim)
    if how is Sampler.POISSON:
        release = Release(
            tuple(PoissonPair(pair, share, Side.REMOVE) for pair in remove),
            tuple(PoissonPair(pair, share, Side.ADD) for pair in add),
            claim, loss.attained, how,
        )  # fmt: skip
    else:
        both = tuple(dict.fromkeys(FixedSizePair(pair, share) for pair in (*remove, *add)))
        release = Release(both, both, claim, False, how)
    return replace(loss, parts=((release, 1),))


def _pairs(loss: PrivacyLoss, side: Side) -> tuple[Pair, ...]:
    """Return what dominates the releases on the sample: the pairs of one, or the composition of several."""
    if loss.is_single:
        pairs = loss.parts[0][0].towards(side)
        if pairs:
            return pairs
    if loss.is_single and loss.claim is not None and not isinstance(loss.claim, PureDP | ApproxDP | GaussianDP):
        raise NoSoundConversion(
            f"sampling acts on a whole curve, and {loss.claim!r} alone does not give a good one. Start from the "
            "mechanism's own loss, or convert the promise to ApproxDP with a delta first."
        )
    return (ComposedPair(loss, side),)


def _kept(claim: Guarantee | None) -> Guarantee | None:
    """Return the part of a promise that a sample certainly keeps: a release on fewer people promises no less."""
    return (
        claim if isinstance(claim, PureDP | ZCDP | GaussianDP) and Fraction(getattr(claim, "delta", 0)) == 0 else None
    )


def _require_relation(relation: Relation, sampler: Sampler) -> None:
    """Refuse the relations for which the theorem is false, or not known to hold."""
    needed = Relation.ADD_REMOVE if sampler is Sampler.POISSON else Relation.CHANGE_ONE
    if relation is needed:
        return
    if relation is Relation.UNSTATED:
        raise RelationMismatch(
            f"{sampler.value} sampling is priced for {needed.value!r} only, and this price states no relation. State "
            f"it on the sensitivity, or where the price is made: relation=Relation.{needed.name}."
        )
    reason = (
        "samples with and without a person differ in size, and a change-one price, for which the number of rows is "
        "public, does not compare them"
        if sampler is Sampler.POISSON
        else "a sample of fixed size exchanges one row for another, which an add/remove price does not compare"
    )
    raise RelationMismatch(
        f"{sampler.value} sampling is priced for {needed.value!r} only: {reason}. Price the base release with "
        f"relation=Relation.{needed.name}."
    )
