"""Text becomes one SELECT of bounded size, or a refusal that repeats little of it."""

from __future__ import annotations

import logging

import pytest

from discreet.errors import UnsupportedSQL
from discreet.query.reading import parse as parsing
from discreet.query.reading.parse import parse, shown


def test_one_select_is_read_with_or_without_a_semicolon_brackets_and_comments():
    texts = (
        "SELECT COUNT(*) FROM t",
        "select count(*) from t;",
        "SELECT COUNT(*) FROM t; -- done",
        "(SELECT COUNT(*) FROM t)",
        "((SELECT COUNT(*) FROM t));",
        "/* a */ SELECT /* b */ COUNT(*) -- c\nFROM t",
        "FROM t SELECT COUNT(*)",
    )
    assert {parse(text).sql(comments=False) for text in texts} == {"SELECT COUNT(*) FROM t"}


@pytest.mark.parametrize("text", ["", ";", "  \n", "-- nothing", ";;;", "/**/"])
def test_an_empty_text_is_refused(text):
    with pytest.raises(UnsupportedSQL, match="empty"):
        parse(text)


@pytest.mark.parametrize("value", [None, 3, b"SELECT 1", ["SELECT 1"]])
def test_a_query_is_a_text(value):
    with pytest.raises(UnsupportedSQL, match="is a text"):
        parse(value)


def test_the_limits_are_inclusive():
    depth = parsing.DEEPEST_BRACKETS
    parse("SELECT " + "(" * depth + "1" + ")" * depth)
    with pytest.raises(UnsupportedSQL, match="too deeply"):
        parse("SELECT " + "(" * (depth + 1) + "1" + ")" * (depth + 1))
    start = "SELECT 1 -- "
    parse(start + "x" * (parsing.LONGEST_TEXT - len(start)))
    with pytest.raises(UnsupportedSQL, match="characters long"):
        parse(start + "x" * (parsing.LONGEST_TEXT - len(start) + 1))


def test_only_a_chain_that_can_be_cut_in_halves_is_no_deeper_when_it_is_longer():
    for sign in ("AND", "OR", "+", "-", "||"):
        parse("SELECT 1" + f" {sign} 1" * (3 * parsing.DEEPEST_TREE))
    parse("SELECT 1" + " * 1" * (parsing.DEEPEST_TREE - 5))
    with pytest.raises(UnsupportedSQL, match="too deeply"):
        parse("SELECT 1" + " * 1" * (parsing.DEEPEST_TREE + 5))


def test_too_many_words_are_refused_and_the_number_is_said():
    with pytest.raises(UnsupportedSQL, match=r"words and signs"):
        parse("SELECT 1" + ", 1" * parsing.MOST_TOKENS)


@pytest.mark.parametrize("sign", ["\x00", "\x08", "\x1b", "\u200b", "\u202e", "\ufeff", "\ud800", "\ue000"])
def test_invisible_characters_are_named_by_their_number(sign):
    with pytest.raises(UnsupportedSQL, match=f"U\\+{ord(sign):04X}"):
        parse(f"SELECT 1 {sign}")


@pytest.mark.parametrize("number", ["0x1F", "0b11", "12abc", "1_x"])
def test_a_number_that_runs_into_a_word_is_no_number_with_an_alias(number):
    with pytest.raises(UnsupportedSQL, match=r"decimal|can be read"):
        parse(f"SELECT {number}")


def test_a_refusal_repeats_at_most_eighty_characters():
    long = "x" * 5000
    for text in (f"SELECT {long} {long} {long}", f"SELECT '{long}", f"SELECT ({long}", f"DROP {long}"):
        with pytest.raises(UnsupportedSQL) as refusal:
            parse(text)
        assert len(str(refusal.value)) < 300
        assert "x" * 81 not in str(refusal.value)


def test_shown_text_is_one_short_line():
    assert shown("a\n\tb\x00c") == "a b c"
    assert len(shown("x" * 500)) == parsing.SHOWN
    assert shown(parse("SELECT  a  +  1").expressions[0]) == "a + 1"


def test_nothing_is_logged_while_a_query_is_read_and_logging_works_afterwards(caplog):
    with caplog.at_level(logging.DEBUG, logger="sqlglot"):
        with pytest.raises(UnsupportedSQL, match="EXPLAIN"):
            parse("EXPLAIN SELECT COUNT(*) FROM secrets")
        assert not caplog.records
        logging.getLogger("sqlglot").warning("somebody else's")
    assert [record.message for record in caplog.records] == ["somebody else's"]
