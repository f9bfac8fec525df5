"""What the reference page shows is understood."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.query.reading.query import read_query
from tests.query.sample_policy import POLICY, evaluate

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
FUNCTIONS = set(
    re.findall(r"`([A-Z][A-Z0-9_]+)`", PAGE[PAGE.index("## Expressions") : PAGE.index("## What is refused")])
)


def test_the_page_has_examples():
    assert len(QUERIES) >= 5


@pytest.mark.parametrize("sql", QUERIES)
def test_every_example_is_understood(sql):
    assert read_query(sql, POLICY, evaluate=evaluate).aggregation.asked


def test_every_function_of_the_page_is_tried_in_a_test():
    tried = Path(__file__).with_name("test_expressions.py").read_text(encoding="utf-8").upper()
    types = {"BOOLEAN", "BIGINT", "DOUBLE", "TEXT", "DATE", "TIMESTAMP", "NULL", "CAST"}
    missing = {name for name in FUNCTIONS - types if name not in tried}
    assert not missing
