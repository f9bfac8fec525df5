"""Networks in tests: one thread, so that several test processes do not wait for each other."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):
    import torch

    torch.set_num_threads(1)
