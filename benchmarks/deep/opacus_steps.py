"""Steps of Opacus, with hooks and with ghost clipping, where it is at hand, in the same process."""

from __future__ import annotations

import copy
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

from benchmarks.common.peers import PEERS
from benchmarks.deep.models import Network

RATE = 1e-4
NORM = 1.0


def opacus_sides(network: Network, batch: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the steps of Opacus that run on this network; one that raises is left out."""
    folder = os.environ.get("DISCREET_PEER_OPACUS") or str(PEERS / "opacus")
    if not os.path.isdir(folder):
        return
    if folder not in sys.path:
        sys.path.append(folder)
    inputs, targets = network.batch(batch)
    for name, mode in (("hooks", "hooks"), ("ghost", "ghost")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                step = _step(copy.deepcopy(network.model), inputs, targets, mode)
                step()
        except Exception as error:  # what a peer cannot do is part of the table
            print(f"opacus {name}: {type(error).__name__}: {str(error)[:80]}", file=sys.stderr)
            continue
        yield f"opacus {name}", step


def _step(model: Any, inputs: Any, targets: Any, mode: str) -> Callable[[], None]:
    """Return one step: gradients of rows, clipping, noise, update."""
    rows = len(targets)
    optimizers = importlib.import_module("opacus.optimizers")
    trained = torch.optim.SGD([value for value in model.parameters() if value.requires_grad], lr=RATE)
    shared = {"noise_multiplier": 1.0, "max_grad_norm": NORM, "expected_batch_size": rows}
    model.train()
    if mode == "hooks":
        wrapped = importlib.import_module("opacus.grad_sample").GradSampleModule(model)
        optimizer = optimizers.DPOptimizer(trained, **shared)
        criterion: Any = torch.nn.CrossEntropyLoss()
    else:
        fast = importlib.import_module("opacus.grad_sample.grad_sample_module_fast_gradient_clipping")
        wrapped = fast.GradSampleModuleFastGradientClipping(
            model, max_grad_norm=NORM, use_ghost_clipping=True, loss_reduction="mean"
        )
        optimizer = importlib.import_module(
            "opacus.optimizers.optimizer_fast_gradient_clipping"
        ).DPOptimizerFastGradientClipping(trained, **shared)
        loss = importlib.import_module("opacus.utils.fast_gradient_clipping_utils").DPLossFastGradientClipping
        criterion = loss(wrapped, optimizer, torch.nn.CrossEntropyLoss(), "mean")

    def step() -> None:
        criterion(wrapped(inputs), targets).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step
