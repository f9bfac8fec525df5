"""The exact core: rows as integer vectors, exact sums of them, and noise that is paid for."""

from discreet.learning.exact.binned import BinnedRows, bin_length, binned_scores
from discreet.learning.exact.measurements import (
    PURE,
    FitNeighbors,
    FitPrice,
    Measurements,
    bought,
    judged,
    stated_relation,
)
from discreet.learning.exact.rows import (
    Classes,
    FitRows,
    listed_cells,
    listed_column,
    matrix,
    stated_classes,
    targets,
    unheard,
)
from discreet.learning.exact.softmax import (
    Errors,
    clipped_errors,
    exponential,
    on_grid,
    softmax_errors,
    squared_errors,
)
from discreet.learning.exact.vectors import (
    CHUNK,
    STEPS,
    Chunks,
    Clipped,
    Cut,
    exact_sum,
    filled,
    in_ball,
    in_unit_box,
    on_sphere,
    products,
    scaled_targets,
    squared_norms,
)
