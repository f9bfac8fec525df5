"""Membership in a training set by shadow models: what a model says of a person, with and without them in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.models.people import attacked_people, chances_of_own, is_frame
from discreet.attacks.results import QUARTERS, read_only
from discreet.attacks.tracing import area_ceiling
from discreet.data.invention import coins
from discreet.data.table import check_whole
from discreet.display import Progress, listener
from discreet.display.plots import BLUE, INK, SOFT, Plot, axes, explained
from discreet.display.result import Row, percent, told_in_rows
from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number
from discreet.privacy.numbers import plain

Floats = NDArray[np.float64]
Train = Callable[[Any, NDArray[Any]], Any]
_SUREST = 1e-12  # a chance of 1 would have an infinite logit
_LEAST_SPREAD = 1e-6


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShadowMembership:
    """Scores of everybody about every model, a line a model, and who was in which.

    `area` compares members and outsiders of different models and of different people, so that `ceiling`, if the models
    had a price, bounds its expectation.
    """

    scores: Floats
    included: NDArray[np.bool_]
    ceiling: Enclosure | None

    def __post_init__(self) -> None:
        read_only(self.scores, self.included)

    @property
    def area(self) -> float:
        """The area under the ROC curve: how often a member's score is above an outsider's, ties half."""
        return float(self._shares()[0].mean())

    @property
    def area_error(self) -> float:
        """The standard error of the area over trainings of these people, by DeLong's estimate with models as units."""
        return float(math.sqrt(sum(one.var(ddof=1) / len(one) for one in self._shares())))

    def _shares(self) -> tuple[Floats, Floats]:
        """Return for every model how often its members are above outsiders, and members above its outsiders.

        Each model's mean is weighed by its number of pairs, so that the mean over models is that over all pairs: those
        of all members and all outsiders, less those of one model and those of one person, which are no pairs.
        """
        pairs = _wins(self.scores, self.included)
        models = [_wins(*one) for one in zip(self.scores, self.included, strict=True)]
        people = [_wins(*one) for one in zip(self.scores.T, self.included.T, strict=True)]
        counted = pairs - np.stack(models, axis=1) - np.stack(people, axis=2)
        above, outdone, number = counted.sum(axis=2)
        return above / number.mean(), outdone / number.mean()

    def found(self, level: float = 0.01) -> float:
        """Return the frequency of members who score above all but that frequency of the outsiders."""
        if not 0 <= plain(level, name="level") <= 1:
            raise ParameterError("level must be a frequency of outsiders; got another, write 0.01", parameter="level")
        bar = np.quantile(self.scores[~self.included], 1 - float(level), method="higher")
        return float(np.mean(self.scores[self.included] > bar))

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        top = None if self.ceiling is None else f"{math.ceil(1000 * self.ceiling.upper) / 1000:.3f}"
        return [
            ("models", f"{len(self.scores):,}, each with about half of {self.scores.shape[1]:,} people"),
            ("area", f"{self.area:.3f}"),
            ("members found at 1 % false alarms", percent(self.found())),
            ("ceiling of the area", top),
        ]

    def plot(self) -> Plot:
        """Draw the ROC curve beside a coin; needs the extra `plot`."""
        drawn = axes(
            title=f"Membership in {len(self.scores):,} models", x_label="outsiders accused", y_label="members found"
        )
        drawn.plot([0, 1], [0, 1], color=SOFT, linewidth=1.2, linestyle=":", label="a coin")
        members, outsiders = (np.sort(self.scores[who]) for who in (self.included, ~self.included))
        levels = np.unique(np.concatenate([members, outsiders]))[::-1]
        rates = [np.append(0.0, 1 - np.searchsorted(one, levels, "left") / len(one)) for one in (outsiders, members)]
        drawn.plot(*rates, color=BLUE, linewidth=2.0, label="measured")
        if self.ceiling is not None:
            drawn.plot([], [], color=INK, label=f"area of any attack at most {self.ceiling.upper:.3f}")
        drawn.set_xticks(*QUARTERS)
        drawn.set_yticks(*QUARTERS)
        return explained(drawn, ncols=3)


def _wins(scores: Floats, included: NDArray[np.bool_]) -> Floats:
    """Return for each score: outsiders below a member, members above an outsider, ties half, and a member's pairs."""
    inside, outside = (np.sort(scores[who]) for who in (included, ~included))
    over, under = _below(outside, scores), len(inside) - _below(inside, scores)
    return np.stack([np.where(included, over, 0), np.where(included, 0, under), np.where(included, len(outside), 0)])


