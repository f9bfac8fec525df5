"""What is refused and why: for each construct the reason and what to write instead."""

from __future__ import annotations

import re
from typing import Any

ROWS = "Rows are never shown: ask for COUNT(*), SUM, AVG, MEDIAN or QUANTILE of them."
_SELECTS = "shows the value of one person. Ask for a statistic that many people share, such as MEDIAN(x) or COUNT(*)."
_EXTREME = (
    "shows the value of one person, the most unusual one. Write QUANTILE(x, 0.01) for a low value and "
    "QUANTILE(x, 0.99) for a high one."
)
_VOLATILE = "differs from call to call. Write the value itself, such as DATE '2024-01-01'."
_STATEMENT = "is not a question about the data. Only SELECT is answered."
_SET = "is not understood here. Ask the SELECTs one by one; rows are put together in FROM (SELECT ... UNION ALL ...)."
_ROWS_OF = "makes rows that belong to nobody. Name a table of the policy in FROM."
COHORT = (
    "chooses people by other rows of theirs, where it stands alone in WHERE, beside other conditions by AND at most: "
    "WHERE id IN (SELECT id FROM ...). Write the values themselves, or join a public table."
)
_SUBQUERY = "compares rows with other rows. Write the values themselves, or join a public table."
_VALUE = (
    "compares rows with other rows. Ask it by itself first, and write the number that it answers in its place; or "
    "write the values themselves, or join a public table."
)
_SAMPLING = "is not understood: leave it out; the privacy of an answer does not come from a sample drawn in SQL."
_TEXT_MATCH = "is not understood: use LIKE or ILIKE with % and _."
_NESTED_TYPES = "is not understood: columns hold single values. Use numbers, texts, dates and booleans."
_WINDOW = "looks at other people's rows. Add them up first: windows are understood over GROUP BY and aggregates."
_GROUPINGS = "is not understood. Ask one query for each grouping."
_REGRESSION = "is not understood. Ask for REGR_SLOPE(y, x), CORR(x, y), AVG(x) and AVG(y), and compute it from them."
_ZONE = "is not understood: times have no time zone here. Use TIMESTAMP."

UNDERSTOOD = (
    "Understood are ABS, BIN, BIT_COUNT, CEIL, CLAMP, COALESCE, CONCAT, DATEDIFF, DATE_TRUNC, DAY, DAYNAME, DAYOFWEEK, "
    "EXP, EXTRACT, FLOOR, GREATEST, HOUR, IF, ISODOW, LEAST, LENGTH, LN, LOG10, LOWER, MINUTE, MONTH, MONTHNAME, "
    "NULLIF, POWER, QUARTER, ROUND, SIGN, SQRT, STRFTIME, SUBSTRING, TRIM, UPPER, WEEK, WIDTH_BUCKET, XOR, YEAR and "
    "the aggregates COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE, CORR, REGR_SLOPE."
)


def _named(why: str, *nodes: str) -> dict[str, str]:
    """Return the words for nodes that are called as people write them: FirstValue is FIRST_VALUE."""
    return {node: f"{re.sub('(?<=[a-z])(?=[A-Z])', '_', node).upper()} {why}" for node in nodes}


