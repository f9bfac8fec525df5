"""Run the attacks at full size against what theory says they reach: `make bench-attacks`.

Every share of recovered bits stands beside its closed formula, and every time beside a reference that ran in the same
process just before or after. People, secrets and the noise of toy curators are seeded; the noise of discreet is not, so
that lines about sessions differ from run to run within the standard errors they name.
"""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.common.bars import Section, run


def _sections() -> dict[str, Section]:
    """Return the parts; each is a module beside this one with a function `bars`."""
    names = {
        "Fourier": "benchmarks.attacks.fourier",
        "decoders": "benchmarks.attacks.decoders",
        "linkage": "benchmarks.attacks.linkage",
        "membership": "benchmarks.attacks.membership",
    }
    return {name: import_module(module).bars for name, module in names.items()}


if __name__ == "__main__":
    sys.exit(run(_sections(), page="bench-attacks", title="What the attacks reach", document=__doc__ or ""))
