"""Audit the museum, planted faults and discreet itself at full count: `make bench-audit`.

Exact values stand beside those that were published, bounds from runs beside the best that anybody could expect from so
many runs (computed from the exact law). Audits by running use fresh randomness each time.
"""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.common.bars import Section, run


def _sections() -> dict[str, Section]:
    """Return the parts; each is a module beside this one with a function `bars`."""
    names = {
        "exact": "benchmarks.audit.exact",
        "statistical": "benchmarks.audit.statistical",
        "own": "benchmarks.audit.own",
    }
    return {name: import_module(module).bars for name, module in names.items()}


if __name__ == "__main__":
    sys.exit(run(_sections(), page="bench-audit", title="What the audits find", document=__doc__ or ""))
