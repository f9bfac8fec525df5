"""CSV that is written here is read as the same rows, whatever is in a cell."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from discreet.display.csv_text import write_csv

CELLS = st.text(st.sampled_from(["\r", "\n", '"', ",", "a", "é", " "]), max_size=6)


@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5))
def test_rows_are_read_back_as_they_were_written(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    write_csv(text, ["one", "two"], rows)
    text.seek(0)
    assert list(csv.reader(text, strict=True)) == [["one", "two"], *rows]
