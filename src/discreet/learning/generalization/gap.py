"""Private learning generalizes: how far scores on the rows can be from scores on new people, from the price alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.display import format_number
from discreet.display.result import told_in_rows
from discreet.errors import ParameterError, RelationMismatch
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss, Relation
from discreet.privacy.numbers import plain, probability

_LARGEST_LEVEL = 5.0
_GRID = tuple(_LARGEST_LEVEL * (place / 40) ** 3 for place in range(41))


@told_in_rows
@dataclass(frozen=True, repr=False)
class GeneralizationGap:
    """A bound on the expected gap between a score on the rows and on new people, beside the textbook's.

    `textbook` is e^epsilon - 1 + delta at the stated delta, and says nothing from 1 on.
    """

    bound: float
    textbook: float

    def _rows(self) -> list[tuple[str, str | None]]:
        said = "says nothing" if self.textbook >= 1 else format_number(self.textbook)
        return [("expected gap", f"at most {format_number(self.bound)}"), ("e^epsilon - 1 + delta", said)]


def generalization_gap(loss: PrivacyLoss, *, delta: Number = 0) -> GeneralizationGap:
    """Return a bound on the mean difference between the score on the rows and the score on a new person.

    Accuracy. Let rows be drawn independently from one population, and let a score in [0, 1], chosen beforehand, say how
        well a learned thing fits one person. The mean score over the rows and the mean score of a new person differ, in
        expectation, by at most loss.delta(0) under change-one, the total variation between neighbors.
        Proof: let z_i be row i, z a new person, and M(S) what is learned. Exchanging the names of z_i and z changes no
        law, so E f(M(S), z) = E f(M(S with z in place of z_i), z_i). Given all rows and z, what is learned from S and
        from S with z for z_i are neighbors, so the mean of f( . , z_i), a function with values in [0, 1], differs by at
        most their total variation, which is delta(0). Take the mean over i.
    Post-processing. Whatever is computed from what was learned, and whoever chooses it in view of earlier answers, has
        the same bound for its own total loss.
    Reference. Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015; Bassily, Nissim, Smith, Steinke, Stemmer, Ullman
        2016.

    Args:
        loss: the price of what is learned.
        delta: the delta at which the textbook reads epsilon off the loss's curve; the bound itself needs none.

    >>> from discreet.privacy import GaussianDP
    >>> loss = GaussianDP(0.268, relation=Relation.CHANGE_ONE).loss
    >>> gap = generalization_gap(loss, delta=1e-5)
    >>> round(gap.bound, 3), round(gap.textbook, 2)
    (0.107, 1.72)
    """
    _check(loss)
    chance = probability(delta, name="delta")
    level = float(loss.epsilon(chance).upper)
    textbook = math.expm1(level) + float(chance) if level < _LARGEST_LEVEL else math.inf
    return GeneralizationGap(min(float(loss.delta(0).upper), 1.0), textbook)


def transfer_bound(loss: PrivacyLoss, *, sample_error: float, sample_failure: float, confidence: float) -> float:
    """Return how far answers are from the truth about the population, all of them at once, with a confidence.

    Accuracy. Let all answers be within `sample_error` = a of the means over the rows, but with probability
        `sample_failure` = b; queries have values in [0, 1] and may be chosen in view of earlier answers, and rows are
        drawn independently. Then, for all t, c, d > 0, with probability at least 1 - b / c - delta(t) / d every answer
        is within a + c + e^t - 1 + 2 d of the mean over the population, where delta is that of the loss under
        change-one. The least such bound over t, c and d is returned.
        Proof: given all answers p, draw the rows again from their posterior. Rows and answers have the same joint law
        as before, so the answers are within a of the new rows' means but with probability b(p), whose mean is b; by
        Markov b(p) > c with probability at most b / c, and otherwise the answers are within a + c of the posterior
        means. It remains to compare posterior means with means over the population. Let q be the query, chosen by p,
        whose posterior mean is farthest above, and s the probability of the answers p for which it is above by more
        than e^t - 1 + 2 d. Let f(p, x) be q(x) for such p, else 0. With x a row of the table E f is more than
        A + s (e^t - 1 + 2 d), where A = E f with x a new person. By privacy, row and new person exchanged as in
        `generalization_gap`, E f <= e^t A + delta. As A <= s, 2 d s <= delta: s <= delta / (2 d). The same for 1 - q
        gives the other side.
    Reference. Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi, Shenfeld 2020.

    >>> from discreet.privacy import PureDP
    >>> price = PureDP(0.05, relation=Relation.CHANGE_ONE).loss
    >>> round(
    ...     transfer_bound(
    ...         price, sample_error=0.02, sample_failure=0.0001, confidence=0.95
    ...     ),
    ...     3,
    ... )
    0.073
    """
    _check(loss)
    failure = 1 - float(probability(confidence, name="confidence"))
    chance = float(probability(sample_failure, name="sample_failure"))
    error = float(plain(sample_error, name="sample_error"))
    if failure <= 0 or error < 0:
        raise ParameterError("confidence must be below 1 and sample_error at least 0; got another")
    found = 1.0
    for level in _levels(loss):
        delta = float(loss.delta(level).upper)
        # b / c + delta / d = failure with the least c + 2 d: c = sqrt(b) k, d = sqrt(delta / 2) k
        root = math.sqrt(chance) + math.sqrt(2 * delta)
        found = min(found, error + math.expm1(level) + root * root / failure)
    return found


def _levels(loss: PrivacyLoss) -> list[float]:
    """Return levels of epsilon to try: evenly in delta's exponent, and some in between."""
    reached = [float(loss.epsilon(10.0**-power).upper) for power in range(1, 15)]
    return sorted({level for level in (*reached, *_GRID) if level <= _LARGEST_LEVEL})


def _check(loss: object) -> None:
    if not isinstance(loss, PrivacyLoss):
        raise ParameterError("loss must be a privacy loss; got another, write model.loss_ or mechanism.loss")
    if loss.relation is not Relation.CHANGE_ONE:
        raise RelationMismatch(
            "the loss must be for change-one, because a new person takes the place of a row; got another relation. "
            "State relation=Relation.CHANGE_ONE where it is made, or write change_one_loss(loss)"
        )
