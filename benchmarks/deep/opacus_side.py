"""The same linear model on the same features by Opacus: Poisson batches, its hooks, its accountant, its last weights.

Opacus is read from .peers/opacus (or the folder that DISCREET_OPACUS names), where
`pip install --target .peers/opacus --no-deps opacus==1.6.0 opt_einsum` puts it; without it this side is left out.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.common.peers import PEERS
from benchmarks.deep.data import Task

OPACUS = Path(os.environ.get("DISCREET_OPACUS", PEERS / "opacus"))
DELTA = 1e-5
Codes = NDArray[np.int64]


class Settings(NamedTuple):
    """What a user of Opacus chooses."""

    rate: float  # of sampling
    steps: int
    clip: float
    length: float  # the learning rate


# all that were tried: the best of them in each cell, on a split that is not reported, is SETTINGS of that cell
TRIED = [
    Settings(rate, steps, clip, length)
    for rate in (1 / 16, 1 / 4, 1.0)
    for steps in (70, 210)
    for clip in (0.25, 1.0)
    for length in (1.0, 4.0, 16.0, 64.0, 256.0)
]
SETTINGS: dict[tuple[str, float], Settings] = {
    ("digits", 1): Settings(1.0, 70, 0.25, 16.0),
    ("digits", 3): Settings(1.0, 70, 0.25, 64.0),
    ("digits", 8): Settings(1.0, 210, 0.25, 64.0),
    ("MNIST-5k", 1): Settings(1 / 4, 210, 0.25, 16.0),
    ("MNIST-5k", 3): Settings(1.0, 70, 0.25, 64.0),
    ("MNIST-5k", 8): Settings(1.0, 210, 1.0, 16.0),
    ("20 Newsgroups", 1): Settings(1 / 4, 210, 0.25, 64.0),
    ("20 Newsgroups", 3): Settings(1 / 4, 210, 0.25, 64.0),
    ("20 Newsgroups", 8): Settings(1 / 4, 210, 0.25, 256.0),
    ("IMDB", 1): Settings(1.0, 70, 0.25, 256.0),
    ("IMDB", 3): Settings(1.0, 210, 0.25, 256.0),
    ("Adult", 0.1): Settings(1 / 4, 70, 0.25, 64.0),
    ("Adult", 1): Settings(1 / 4, 210, 1.0, 16.0),
    ("Adult", 3): Settings(1 / 4, 210, 1.0, 16.0),
}


def at_hand() -> bool:
    """Say whether Opacus can be imported, from its own folder if need be."""
    if OPACUS.exists() and str(OPACUS) not in sys.path:
        sys.path.append(str(OPACUS))
    return OPACUS.exists()


def accuracy(task: Task, epsilon: float, train: Codes, held: Codes) -> float:
    """Train by Opacus with the settings of the cell, and return the accuracy on the held-out rows."""
    from torch.utils.data import DataLoader, TensorDataset

    engine = import_module("opacus").PrivacyEngine()
    get_noise_multiplier = import_module("opacus.accountants.utils").get_noise_multiplier
    chosen = SETTINGS[task.name, epsilon]
    features, codes = torch.from_numpy(task.features), torch.from_numpy(task.codes)
    loader: Any = DataLoader(TensorDataset(features[train], codes[train]), batch_size=-(-len(train) // _parts(chosen)))
    model = torch.nn.Linear(task.features.shape[1], task.classes, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer: Any = torch.optim.SGD(model.parameters(), lr=chosen.length)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        multiplier = get_noise_multiplier(
            target_epsilon=epsilon,
            target_delta=DELTA,
            sample_rate=1 / len(loader),
            steps=chosen.steps,
            accountant="prv",
        )
        model, optimizer, loader = engine.make_private(
            module=model,
            optimizer=optimizer,
            data_loader=loader,
            noise_multiplier=multiplier,
            max_grad_norm=chosen.clip,
        )
        taken = 0
        while taken < chosen.steps:
            for rows, targets in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(rows), targets).backward()
                optimizer.step()
                taken += 1
                if taken == chosen.steps:
                    break
    with torch.no_grad():
        found = model(features[held]).argmax(dim=1)
    return float((found == codes[held]).float().mean())


def _parts(chosen: Settings) -> int:
    """Return how many batches an epoch has."""
    return round(1 / chosen.rate)