_REASONS: dict[str, str] = {
    "Select.hint": "Hints are not understood: leave them out.",
    "Select.distinct": "DISTINCT of rows is not understood. GROUP BY the same columns in its place, and ask COUNT(*).",
    "Select.into": f"SELECT INTO {_STATEMENT}",
    "Select.qualify": f"QUALIFY of rows {_WINDOW}",
    "Select.windows": f"WINDOW over rows {_WINDOW}",
    "Select.sample": f"SAMPLE {_SAMPLING}",
    "Select.locks": "FOR UPDATE is not understood: queries change nothing. Leave it out.",
    "Select.kind": "SELECT AS STRUCT or VALUE is not understood. List the columns.",
    "Table.when": "AT (VERSION or TIMESTAMP) is not understood: the policy names the version of the data.",
    "Table.catalog": "Names with a database are not understood. Write the bare name of a table of the policy.",
    "Table.joins": "Joins in brackets are not understood. Write FROM table JOIN public_table ON ... without brackets.",
    "Subquery.limit": "LIMIT outside of brackets is not understood. Write it inside the SELECT.",
    "Subquery.order": "ORDER BY outside of brackets is not understood. Write it inside the SELECT.",
    "Subquery.with": "WITH outside of brackets is not understood. Write it inside, before the SELECT.",
    "Join.match_condition": "ASOF joins compare rows with other rows. Join a public table on an equality.",
    "TableAlias.columns": "Renaming columns after a table is not understood. Write AS behind each column in SELECT.",
    "Group.rollup": "WITH ROLLUP is not understood. Write GROUP BY ROLLUP (a, b).",
    "Group.cube": "WITH CUBE is not understood. Write GROUP BY CUBE (a, b).",
    "Group.grouping_sets": "These GROUPING SETS are not understood. Write GROUP BY GROUPING SETS ((a, b), (a), ()).",
    "Distinct.on": "DISTINCT ON is not understood. Write QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) = 1.",
    "Group.totals": f"WITH TOTALS {_GROUPINGS}",
    "Ordered.with_fill": "WITH FILL is not understood: leave it out.",
    "Ordered.nulls_first": "NULLS FIRST is not understood: NULL comes last. Leave it out.",
    "Limit.limit_options": "LIMIT in percent or with ties is not understood. Write a number of rows: LIMIT 10.",
    "Limit.expressions": "LIMIT BY is not understood. Write a number of rows: LIMIT 10.",
    "Between.symmetric": "BETWEEN SYMMETRIC is not understood. Write the smaller end first: BETWEEN 1 AND 2.",
    "In.query": f"IN (SELECT ...) {COHORT}",
    "Exists": f"EXISTS {COHORT}",
    "In.field": "IN takes a list in brackets. Write x IN (1, 2, 3).",
    "In.unnest": f"IN UNNEST {_SUBQUERY}",
    "Star.except": "* EXCLUDE is not understood. List the columns.",
    "Star.replace": "* REPLACE is not understood. List the columns.",
    "Star.rename": "* RENAME is not understood. List the columns.",
    "Trim.position": "LTRIM and RTRIM are not understood. Write TRIM(x).",
    "Trim.expression": "TRIM of other signs than spaces is not understood. Write TRIM(x).",
    "Count.expressions": "COUNT takes one argument. Write COUNT(*) or COUNT(x).",
    "Command": f"This statement {_STATEMENT}",
    "ArrayAgg": f"LIST {_SELECTS}",
    "GroupConcat": f"STRING_AGG {_SELECTS}",
    "Mode": "MODE shows a value that few may have. Write COUNT(*) with GROUP BY x and ORDER BY the count.",
    "ApproxDistinct": "APPROX_COUNT_DISTINCT is not understood. Write COUNT(DISTINCT x).",
    "BitwiseAndAgg": f"BIT_AND of rows {_SELECTS}",
    "BitwiseOrAgg": f"BIT_OR of rows {_SELECTS}",
    "BitwiseXorAgg": f"BIT_XOR of rows {_SELECTS}",
    "LogicalAnd": "BOOL_AND shows whether one person differs. Write AVG(CASE WHEN x THEN 1 ELSE 0 END).",
    "LogicalOr": "BOOL_OR shows whether one person differs. Write AVG(CASE WHEN x THEN 1 ELSE 0 END).",
    **_named(
        _REGRESSION, "RegrIntercept", "RegrR2", "RegrAvgx", "RegrAvgy", "RegrCount", "RegrSxx", "RegrSxy", "RegrSyy"
    ),
    "CovarPop": "COVAR_POP is not understood. Write REGR_SLOPE(y, x) * VARIANCE(x), or CORR(x, y).",
    "CovarSamp": "COVAR_SAMP is not understood. Write REGR_SLOPE(y, x) * VARIANCE(x), or CORR(x, y).",
    "Window": f"OVER {_WINDOW}",
    "RowNumber": "ROW_NUMBER needs OVER: ROW_NUMBER() OVER (ORDER BY n) behind GROUP BY and aggregates.",
    "Rand": f"RANDOM {_VOLATILE}",
    "CurrentUser": "CURRENT_USER is not a column of the data. Name a column.",
    "SessionUser": "SESSION_USER is not a column of the data. Name a column.",
    "CurrentSchema": "CURRENT_SCHEMA is not a column of the data. Name a column.",
    "CurrentDatabase": "CURRENT_DATABASE is not a column of the data. Name a column.",
    "CurrentCatalog": "CURRENT_CATALOG is not a column of the data. Name a column.",
    "SessionParameter": "Settings of the database cannot be read. Write the value itself.",
    "SimilarTo": f"SIMILAR TO {_TEXT_MATCH}",
    "Glob": f"GLOB {_TEXT_MATCH}",
    "Escape": "LIKE ... ESCAPE is not understood: % and _ always stand for other signs.",
    "Lambda": "Functions of functions (x -> ...) are not understood. Write the expression itself.",
    "Array": f"An array {_NESTED_TYPES} A name is quoted by double quotes, not brackets.",
    "List": f"A list {_NESTED_TYPES}",
    "Struct": f"A struct {_NESTED_TYPES}",
    "Bracket": f"A position in brackets {_NESTED_TYPES}",
    "Dot": "Names of more than two parts are not understood. Write column or table.column.",
    "Tuple": "A list in brackets is not a value. Write its parts one by one.",
    "Columns": "COLUMNS(...) is not understood. List the columns.",
    "Star": "* stands for columns only in a SELECT of rows, in FROM or WITH. List what is asked.",
    "Collate": "COLLATE is not understood. Compare LOWER(x).",
    "AtTimeZone": f"AT TIME ZONE {_ZONE}",
    "Second": "SECOND is not understood. The finest parts of a time are HOUR and MINUTE.",
    "Interval": "An INTERVAL can only be added to a date, and counts whole days, weeks, months, quarters or years: "
    "d + INTERVAL 7 DAY.",
    "StrPosition": "Positions in texts are not understood. Use LIKE '%...%'.",
    "Contains": "CONTAINS is not understood. Use LIKE '%...%'.",
    "StartsWith": "STARTS_WITH is not understood. Use LIKE '...%'.",
    "EndsWith": "ENDS_WITH is not understood. Use LIKE '%...'.",
    "Right": "RIGHT is not understood. Use SUBSTRING(x, first, length), or LIKE '%...'.",
    "SplitPart": "SPLIT_PART is not understood. Use SUBSTRING(x, first, length), or LIKE.",
    "Try": "TRY is not needed: where a database would fail, the result is NULL. Leave it out.",
    "ByteString": "Texts with escapes (E'...') are not understood. Write the text between plain quotes.",
    "RawString": "Raw texts are not understood. Write the text between plain quotes.",
    "UnicodeString": "Texts with escapes are not understood. Write the text between plain quotes.",
    "HexString": "Bytes are not understood. Write the number in decimal.",
    "BitString": "Bits are not understood. Write the number in decimal.",
    "PositionalColumn": "#1 is not understood. Write the name of the column.",
    **dict.fromkeys(("Grouping", "GroupingId"), "GROUPING is understood with GROUP BY ROLLUP (a, b) alone."),
    "Distinct": "DISTINCT is understood in COUNT(DISTINCT x) alone. Leave it out.",
    "Order": "ORDER BY inside an aggregate is not understood. Leave it out.",
    "Xor": "XOR between conditions is not understood. Write a <> b; XOR(a, b) works on the bits of integers.",
    **_named(_SELECTS, "First", "Last", "FirstValue", "LastValue", "NthValue", "AnyValue", "ArgMin", "ArgMax"),
    **_named(_EXTREME, "Min", "Max"),
    **_named(_SET, "Union", "Intersect", "Except"),
    **_named(_VOLATILE, "Uuid", "CurrentDate", "CurrentTime", "Localtime", "Localtimestamp"),
    **_named(_SUBQUERY, "Any", "All"),
    **_named(_ROWS_OF, "Unnest", "GenerateSeries", "Values"),
    **dict.fromkeys(
        ("Select.laterals", "Table.laterals", "Lateral"),
        "LATERAL is not understood. Compute the expression in a subquery in FROM.",
    ),
    **dict.fromkeys(
        ("Select.offset", "Limit.offset", "Union.offset"),
        "OFFSET is understood on answers alone: a SELECT of rows has neither order nor number.",
    ),
    **dict.fromkeys(
        ("Select.pivots", "Table.pivots", "Subquery.pivots"),
        "PIVOT is not understood. Write one aggregate with FILTER (WHERE ...) for each column.",
    ),
    **dict.fromkeys(
        ("With.recursive", "With.search", "CTE.key_expressions"),
        "Recursive CTEs are not understood. Write the steps as one expression.",
    ),
    **dict.fromkeys(
        ("Column.db", "Column.catalog"), "Names with a schema are not understood. Write column or table.column."
    ),
    **dict.fromkeys(
        ("Placeholder", "Parameter"), "Parameters ($1, ?, :name) are not understood. Write the value itself."
    ),
    **dict.fromkeys(("PropertyEQ", "Kwarg"), "Named arguments are not understood. Leave out the name."),
    **dict.fromkeys(("Table.sample", "Subquery.sample"), f"TABLESAMPLE {_SAMPLING}"),
    **dict.fromkeys(("Subquery", "Select"), f"A subquery as a value {_VALUE}"),
    **dict.fromkeys(("IgnoreNulls", "RespectNulls"), f"This aggregate {_SELECTS}"),
    **dict.fromkeys(("CurrentTimestamp", "CurrentDatetime"), f"The current time {_VOLATILE}"),
    **dict.fromkeys(
        ("RegexpLike", "RegexpILike", "RegexpFullMatch", "RegexpExtract", "RegexpReplace"),
        f"Matching by regular expression {_TEXT_MATCH}",
    ),
    **dict.fromkeys(("JSONExtract", "JSONExtractScalar"), f"JSON {_NESTED_TYPES}"),
    **dict.fromkeys(("Map", "ToMap"), f"A map {_NESTED_TYPES}"),
    "Explode": f"UNNEST {_ROWS_OF}",
    "ExplodingGenerateSeries": f"GENERATE_SERIES {_ROWS_OF}",
}

