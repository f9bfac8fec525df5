"""The plan of a query: what is summed over which rows and keys, in one canonical form with one digest."""

from discreet.query.plan.bounding import Bounding, Noise, RowNorms, choose
from discreet.query.plan.canonical_form import (
    canonical,
    key_from_text,
    key_to_text,
    ordered_asked,
    ordered_keys,
    ordered_values,
)
from discreet.query.plan.granted_rows import bounded, entries_of, rows_of_one_unit, table_named
from discreet.query.plan.in_words import written
from discreet.query.plan.query_plan import (
    Aggregate,
    Aggregation,
    FilterRows,
    JoinKind,
    Key,
    MeasureKind,
    Order,
    PostProcessing,
    Project,
    PublicJoin,
    QueryPlan,
    RowSource,
    Scan,
)
from discreet.query.plan.request import (
    WEIGHT,
    Cell,
    EachRow,
    Engine,
    Groups,
    HistogramRequest,
    NormWeights,
    One,
    Present,
    RowWeights,
    Steps,
    SumRequest,
    Sums,
    Units,
)
