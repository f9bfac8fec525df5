"""Draw what models give away about those they were trained on: a bit, membership, canaries, a number in a text."""

from __future__ import annotations

from functools import reduce
from operator import add
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet import attacks
from discreet.audit import Canaries
from discreet.cli.attack.models import targets
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from tools.figures.panels import finished, logarithmic, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

DELTA, SEED = 1e-5, 2026
COLUMNS, PEOPLE, MODELS = (2, 5, 10, 20, 30, 40, 50), 60, 100
CANARIES = 1000
EPSILONS, TEXTS = (0.1, 0.3, 1.0, 3.0, 10.0), 20
_NORMAL = NormalDist()
Floats = NDArray[np.float64]


def inversion() -> Plot:
    """Draw the frequency of bits guessed rightly against the columns of a model, of members and of outsiders."""
    panels = side_by_side(
        f"A secret bit, from a regression of {PEOPLE} people",
        left=("columns: a plain model", "bits guessed rightly"),
        right=("columns: a private model, epsilon 1", ""),
    )
    makers: tuple[Callable[[], Any], ...] = (targets.plain_doses, lambda: targets.doses(1.0, DELTA, PEOPLE))
    for panel, make in zip(panels, makers, strict=True):
        found = [_inverted(make, columns) for columns in COLUMNS]
        panel.plot(COLUMNS, [one.member_rate for one in found], "o-", color=ORANGE, linewidth=2.2, label="members")
        outsiders = [one.outsider_rate for one in found]
        panel.plot(COLUMNS, outsiders, "s--", color=BLUE, linewidth=2.2, label="outsiders")
        if found[0].ceiling is not None:
            highest = [rate + (one.ceiling or 1.0) for rate, one in zip(outsiders, found, strict=True)]
            panel.plot(COLUMNS, highest, ":", color=INK, linewidth=2.0, label="members, at most")
        panel.set_ylim(0.45, 1.0)
        panel.set_yticks([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ["50 %", "60 %", "70 %", "80 %", "90 %", "100 %"])
    return finished(*panels, corner="upper left")


def _inverted(make: Callable[[], Any], columns: int) -> attacks.Inversion:
    """Invert many models, each of people of its own."""
    found = []
    for seed in range(MODELS):
        members, outsiders = attacks.invented_doses(people=PEOPLE, columns=columns, seed=seed)
        model = make().fit(*members)
        found.append(attacks.inversion(model, members, outsiders, secret=0, loss=getattr(model, "loss_", None)))
    return reduce(add, found)


def shadows() -> Plot:
    """Draw ROC curves of the attack by shadow models on a forest, a regression and a private regression."""
    drawn = axes(
        title="Who is in the training set? 400 people, 64 models", x_label="outsiders accused", y_label="members found"
    )
    invented = attacks.invented_labels(people=400, columns=40, seed=SEED)
    for name, train, color, style in (
        ("forest", targets.forest, ORANGE, "-"),
        ("logistic, no penalty", targets.unregularized, GREEN, "-."),
        (
            "private logistic, epsilon 1",
            lambda rows, labels: targets.labels(1.0, DELTA, 200).fit(rows, labels),
            BLUE,
            "--",
        ),
    ):
        found = attacks.shadow_membership(train, *invented, models=64, seed=SEED)
        members, outsiders = (np.sort(found.scores[who]) for who in (found.included, ~found.included))
        levels = np.quantile(outsiders, 1 - np.logspace(-3, 0, 120))
        rates = [1 - np.searchsorted(one, levels, "left") / len(one) for one in (outsiders, members)]
        drawn.plot(*rates, style, color=color, linewidth=2.2, label=f"{name}: area {found.area:.2f}")
    coin = np.logspace(-3, 0, 60)
    drawn.plot(coin, coin, ":", color=SOFT, linewidth=1.6, label="a coin: area 0.50")
    logarithmic(drawn, x=(0.001, 0.01, 0.1, 1))
    drawn.set_xticks([0.001, 0.01, 0.1, 1], ["0.1 %", "1 %", "10 %", "100 %"])
    drawn.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    return finished(drawn, corner="upper left")


def canaries() -> Plot:
    """Draw the scores of canaries in and out of a descent, and of a twin that lets each through three times."""
    honest = attacks.DescentTraining(epsilon=4, delta=DELTA, people=CANARIES)
    panels = side_by_side(
        f"Scores of {CANARIES:,} canaries in one training, epsilon 4",
        left=(f"score: as claimed, mu {honest.mu:.2f}", "canaries"),
        right=("score: each canary three times", ""),
    )
    trainings: tuple[attacks.DescentTraining | attacks.RepeatedRows, ...] = (
        honest,
        attacks.RepeatedRows(honest, times=3),
    )
    for panel, training in zip(panels, trainings, strict=True):
        coins = Canaries.drawn(CANARIES)
        _scores_drawn(panel, _scores(training, coins), coins.included, honest.mu)
    return finished(*panels, corner="upper left")


def _scores(training: attacks.DescentTraining | attacks.RepeatedRows, coins: Canaries) -> Floats:
    """Return what whoever sees the noisy sums gives each canary, in standard deviations; see `audit_training`."""
    answers: list[Floats] = []
    scores = np.zeros(len(coins))

    def seen(sums: Any, answer: Callable[[Any], Floats]) -> Floats:
        answers.append(answer(sums))
        return answers[-1]

    def replayed(sums: Any, _: object) -> Floats:
        noisy = answers.pop(0)
        scores[:] += (sums * (noisy - sums / 2.0)).sum(axis=0)
        return noisy

    training(attacks.CanaryTable(np.flatnonzero(coins.included), len(coins)), seen)
    training(attacks.CanaryTable(np.arange(len(coins)), len(coins)), replayed)
    inside, outside = scores[coins.included], scores[~coins.included]
    return np.asarray(scores / np.sqrt((inside.var() + outside.var()) / 2))


def _scores_drawn(panel: Axes, scores: Floats, included: NDArray[np.bool_], mu: float) -> None:
    """Draw two histograms, and the two laws that the claim allows to lie no farther apart."""
    bins = np.linspace(-5, 5, 41)
    width = float(bins[1] - bins[0])
    for who, color, sign, name in ((~included, BLUE, -1, "out"), (included, ORANGE, 1, "in")):
        panel.hist(scores[who], bins=list(bins), color=color, alpha=0.4, label=f"canaries that are {name}")
        allowed = [_NORMAL.pdf(float(place) - sign * mu / 2) * width * CANARIES / 2 for place in bins]
        panel.plot(bins, allowed, color=color, linewidth=1.8, label=f"what the claim allows: {name}")
    panel.set_ylim(0, 95)


def text() -> Plot:
    """Draw how far a number in a text is given away, and how good the model is, against epsilon."""
    left, right = side_by_side(
        "A number of six digits in the messages of 2,000 people",
        left=("epsilon", "exposure of the number, bits"),
        right=("epsilon", "next word right"),
    )
    plain = [_extracted(seed, None) for seed in range(TEXTS)]
    private = [[_extracted(seed, epsilon) for seed in range(TEXTS)] for epsilon in EPSILONS]
    for panel, place, highest in ((left, 0, 22.0), (right, 1, 1.0)):
        mean = [np.mean([one[place] for one in runs]) for runs in private]
        spread = [np.std([one[place] for one in runs], ddof=1) for runs in private]
        panel.errorbar(EPSILONS, mean, spread, fmt="o-", color=BLUE, linewidth=2.2, label="private")
        usual = float(np.mean([one[place] for one in plain]))
        panel.axhline(usual, color=ORANGE, linewidth=2.0, linestyle="--", label="plain")
        panel.set_ylim(0, highest)
        logarithmic(panel, x=EPSILONS)
    left.axhline(1.44, color=SOFT, linewidth=1.6, linestyle=":", label="a guess without the model")
    left.set_yticks([0, 5, 10, 15, 20])
    right.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    return finished(left, right, corner="center right")


def _extracted(seed: int, epsilon: float | None) -> tuple[float, float]:
    """Return the exposure of the secret, and how often the next word is right in messages that were not counted."""
    messages, secret = attacks.invented_messages(people=4000, digits=6, seed=seed)
    model = attacks.ngrams(messages[:2000], order=4, epsilon=epsilon)
    return attacks.extraction(model, secret=secret).exposure, model.right(messages[2000:])
