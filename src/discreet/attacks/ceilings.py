"""The ceiling: the largest share of secret bits that any attacker can expect to recover, from the price alone."""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction

from discreet.display.result import told_by_name
from discreet.errors import MissingParameter, ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number, round_down, round_up
from discreet.privacy import PrivacyLoss, Relation, change_one_loss
from discreet.privacy.numbers import bounds, number, probability


@told_by_name
class Flip(Enum):
    """What happens to the rows that the queries see when one person's secret bit changes.

    `ONE_ROW`: every query counts rows with the bit 1 only (`WHERE marker = 1`), so that a flip adds or removes one
    counted row: one step under add/remove. `TWO_ROWS`: queries may look at both values, so that a flip removes a row
    and adds another: two steps under add/remove, one under change-one.
    """

    ONE_ROW = "adds or removes one row that is counted"
    TWO_ROWS = "removes one row and adds another"


def ceiling(loss: PrivacyLoss, *, flip: Flip | None = None, frequency: Number = Fraction(1, 2)) -> Enclosure:
    """Enclose the largest share of secret bits that any attacker can expect to get right from releases of this price.

    Every person's bit is 1 with the chance `frequency`, independently of the others and of all that is public. The
    attacker may know everything else, the other people's bits included, and have any amount of time. `flip` is never
    guessed.

    Privacy. An attacker's expected share of right bits is at most `upper`. With p = min(frequency, 1 - frequency) it is
        1 - p + p delta(ln((1 - p)/p)), for fair bits (1 + delta(0))/2: one minus the mean of false alarms and misses at
        the best point of the trade-off curve, 1 - min over alpha of (alpha + f(alpha))/2.
        Proof: by linearity of expectation it is enough to bound the chance for one bit. Give the attacker all other
        bits; what is left is to tell two tables apart that differ by a flip of this bit, the releases having the laws
        P (the rarer value) and Q. Guessing the rarer value on an event A is right with the chance p P(A) + (1 - p)(1 -
        Q(A)) = 1 - p + p (P(A) - (1 - p)/p Q(A)), at most 1 - p + p delta(ln((1 - p)/p)) by the definition of delta.
        `Flip.ONE_ROW`: every release reads only rows with the bit 1, of which a flip adds or removes one, so its laws
        on the two tables are laws of the releases on neighbors under add/remove. All go the same way, and the price's
        direction that is worse is taken. `Flip.TWO_ROWS`: the tables are two such steps apart, the price is that of
        `change_one_loss`. Under change-one a flip is one step in either case.
    Cost. One delta of the price: milliseconds.
    Figure. reconstruction.svg
    Reference. Dong, Roth, Su 2022, for the trade-off curve; Dinur, Nissim 2003, for reconstruction.

    >>> from discreet.privacy import PureDP, Relation
    >>> ceiling(PureDP(1, relation=Relation.ADD_REMOVE).loss, flip=Flip.ONE_ROW).upper
    0.7310585786300...
    >>> ceiling(PureDP(1, relation=Relation.ADD_REMOVE).loss, flip=Flip.TWO_ROWS).upper
    0.8807970779778...
    """
    if not isinstance(loss, PrivacyLoss):
        hint = "; of a guarantee, such as PureDP(1), it is the .loss: PureDP(1).loss" if hasattr(loss, "loss") else ""
        raise ParameterError(
            f"loss must be a price, such as a mechanism's .loss times the queries{hint}", parameter="loss"
        )
    if flip is None:
        raise MissingParameter(
            "say what a flip of one secret bit does: flip=Flip.ONE_ROW if every query counts rows with the bit 1 only "
            "(WHERE marker = 1), flip=Flip.TWO_ROWS if queries may look at both values",
            parameter="flip",
        )
    if not isinstance(flip, Flip):
        raise ParameterError("flip must be Flip.ONE_ROW or Flip.TWO_ROWS", parameter="flip")
    given = Fraction(probability(frequency, name="frequency"))
    rarer = min(given, 1 - given)
    method = "success of the best test for one flipped bit, from delta(epsilon)"
    if rarer == 0:
        return Enclosure.exact(1.0, method=method)
    priced = change_one_loss(loss) if flip is Flip.TWO_ROWS and loss.relation is not Relation.CHANGE_ONE else loss
    low, high = _levels(rarer)
    # delta falls as the level grows
    upper, lower = priced.delta(low).upper, priced.delta(high).lower
    top = min(round_up(1 - rarer + rarer * Fraction(upper)), 1.0)
    bottom = round_down(1 - rarer + rarer * Fraction(lower))
    return Enclosure(bottom, bottom + (top - bottom) / 2, top, method)


def _levels(rarer: Fraction) -> tuple[float, float]:
    """Return floats on both sides of ln((1 - p)/p), not below 0."""
    if 2 * rarer == 1:
        return 0.0, 0.0
    low, high = bounds(lambda: number((1 - rarer) / rarer).log())
    return max(low, 0.0), max(high, math.nextafter(0.0, 1.0))