_STATEMENTS: dict[str, str] = {
    **_named(_STATEMENT, "Insert", "Update", "Delete", "Merge", "Create", "Drop", "Alter", "Copy", "Attach", "Detach"),
    **_named(_STATEMENT, "Install", "Pragma", "Set", "Show", "Describe", "Summarize", "Use", "Commit", "Rollback"),
    **_named(_STATEMENT, "Kill", "Analyze", "Comment", "Grant", "Revoke", "Cache", "Execute", "Export"),
    "TruncateTable": f"TRUNCATE {_STATEMENT}",
    "Transaction": f"BEGIN {_STATEMENT}",
}

FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("NOW", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP"), _REASONS["CurrentTimestamp"]),
    **_named(_VOLATILE, "TODAY", "SETSEED", "NEXTVAL", "CURRVAL", "GETENV", "GETVARIABLE"),
    **_named(_VOLATILE, "CURRENT_SETTING", "VERSION", "TXID_CURRENT"),
    **dict.fromkeys(("READ_TEXT", "READ_BLOB"), "Files cannot be read in a query. Name a table of the policy."),
    "GEN_RANDOM_UUID": f"UUID {_VOLATILE}",
    "WEEKDAY": "WEEKDAY differs between databases. Write ISODOW(x): 1 for Monday to 7 for Sunday.",
    "PRODUCT": "PRODUCT is not understood: one person can change it at will. Write EXP(SUM(CLAMP(LN(x), 0, 3))).",
    "ENTROPY": "ENTROPY is not understood. Ask for COUNT(*) by group and compute it from them.",
    "HISTOGRAM": "HISTOGRAM is not understood. Write COUNT(*) with GROUP BY BIN(x, width).",
    "FAVG": "FAVG is not understood. Write AVG(x).",
    "FSUM": "FSUM is not understood. Write SUM(x).",
    "RESERVOIR_QUANTILE": "RESERVOIR_QUANTILE is not understood. Write QUANTILE(x, 0.5).",
}


def reason(kind: str, otherwise: str) -> str:
    """Return the words for a kind of node or for an argument of one, or other words."""
    return _REASONS.get(kind, otherwise)


def statement_reason(tree: Any) -> str:
    """Return why a statement that is no SELECT is not answered."""
    name = type(tree).__name__
    if name == "Command":
        word = "".join(sign for sign in str(tree.this) if sign.isalpha())[:20].upper()
        return f"{word or 'This statement'} {_STATEMENT}"
    return _STATEMENTS.get(name) or _REASONS.get(name) or f"This statement {_STATEMENT}"
