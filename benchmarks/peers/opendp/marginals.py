"""The opendp side of the benchmark of marginals, run in opendp's own environment: MST and AIM with public keys.

With all keys stated opendp takes no delta, so its budget is the rho that discreet's guarantee comes from.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]
import polars

from benchmarks.query.side import serve

dp.enable_features("contrib")
warnings.simplefilter("ignore")

_ROWS = 200_000


def three_ways(path: str, algorithm: str, rho: float) -> dict[str, float] | str | None:
    """Release once; return the mean L1 error of all three-way marginals, the largest error of a cell, and seconds.

    None says that rounding made the parts of this rho add up to more than it, text why opendp refused otherwise.
    """
    with np.load(path) as stored:
        codes, sizes = stored["codes"], stored["sizes"].tolist()
    names = [f"c{place}" for place in range(len(sizes))]
    data = polars.DataFrame({name: column.astype(np.int64) for name, column in zip(names, codes, strict=True)})
    context = dp.Context.compositor(
        data=data.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=1,
    )
    keys = {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
    started = time.perf_counter()
    try:
        table = context.query().contingency_table(keys=keys, algorithm=getattr(dp.mbi, algorithm)()).release()
    except dp.OpenDPException as refusal:
        return None if "insufficient budget" in str(refusal) else str(refusal).strip().partition("\n")[0][:200]
    rows = table.synthesize(rows=_ROWS, method="sample")
    seconds = time.perf_counter() - started
    invented = np.stack([rows[name].fill_null(size).to_numpy() for name, size in zip(names, sizes, strict=True)])
    return {**_errors(invented.astype(np.int64), codes.astype(np.int64), sizes), "seconds": seconds}


def _errors(invented: Any, codes: Any, sizes: list[int]) -> dict[str, float]:
    """Compare all three-way marginals of invented rows and the table; null, which opendp adds, is a code more."""
    total, largest, marginals = 0.0, 0.0, list(combinations(range(len(sizes)), 3))
    for places in marginals:
        shape = tuple(sizes[place] + 1 for place in places)
        model, truth = (
            np.bincount(np.ravel_multi_index(rows[list(places)], shape), minlength=int(np.prod(shape))) / rows.shape[1]
            for rows in (invented, codes)
        )
        off = np.abs(model - truth)
        total, largest = total + off.sum(), max(largest, off.max())
    return {"l1": float(total / len(marginals)), "cell": float(largest)}


if __name__ == "__main__":
    serve(version("opendp"), {"three_ways": three_ways})
