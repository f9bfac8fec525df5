"""What every test of noise for gradients shares: one thread of torch, and grids."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
