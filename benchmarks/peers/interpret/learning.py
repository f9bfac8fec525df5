"""The interpret side of the learning benchmark, run in interpret's own environment: boosted additive models, DP-EBM.

Its guarantee is (epsilon, delta) by Gaussian composition. The codes of Adult's categories are nominal, other columns
continuous.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from interpret.privacy import (  # type: ignore[import-not-found]
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
)
from numpy.typing import NDArray

from benchmarks.learning.data import ADULT_NUMBERS, Split
from benchmarks.learning.side import DELTA, Request, serve


def _given(request: Request) -> dict[str, Any]:
    """Return price, bounds and types of features."""
    low, high = request.data.bounds
    columns = range(len(low))
    nominal = request.table == "Adult"
    return {
        "epsilon": request.epsilon,
        "delta": DELTA,
        "privacy_bounds": np.column_stack([low, high]),
        "feature_types": ["nominal" if nominal and at not in ADULT_NUMBERS else "continuous" for at in columns],
        "n_jobs": 1,
    }


def classifier(request: Request, split: Split) -> NDArray[Any]:
    """Boosted classifier."""
    fitted = DPExplainableBoostingClassifier(**_given(request)).fit(split.rows, split.labels)
    return np.asarray(fitted.predict(split.held_rows))


def regressor(request: Request, split: Split) -> NDArray[Any]:
    """Boosted regressor; answers are cut to the public bounds, which is free."""
    least, most = request.data.target_bounds
    ends = {"privacy_target_min": least, "privacy_target_max": most}
    fitted = DPExplainableBoostingRegressor(**_given(request), **ends).fit(split.rows, split.labels)
    return np.clip(np.asarray(fitted.predict(split.held_rows)), least, most)


MODELS = {"DP-EBM": classifier, "DP-EBM regressor": regressor}

if __name__ == "__main__":
    serve(version("interpret-core"), MODELS)
