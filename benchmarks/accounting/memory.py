"""The peak memory of the accountant's heaviest calls, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_START = "from tests.privacy.accounting.compositions import loss_of; from tests.privacy.accounting import truths; "
# Linux hands the peak of getrusage on from the process that starts another: there the kernel's own record of the new
# process is read, in kibibytes. macOS starts anew, and counts in bytes.
_LINUX = "; print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
_OTHER = "; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
_END, _UNIT = (_LINUX, 1e6 / 1024) if sys.platform == "linux" else (_OTHER, 1e6)
_SAMPLED = "[('gaussian', {'scale': 1.0, 'rate': 0.01}, 10_000)]"
_DIFFERENT = "[('laplace', {'scale': scale}, 1) for scale in truths.LAPLACE_SCALES]"
_MIXTURE = (
    "[('gaussian', {'scale': 100.0}, 10**5), ('laplace', {'scale': 500.0}, 10**5), "
    "('response', {'epsilon': 0.001, 'categories': 5}, 10**5), ('discrete_gaussian', {'scale': 300.0}, 10**5)]"
)
WORK_IN_MEMORY = {
    "nothing but the import": "None",
    "1e6 Gaussians, scale 50": "loss_of([('gaussian', {'scale': 50.0}, 10**6)]).epsilon(1e-5)",
    "1e6 Laplaces, scale 1000": "loss_of([('laplace', {'scale': 1000.0}, 10**6)]).epsilon(1e-5)",
    "1e6 pure guarantees, epsilon 0.001": "loss_of([('guarantee', {'epsilon': 0.001}, 10**6)]).epsilon(1e-5)",
    "1e4 sampled Gaussians": f"loss_of({_SAMPLED}).epsilon(1e-5)",
    "1e4 sampled Gaussians, delta 1e-30": f"loss_of({_SAMPLED}).epsilon(1e-30)",
    "1000 different Laplaces": f"loss_of({_DIFFERENT}).epsilon(1e-5)",
    "4e5 releases of four kinds": f"loss_of({_MIXTURE}).epsilon(1e-9)",
}


def peak_megabytes(what: str) -> float:
    """Run one call in a fresh process and return its largest resident memory."""
    command = [sys.executable, "-c", _START + WORK_IN_MEMORY[what] + _END]
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)  # noqa: S603 - our own code
    return float(done.stdout) / _UNIT
