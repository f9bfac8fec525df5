"""A table is immutable, aligned as text, and escaped and accessible as HTML."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.display import Table
from discreet.errors import ParameterError

WARDS = Table(["ward", "answer", "error"], [["surgery", 1204, 9.5], ["maternity", 87, 12.25]], "People per ward")


class Reader(HTMLParser):
    """Collect the elements, with attributes, and the text of each cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_text_lines_up_names_on_the_left_and_decimal_points_in_one_column() -> None:
    lines = str(WARDS).splitlines()
    assert lines[0] == "People per ward"
    assert lines[3].index("1,204") + 5 == lines[4].index("87") + 2
    assert lines[3].rindex(".") == lines[4].rindex(".")


def test_html_names_the_table_its_columns_and_its_rows_for_a_screen_reader() -> None:
    elements = Reader(WARDS.html()).elements
    assert [tag for tag, _ in elements].count("caption") == 1
    scopes = [attributes.get("scope") for tag, attributes in elements if tag == "th"]
    assert scopes == ["col", "col", "col", "row", "row"]


def test_html_of_every_cell_is_its_text() -> None:
    cells = [cell.strip("\u2007\u2008") for cell in Reader(WARDS.html()).cells]
    assert cells == ["ward", "answer", "error", "surgery", "1,204", "9.5", "maternity", "87", "12.25"]


@given(st.text(max_size=30))
def test_no_text_can_add_an_element_or_an_attribute(text: str) -> None:
    elements = Reader(Table([text], [[text]], text).html()).elements
    tags = [tag for tag, _ in elements if tag != "caption"]
    assert tags == ["div", "table", "thead", "tr", "th", "tbody", "tr", "th"]
    assert {name for _, attributes in elements for name in attributes} <= {"class", "scope"}


@given(st.text(max_size=30))
def test_no_text_can_break_a_line_or_command_a_terminal(text: str) -> None:
    lines = str(Table(["column"], [[text]])).split("\n")
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)


def test_notebook_form_brings_its_own_style_and_loads_nothing() -> None:
    text = WARDS._repr_html_()
    assert "<style>" in text
    assert "tabular-nums" in text
    assert not any(word in text for word in ("http", "url(", "@import", "<script"))


def test_wide_letters_take_two_columns_and_combining_ones_none() -> None:
    lines = str(Table(["name", "count"], [["日本", 1], ["e\u0301", 2]])).splitlines()
    assert lines[2] == "日本      1"
    assert lines[3] == "e\u0301         2"


def test_booleans_are_words_and_nothing_is_an_empty_cell() -> None:
    table = Table(["holds", "bound"], [[True, None], [np.bool_(False), 2.5]])
    assert [line.split() for line in str(table).splitlines()[2:]] == [["yes"], ["no", "2.5"]]


def test_a_table_cannot_be_changed_even_through_the_list_it_was_made_from() -> None:
    rows = [["surgery", [1, 2]]]
    table = Table(["ward", "answer"], rows)
    before = str(table)
    rows[0][1].append(3)  # type: ignore[attr-defined]
    rows.append(["maternity", [4]])
    assert str(table) == before
    with pytest.raises(FrozenInstanceError):
        table.caption = "other"  # type: ignore[misc]
    assert table == Table(["ward", "answer"], [["surgery", "[1, 2]"]])


def test_repr_says_the_shape_and_no_cell() -> None:
    assert repr(WARDS) == "Table(2 rows, columns ward, answer, error)"
    assert len(WARDS) == 2


def test_an_empty_table_still_shows_its_columns() -> None:
    assert str(Table(["ward"], [])).splitlines() == ["ward", "----"]
    assert "<tbody></tbody>" in Table(["ward"], []).html()


@pytest.mark.parametrize(
    ("columns", "rows", "digits", "message"),
    [
        ([], [], 4, "at least one column"),
        (["a", "b"], [[1]], 4, "row 0 has 1 cells"),
        (["a"], [[1]], 0, "digits"),
    ],
)
def test_malformed_tables_are_refused(columns: list[str], rows: list[list[object]], digits: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Table(columns, rows, digits=digits)
