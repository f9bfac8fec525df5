"""HTML is escaped, self-contained and names its parts."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.display import definition_list, escape, figure, page, paragraph, section
from discreet.errors import ParameterError


class Tags(HTMLParser):
    """Collect element names, and check that they close in order."""

    VOID = frozenset({"meta"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@given(st.text(max_size=40))
def test_escaped_text_holds_no_markup_and_no_control_character(text: str) -> None:
    safe = escape(text)
    assert not set(safe) & set("<>\"'")
    assert Tags(paragraph(text)).names == ["p"]
    assert all(letter in "\t\n\r" or not letter < " " for letter in safe)


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_definition_list_has_one_term_and_one_meaning_a_pair(term: str, meaning: str) -> None:
    assert Tags(definition_list([(term, meaning), ("b", 2)])).names == ["dl", "dt", "dd", "dt", "dd"]


def test_a_page_closes_every_element_and_loads_nothing() -> None:
    text = page("Report <1>", section("Price & odds", paragraph("1 < 2")))
    tags = Tags(text)
    assert not tags.open
    assert "script" not in tags.names
    assert not any(word in text for word in ("http:", "https:", "url(", "@import", "src="))
    assert "default-src 'none'" in text
    assert "<title>Report &lt;1&gt;</title>" in text


def test_a_page_fits_a_phone_and_the_dark() -> None:
    text = page("Report", "")
    assert 'name="viewport"' in text
    assert "prefers-color-scheme:dark" in text
    assert '<html lang="en">' in text


def test_a_figure_drops_the_prologue_and_is_named() -> None:
    text = figure('<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg width="1"><g/></svg>\n', description='the "answer"')
    assert text.startswith('<figure><svg role="img" aria-label="the &quot;answer&quot;" width="1">')
    assert "DOCTYPE" not in text
    assert text.endswith("</svg><figcaption>the &quot;answer&quot;</figcaption></figure>")


def test_a_figure_without_a_drawing_is_refused() -> None:
    with pytest.raises(ParameterError, match="no svg element"):
        figure("a picture", description="none")
