"""Losses of many steps on batches: balls in bins, cyclic Poisson, dropped rows, and noise correlated over steps."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ParameterError, RelationMismatch
from discreet.laws.number import Number
from discreet.privacy.guarantees import ApproxDP, GaussianDP
from discreet.privacy.loss.derived import subsample
from discreet.privacy.loss.loss import PrivacyLoss, compose
from discreet.privacy.loss.reference import gaussian_loss
from discreet.privacy.loss.release import Sampler
from discreet.privacy.numbers import positive, probability, whole
from discreet.privacy.pairs import BallsInBinsPair, Side
from discreet.privacy.relation import Relation


def balls_in_bins_loss(
    scale: Number, *, sensitivity: Number = 1, steps: int, relation: Relation, cells: int | None = None
) -> PrivacyLoss:
    """Price one epoch in which each person goes to one of `steps` steps, uniformly and independently of the others.

    Every step releases a sum with Gaussian noise of standard deviation `scale`, of which one person moves the L2 norm
    by at most `sensitivity`. Several epochs, each with fresh choices: the loss times their number. `cells` sets how
    finely the law is computed, and so how far apart the bounds are and how long they take; they hold for any number.

    Privacy. See `BallsInBinsPair`; also sensitivity/scale-Gaussian DP, as for somebody who is told the steps.
        Proof: see there.
    Accuracy. For 100 and 1,000 steps, scales from 1/2 to 2 and delta = 1e-6 the bounds on epsilon are less than 1e-3
        apart; there is no randomness in them.
    Cost. At scale 1 about .1 s for 100 steps and .2 s for 1,000, at 1/2 three times as much; about a quarter of it with
        half as many cells.
    Reference. Chua et al. 2025.

    >>> epoch = balls_in_bins_loss(1, steps=100, relation=Relation.ADD_REMOVE)
    >>> round(epoch.epsilon(1e-6).upper, 3)
    0.858
    """
    if relation is not Relation.ADD_REMOVE:
        stated = "states no relation" if relation is Relation.UNSTATED else f"is for {relation.value!r}"
        raise RelationMismatch(
            "balls in bins is priced for 'add/remove' only: with and without a person the batches differ in size. This "
            f"loss {stated}; write relation=Relation.ADD_REMOVE, with the sensitivity to one person's presence."
        )
    ratio = Fraction(positive(sensitivity, name="sensitivity")) / Fraction(positive(scale, name="scale"))
    count = whole(steps, name="steps")
    if count == 1:
        return gaussian_loss(scale, sensitivity=sensitivity, relation=relation)
    return PrivacyLoss.from_directions(
        remove=[BallsInBinsPair(ratio, count, Side.REMOVE, cells)],
        add=[BallsInBinsPair(ratio, count, Side.ADD, cells)],
        relation=relation, guarantee=GaussianDP(ratio, relation=relation), sampler=Sampler.BALLS_IN_BINS,
    )  # fmt: skip


def matrix_gaussian_loss(
    scale: Number, *, sensitivity: Number = 1, participations: int = 1, relation: Relation = Relation.UNSTATED
) -> PrivacyLoss:
    """Price noise correlated over steps: C x + Z is released, with Z independent Gaussian noise of the given scale.

    x are the sums of all steps, C is public and lower triangular, as is everything said here before the first step.
    `sensitivity` bounds the L2 norm by which one participation of a person moves C x: the norm of a column of C times
    the clip norm. The columns of two participations of one person must have no row in common; the person takes part at
    most `participations` times. Where columns overlap, give the norm of the whole change as `sensitivity`, once.

    Privacy. sqrt(participations) sensitivity/scale-Gaussian DP, exactly as that many Gaussian releases.
        Proof: row r of C x + Z is a function of the rows before it (which decide the queries), of C and of the people,
        plus fresh noise. Fix two neighbors. Given the rows before r, the two laws of row r are normal and differ by a
        move m_r that those rows determine: a Gaussian release with mu = |m_r|/scale. A participation that adds v to its
        step moves the rows of its column by v times their entries, and no row is in two such columns; so along every
        path the squares of the |m_r| add up to at most participations sensitivity^2. Gaussian releases whose mus are
        chosen in view of earlier answers and whose squares add up to at most mu^2 along every path are mu-Gaussian DP
        (the theorem of `GaussianFilter`). What is computed from C x + Z, such as x + C^-1 Z, is post-processing.
    Reference. Li et al. 2015; Denisov et al. 2022 for adaptive queries; Choquette-Choo et al. 2023 for several
        participations.

    >>> loss = matrix_gaussian_loss(4, sensitivity=2, participations=9)
    >>> loss.epsilon(1e-6).upper == gaussian_loss(4, sensitivity=6).epsilon(1e-6).upper
    True
    """
    return gaussian_loss(scale, sensitivity=sensitivity, relation=relation) * whole(
        participations, name="participations"
    )


def cyclic_poisson_loss(
    scale: Number, *, sensitivity: Number = 1, rate: Number, groups: int, steps: int, relation: Relation
) -> PrivacyLoss:
    """Price banded noise on cyclic Poisson samples: `steps` steps, each person in one of `groups` random groups.

    Before the first step each person goes to a uniformly random group, independently of all others. Step t samples the
    people of group t mod groups, each independently with probability rate times groups, so that everybody is in a step
    with probability `rate`. C is as in `matrix_gaussian_loss`, with at most `groups` bands: row r uses the steps
    r - groups + 1 to r only. `sensitivity` is the norm of a column of C times the clip norm.

    Privacy. Not worse than ceil(steps/groups) Gaussian releases on Poisson samples at the rate rate * groups.
        Proof: let one table have a person more. Fix the groups and all samples of the others, and the person's group g;
        the laws are averages over these choices, which are the same for both tables (without the person, g changes
        nothing), so by joint convexity of delta(epsilon) it is enough to bound each. The person can take part in the
        steps g, g + groups, ..., in each independently with probability p = rate * groups. Cut the rows into blocks
        from g + j groups to g + (j+1) groups - 1. There are at most `groups` bands, so column g + j groups lies in
        block j: in that block the person adds B_j c v_j, with B_j = 1 with probability p, fresh, and v_j determined by
        the rows before the block. Given these rows, the block is a post-processing of ((1-p) N(0) + p N(m), N(0)) with
        m at most sensitivity/scale: subtract the contribution of the others, which the rows before each row determine,
        and rotate v_j onto one axis. That is the pair of a Poisson sample (`PoissonPair`), the same whatever the rows
        before are; the product of at most ceil(steps/groups) of them dominates the transcript (`PrivacyLoss`). The rows
        before g do not depend on the person. Adding a person is the same with the laws exchanged.
    Reference. Choquette-Choo et al. 2023, amplified banded matrices.

    >>> loss = cyclic_poisson_loss(
    ...     1, rate=0.01, groups=4, steps=1000, relation=Relation.ADD_REMOVE
    ... )
    >>> loss.releases, loss.epsilon(1e-6).upper
    (250, 4.826...)
    """
    share, count = Fraction(probability(rate, name="rate")), whole(groups, name="groups")
    if share * count > 1:
        raise ParameterError(
            "rate must be at most 1/groups, because a step samples one group only; got more, write a smaller rate or "
            "fewer groups",
            parameter="rate",
        )
    rounds = -(-whole(steps, name="steps") // count)
    base = gaussian_loss(scale, sensitivity=sensitivity, relation=relation)
    return subsample(base, rate=share * count) * rounds


def truncated_loss(loss: PrivacyLoss, *, chance: Number) -> PrivacyLoss:
    """Price releases on Poisson samples that drop people beyond a public cap, where that has a small chance.

    `loss` is what the releases cost with nobody dropped; `chance` bounds the chance that at some step at least as many
    *other* people are sampled as the cap allows, for every table (`people` at most, T steps: T P(Bin(people - 1, rate)
    >= cap)). Who is dropped may depend on the sample of that step in any way.

    Privacy. delta(epsilon) <= (1 - chance) delta_loss(epsilon) + chance: the loss composed with (0, chance)-DP.
        Proof: let O be the event that at some step the other people alone reach the cap. It does not depend on whether
        the person is in the table, nor on the person's own samples. Without O nobody is dropped on either table, as the
        person is at most one more; and given the others' samples, the person's are independent of them and as likely
        as ever, so the conditional laws are averages of what `loss` dominates (the proof of `PoissonPair` fixes the
        sample of the others first). With P(O) = t the laws are (1 - t) P_0 + t P_1 and (1 - t) Q_0 + t Q_1; for every
        event the difference of P and e^epsilon Q is at most (1 - t) delta_loss(epsilon) + t, which grows with t. That
        is the delta of the product of `loss` and a release that with probability `chance` tells everything.

    >>> step = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01)
    >>> dropping = truncated_loss(step * 100, chance=1e-9)
    >>> f"{dropping.delta(1).upper - (step * 100).delta(1).upper:.2g}"
    '1e-09'
    """
    told = ApproxDP(0, probability(chance, name="chance"), relation=loss.relation)
    return compose([loss, PrivacyLoss.from_guarantee(told)])