def _below(ordered: Floats, values: Floats) -> Floats:
    """Return how many of the numbers in order are below each value, ties half."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2


def shadow_membership(
    train: Train,
    rows: Any,
    labels: Any,
    *,
    models: int,
    seed: int,
    mu: Number | None = None,
    progress: Progress | None = None,
) -> ShadowMembership:
    """Say of people and models who is in which, by what all other models, with and without a person, say of them.

    Fair coins of a seed put everybody into about half of the models that `train` makes of rows, an array or a pandas
    frame, and labels. Each model is attacked in turn, the others being its shadows: the logit of the chance that a
    model gives a person's own label has a normal law over the shadows with them, and another over those without, and
    the score is the logarithm of the ratio of the two. The owner may give `mu`, if `train` is mu-Gaussian-DP under
    add/remove; the attack does not use it. `progress` is called with the models trained and their number.

    Privacy. If `train` is mu-Gaussian-DP for a person more or less, the expected area is at most Phi(mu / sqrt 2), for
        any scores of a person about a model that are made of the models and of that person's own coins in the others:
        `area_ceiling`.
        Proof: take a member a of the model k and an outsider b of the model l, with k and l as well as a and b
        different, and all coins but these two given. Let p be the chance that a's score about k is above b's score
        about l, ties decided by a coin. The score of a about k is made of all models and of a's coins in other models
        than k; so for b. Turn both coins: a is now outside k, b inside l, and each of two
        independent trainings has made one step, together sqrt(2) mu. On average over all choices of (k, a) and (l, b)
        the chance is 1 - p now, because the two have changed places. The trade-off is that of normal laws, so the
        quantile of p is at most sqrt(2) mu plus that of 1 - p, which is its negative: p <= Phi(mu / sqrt 2). Scores use
        the coin of b in k, and that of a in l; these are neither of the two.
    Cost. One training a model; one prediction a person and model.
    Reference. Carlini, Chien, Nasr, Song, Terzis, Tramer 2022 (LiRA); for the ceiling Dong, Roth, Su 2022.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from discreet.attacks import invented_labels
    >>> people = invented_labels(people=200, columns=20, seed=3)
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> shadow_membership(forest.fit, *people, models=16, seed=1).area > 0.65
    True
    """
    if not callable(train):
        raise ParameterError(
            "train must be a function of rows and labels that returns a fitted classifier; got another, write "
            "model.fit, for example",
            parameter="train",
        )
    check_whole("models", models, low=8, high=100_000)
    top = None if mu is None else area_ceiling(mu)
    table, own = attacked_people(rows, labels, least=4)
    chosen = table.iloc if is_frame(table) else table
    tell = listener(progress)
    included = coins(seed).integers(0, 2, (models, len(table))).astype(bool)
    logits = np.empty(included.shape)
    for place, inside in enumerate(included):
        logits[place] = _logits(train(chosen[inside], own[inside]), table, own)
        tell(place + 1, models)
    return ShadowMembership(_scores(logits, included), included, top)


def _logits(model: Any, rows: Any, labels: NDArray[Any]) -> Floats:
    """Return how sure a model is of everybody's own label."""
    if not hasattr(model, "predict_proba"):
        raise ParameterError(
            "train must return a classifier with predict_proba; got another model, write a classifier's fit",
            parameter="train",
        )
    own = np.clip(chances_of_own(model, rows, labels), _SUREST, 1 - _SUREST)
    return np.asarray(np.log(own) - np.log1p(-own))


def _scores(logits: Floats, included: NDArray[np.bool_]) -> Floats:
    """Return log-likelihood ratios of normal laws, fitted for every person without the model that is attacked."""
    found = np.empty(logits.shape)
    for place in range(len(logits)):
        others = np.arange(len(logits)) != place
        ratio = np.zeros(logits.shape[1])
        for side, sign in ((included, 1.0), (~included, -1.0)):
            mean, spread = _fitted(logits[others], side[others])
            ratio -= sign * (np.log(spread) + ((logits[place] - mean) / spread) ** 2 / 2)
        found[place] = ratio
    return found


def _fitted(logits: Floats, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of every person's logits over the chosen models, 0 and 1 for none.

    With few models the spread on one side is uncertain: it is drawn towards that of the person's logits in all models,
    for which it counts as much as eight models do. The coins of other people have no part in it.
    """
    count = np.maximum(chosen.sum(axis=0), 1)
    mean = np.where(chosen, logits, 0.0).sum(axis=0) / count
    squares = np.where(chosen, (logits - mean) ** 2, 0.0).sum(axis=0)
    common = ((logits - logits.mean(axis=0)) ** 2).sum(axis=0) / max(len(logits) - 1, 1)
    return mean, np.sqrt((squares + 8 * common) / (count + 7)) + _LEAST_SPREAD
