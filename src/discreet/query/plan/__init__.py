"""The plan of a query: what is summed over which rows and keys, in one canonical form with one digest."""

from discreet.query.plan.bounding import Bounding, Noise, RowNorms, choose, needs_groups, of_values
from discreet.query.plan.canonical_form import (
    canonical,
    canonical_parts,
    key_from_text,
    key_to_text,
    ordered_asked,
    ordered_keys,
    ordered_values,
)
from discreet.query.plan.granted_rows import bounded, entries_of, rows_of_one_unit, table_named
from discreet.query.plan.in_words import written, written_expression
from discreet.query.plan.query_plan import (
    Aggregate,
    Aggregation,
    AnswerWindow,
    Key,
    MeasureKind,
    Order,
    PostProcessing,
    QueryPlan,
    UnionOfAnswers,
    WindowKind,
    gone,
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
    Paired,
    Present,
    Request,
    RowWeights,
    Steps,
    SumRequest,
    Sums,
    Units,
    UnitTotal,
    ValuesRequest,
)
from discreet.query.plan.row_sources import (
    FilterRows,
    JoinKind,
    MatchKind,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
    UnitValue,
    UnitValueKind,
)
from discreet.query.plan.unit_limits import LARGEST_BOUND, LARGEST_END, limits_of, stated_limits, with_stated
