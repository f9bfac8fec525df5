"""Find settings of Opacus for each cell, on a split that is not reported: `python -m benchmarks.deep.opacus_search`.

The same mechanism is run in numpy with Opacus's own noise multiplier, because 60 settings a cell would take hours
through its hooks: Poisson batches, gradients of a linear model clipped row by row, normal noise, plain descent, last
weights.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.deep.accuracy import CELLS
from benchmarks.deep.data import TASKS, Task
from benchmarks.deep.opacus_side import DELTA, TRIED, Settings, at_hand

_SPLIT = -1  # reported splits have seeds from 0 on
_MOST_GRADIENTS = 1 << 32  # bytes of the gradients of single rows of one batch: more do not fit


def search(task: Task, epsilon: float) -> list[tuple[float, Settings]]:
    """Return the accuracy of every setting that fits into memory, best first."""
    from scipy.sparse import csr_matrix

    learnt, held = task.split(_SPLIT)
    if task.fixed:
        order = np.random.default_rng(0).permutation(learnt)
        learnt, held = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
    dense = np.count_nonzero(task.features[:100]) > 0.1 * task.features[:100].size
    rows: Any = task.features if dense else csr_matrix(task.features)
    gradient = 4 * task.features.shape[1] * task.classes * len(learnt)
    multiplier = import_module("opacus.accountants.utils").get_noise_multiplier
    found, scales = [], {}
    for one in TRIED:
        if one.rate * gradient > _MOST_GRADIENTS:
            continue
        if (one.rate, one.steps) not in scales:
            stated = {"target_epsilon": epsilon, "target_delta": DELTA, "accountant": "prv"}
            scales[one.rate, one.steps] = multiplier(sample_rate=one.rate, steps=one.steps, **stated)
        weights = _descended(rows[learnt], task.codes[learnt], task.classes, one, scales[one.rate, one.steps])
        found.append((float(np.mean(np.asarray(rows[held] @ weights).argmax(axis=1) == task.codes[held])), one))
    return sorted(found, reverse=True)


def _descended(rows: Any, codes: NDArray[Any], classes: int, one: Settings, scale: float) -> NDArray[np.float32]:
    """Return the weights after the steps of one setting."""
    generator = np.random.default_rng(0)
    weights = np.zeros((rows.shape[1], classes), dtype=np.float32)
    for _ in range(one.steps):
        batch = np.flatnonzero(generator.random(len(codes)) < one.rate)
        taken = rows[batch]
        scores = np.asarray(taken @ weights)
        errors = np.exp(scores - scores.max(axis=1, keepdims=True))
        errors /= errors.sum(axis=1, keepdims=True)
        errors[np.arange(len(batch)), codes[batch]] -= 1
        # rows have norm 1, so the length of a gradient is that of its errors
        errors *= np.minimum(1, one.clip / np.maximum(np.linalg.norm(errors, axis=1, keepdims=True), 1e-12))
        noise = generator.standard_normal(weights.shape, dtype=np.float32) * np.float32(scale * one.clip)
        weights -= np.float32(one.length / (one.rate * len(codes))) * (taken.T @ errors + noise)
    return weights


if __name__ == "__main__":
    if not at_hand():
        raise SystemExit("Opacus is not at hand")
    for name in sys.argv[1:] or list(CELLS):
        task = TASKS[name]()
        for epsilon in CELLS[name].epsilons if task is not None else ():
            print(name, epsilon, search(task, epsilon)[:3], flush=True)  # type: ignore[arg-type]
