"""What must hold of a model and of torch's switches before a sum is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from discreet.errors import AssumptionFailed, ParameterError
from discreet.learning.deep.clip.layers import Tensor
from discreet.randomness import words


def check_model(model: Any, *, exact: bool) -> tuple[tuple[str, ...], tuple[Tensor, ...]]:
    """Return the names and tensors that are trained; raise if their types or devices do not fit."""
    trained = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    if not trained:
        raise ParameterError(
            "model must have a tensor to train; got none with requires_grad, write requires_grad_(True) on some.",
            parameter="model",
        )
    names, values = zip(*trained, strict=True)
    types = {value.dtype for value in (*values, *model.buffers()) if value.is_floating_point()}
    allowed = {torch.float32} if exact else {torch.float32, torch.float64}
    if not types <= allowed or len({value.device for value in values}) > 1:
        raise ParameterError(
            f"model must be {'float32' if exact else 'float32 or float64'} on one device; got "
            f"{', '.join(sorted(map(str, types)))}, write model.float().",
            parameter="model",
        )
    return names, values


def check_settings(device: Any, *, exact: bool) -> None:
    """Raise if a switch of torch breaks what the proof of exact sums assumes."""
    if not exact:
        return
    if torch.is_autocast_enabled(device.type):
        raise AssumptionFailed(
            "exact sums must be made without autocast; got torch.autocast on, write noise=Float(...) "
            "in the plan, or leave its block."
        )
    if torch.get_float32_matmul_precision() != "highest":
        raise AssumptionFailed(
            "exact sums must be made with full float32 products; got a lower precision, write "
            "torch.set_float32_matmul_precision('highest')."
        )
    if device.type == "cuda":
        _check_cuda()


@contextmanager
def secret_masks(device: Any) -> Iterator[None]:
    """Let torch's generators begin at a new secret place, and put them back where they were.

    A seed that the caller knows would make the masks of dropout public, and how far a generator has come afterwards
    would tell how many batches there were.
    """
    used = [torch.default_generator]
    if device.type == "cuda":
        used.append(
            torch.cuda.default_generators[torch.cuda.current_device() if device.index is None else device.index]
        )
    before = [one.get_state() for one in used]
    try:
        for one, seed in zip(used, words(len(used)).tolist(), strict=True):
            one.manual_seed(seed)
        yield
    finally:
        for one, state in zip(used, before, strict=True):
            one.set_state(state)


def _check_cuda() -> None:
    """Raise unless convolutions on a graphics card keep rows apart and use no short floats."""
    if torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32:
        raise AssumptionFailed(
            "exact sums must be made without TF32; got it allowed, write torch.backends.cudnn.allow_tf32 = False and "
            "torch.backends.cuda.matmul.allow_tf32 = False."
        )
    if not torch.backends.cudnn.deterministic or torch.backends.cudnn.benchmark:
        raise AssumptionFailed(
            "exact sums must be made with deterministic cuDNN; got another setting, write "
            "torch.backends.cudnn.deterministic = True and torch.backends.cudnn.benchmark = False."
        )
