"""Draw private networks: accuracy on invented glyphs against epsilon, beside public features and no privacy."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.data import glyphs
from discreet.display.plots import BLUE, INK, ORANGE, Plot, axes
from discreet.learning.deep import CrossEntropy, TailAverage, train
from discreet.learning.deep.plan import Clip, Plan, PoissonBatches
from discreet.learning.deep.recipes import Scattering, perceptron, recipe
from discreet.privacy import Relation
from tools.figures.panels import finished, logarithmic

EPSILONS, REPEATS, DELTA = (0.3, 1.0, 3.0, 8.0), 5, 1e-5
CHARACTERS, SIDE, PEOPLE = "0123456789ACEHKLTX", 14, 4000
STEPS, PHYSICAL = 100, 128


def glyphs_against_epsilon() -> Plot:
    """Draw the accuracy of a network on pixels and of a linear model on scattering, five trainings a point."""
    import torch

    torch.set_num_threads(1)
    drawn = glyphs(people=PEOPLE + 1000, seed=7, side=SIDE, characters=CHARACTERS, noise=0.3)
    labels = torch.from_numpy(np.array(drawn.labels))
    pixels = torch.from_numpy(drawn.images.reshape(len(drawn), -1) / 127.5 - 1).float()
    features = torch.from_numpy(Scattering(side=SIDE)(drawn.images / 255))
    panel = axes(
        title="Eighteen characters, written by 4,000 people",
        x_label="epsilon, delta 0.00001",
        y_label="accuracy on 1,000 others",
    )
    ways = (
        ("scattering + linear, by the recipe", features, _linear, BLUE, "o-"),
        ("network on pixels", pixels, _network, ORANGE, "s--"),
    )
    for label, inputs, fitted, color, style in ways:
        found = np.array([[fitted(inputs, labels, one) for _ in range(REPEATS)] for one in EPSILONS])
        spread = found.std(axis=1, ddof=1)
        panel.errorbar(EPSILONS, found.mean(axis=1), spread, fmt=style, color=color, linewidth=2.2, label=label)
    plain = float(np.mean([_plain(pixels, labels, seed) for seed in range(REPEATS)]))
    panel.axhline(plain, color=INK, linestyle=":", linewidth=1.8, label="the network without privacy")
    panel.set_ylim(0.2, 1.02)
    logarithmic(panel, x=EPSILONS)
    return finished(panel, corner="center right")


def _network(inputs: Any, labels: Any, epsilon: float) -> float:
    """Train a network privately on pixels and return its accuracy."""
    import torch

    plan = Plan.for_target(
        epsilon=epsilon, delta=DELTA, sampler=PoissonBatches(rate=0.1), clip=Clip(1.0), steps=STEPS, unit="person",
        relation=Relation.ADD_REMOVE, divisor=400,
    )  # fmt: skip
    trained = train(
        perceptron(inputs.shape[1], len(CHARACTERS)),
        (inputs[:PEOPLE], labels[:PEOPLE]),
        plan,
        CrossEntropy(len(CHARACTERS)),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=2.0),
        physical=PHYSICAL,
        average=TailAverage(frequency=0.3),
    )
    return _accuracy(trained.model, inputs, labels)


def _linear(inputs: Any, labels: Any, epsilon: float) -> float:
    """Train a linear model privately on public features, by the recipe, and return its accuracy."""
    made = recipe(
        Scattering(side=SIDE), people=PEOPLE, epsilon=epsilon, delta=DELTA, classes=len(CHARACTERS),
        relation=Relation.ADD_REMOVE, unit="person",
    )  # fmt: skip
    trained = train(
        made.model(),
        (inputs[:PEOPLE], labels[:PEOPLE]),
        made.plan(),
        made.loss,
        optimizer=made.optimizer,
        physical=made.physical,
        average=TailAverage(frequency=made.tail),
    )
    return _accuracy(trained.model, inputs, labels)


def _plain(inputs: Any, labels: Any, seed: int) -> float:
    """Train the network without privacy and return its accuracy."""
    import torch

    torch.manual_seed(seed)
    model = perceptron(inputs.shape[1], len(CHARACTERS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(8):
        for batch in torch.randperm(PEOPLE).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[batch]), labels[batch]).backward()
            optimizer.step()
    return _accuracy(model, inputs, labels)


def _accuracy(model: Any, inputs: Any, labels: Any) -> float:
    return float((model(inputs[PEOPLE:]).argmax(dim=1) == labels[PEOPLE:]).float().mean())
