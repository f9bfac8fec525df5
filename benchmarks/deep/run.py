"""Private deep learning in one run: `make bench-deep`.

**Steps and memory**: see benchmarks/deep/speed.py; ratios to the plain step of the same round. **Prices**: certified
ends of epsilon at delta 1e-6; prefix errors at n 60,000, batches of 600, 1,000 steps. **Accuracy**: see
benchmarks/deep/accuracy.py; mean (standard error, splits) at delta 1e-5, by one public rule; Opacus 1.6.0 with the best
of 60 settings in each cell. **Audits**: 100 trainings a line, each audited from one run with 1,000 canaries in a test
of size 1 %. **On a graphics card**: see benchmarks/deep/card.py; where torch sees none, the part says so.
"""

from __future__ import annotations

import os
import sys

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from benchmarks.common.bars import run, section

SECTIONS = {
    "steps of 64 rows": section("benchmarks.deep.speed", "steps_of_64"),
    "steps of 256 rows": section("benchmarks.deep.speed", "steps_of_256"),
    "memory": section("benchmarks.deep.speed", "memory"),
    "balls in bins": section("benchmarks.deep.prices", "balls_in_bins"),
    "correlated noise": section("benchmarks.deep.prices", "bands"),
    "calibration": section("benchmarks.deep.prices", "calibration"),
    "accuracy": section("benchmarks.deep.accuracy", "accuracies"),
    "audits": section("benchmarks.deep.audit", "trainings"),
    "planted faults": section("benchmarks.deep.audit", "planted"),
    "on a graphics card": section("benchmarks.deep.card", "on_a_graphics_card"),
}

if __name__ == "__main__":
    sys.exit(run(SECTIONS, page="bench-deep", title="Private deep learning, measured", document=__doc__ or ""))
