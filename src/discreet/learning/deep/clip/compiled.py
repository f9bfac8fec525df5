"""The sum of a batch as one compiled function: its operations are recorded once and handed to torch's compiler."""

from __future__ import annotations

from collections.abc import Callable

import torch

from discreet.learning.deep.clip.layers import Tensor
from discreet.learning.deep.clip.replay import Sums


def as_compiled(sums: Sums, inputs: tuple[Tensor, ...], targets: Tensor, here: Tensor) -> Sums:
    """Return a function that computes what `sums(inputs, targets, here)` does, for batches of the same shape.

    Forward, backward, norms and sums are run once on a made-up batch, and every operation of torch in them is recorded,
    those of autograd and of hooks as well: what is compiled is a list of operations without a branch. Parameters are
    read where they are, so that an optimizer's changes count. The function is run once here: what the compiler cannot
    do is seen before a row is.
    """
    from torch.fx.experimental.proxy_tensor import make_fx

    count = len(inputs)

    def flat(*values: Tensor) -> list[Tensor]:
        return sums(values[:count], values[count], values[count + 1])

    with torch.no_grad():
        recorded = make_fx(flat)(*inputs, targets, here)
    made: Callable[..., list[Tensor]] = torch.compile(recorded, dynamic=False)

    def run(inputs: tuple[Tensor, ...], targets: Tensor, here: Tensor) -> list[Tensor]:
        with torch.no_grad():
            return list(made(*inputs, targets, here))

    run(inputs, targets, here)
    return run
