"""The policy: what a curator declares about tables, columns, units and budgets, and how its file is read."""

from discreet.query.policy.budget import concentrated, open_ledger, terms_of
from discreet.query.policy.check import COLLATED, FLOATS, Schema, Unfit, unfit_in_words, with_schema
from discreet.query.policy.columns import read_columns
from discreet.query.policy.csv_format import CsvFormat, read_format
from discreet.query.policy.declarations import (
    LARGEST_DOMAIN,
    UNNAMED,
    Analyst,
    ColumnPolicy,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    TableTypes,
    Unit,
    UnitColumn,
    UnitIsRow,
    UnitLimits,
    UnitLink,
    undeclared,
    undeclared_texts,
)
from discreet.query.policy.file import parse_policy, read_policy
from discreet.query.policy.first_policy import skeleton
from discreet.query.policy.source import find_source, table_files, table_names
from discreet.query.policy.tables import MOST_PEOPLE
from discreet.query.policy.toml_lines import header, key_in_toml, text_in_toml
from discreet.query.policy.toml_section import Problems, Section
