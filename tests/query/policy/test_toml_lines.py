"""Every key of a TOML text is found on the line on which it stands."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.query.policy.toml_lines import find_lines, header, key_in_toml, text_in_toml


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("a = 1", ("a",), 1),
        ("# a = 0\n\na = 1", ("a",), 3),
        ("[t]\na = 1", ("t", "a"), 2),
        ("[t.u.v]\na = 1", ("t", "u"), 1),
        ("[ t . 'u' ]\na = 1", ("t", "u", "a"), 2),
        ("t.u.a = 1\nt.u.b = 2", ("t", "u", "b"), 2),
        ('[t."two words"]\n"a.b" = 1', ("t", "two words", "a.b"), 2),
        ('"\\u00e9" = 1', ("é",), 1),
        ("a = {x = 1, y = {z = 2}}", ("a", "y", "z"), 1),
        ("a = [\n 1,\n # not 2\n 3]", ("a", 1), 4),
        ("a = [{x = 1},\n{y = 2}]", ("a", 1, "y"), 2),
        ('a = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a = '''\n[b]\n'''\nb = 2", ("b",), 4),
        ('a = """x\\""" y"""""\nb = 2', ("b",), 2),
        ('a = "# no comment" # but this\nb = 2', ("b",), 2),
        ("a = 2026-01-01 10:00:00\nb = 2", ("b",), 2),
        ("a = 1\r\nb = 2".replace("\r\n", "\n"), ("b",), 2),
        ("[[t]]\na = 1\n[[t]]\na = 2", ("t", "a"), 2),
    ],
)
def test_a_key_is_found_on_its_line(text, place, line):
    tomllib.loads(text)
    assert find_lines(text)[place] == line


keys = st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
leaves = st.integers() | st.text(st.characters(exclude_categories=("Cs",)), max_size=5) | st.booleans()
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))


def written(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{text_in_toml(key, longest=None)} = {written(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(written(one) for one in value) + "]"
    return text_in_toml(value, longest=None) if isinstance(value, str) else str(value).lower()


def places(value: object, here: tuple[str | int, ...]):
    yield here
    beneath = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in beneath:
        yield from places(one, (*here, key))


@given(st.lists(st.tuples(keys, values), max_size=4, unique_by=lambda pair: pair[0]))
def test_every_key_and_element_of_any_text_has_a_line(pairs):
    text = "".join(f"{text_in_toml(key, longest=None)} = {written(value)}\n" for key, value in pairs)
    assert tomllib.loads(text) == dict(pairs)
    lines = find_lines(text)
    expected = 1
    for key, value in pairs:
        assert lines[(key,)] == expected
        assert all(place in lines for place in places(value, (key,)))
        expected += written(value).count("\n") + 1
    assert set(lines) == {place for key, value in pairs for place in places(value, (key,))}


@given(st.text(max_size=60))
def test_a_text_that_is_no_toml_only_has_fewer_lines(text):
    assert all(1 <= line <= text.count("\n") + 1 for line in find_lines(text).values())


def test_names_are_written_as_toml_has_them():
    assert key_in_toml("cost") == "cost"
    assert key_in_toml("two words") == '"two words"'
    assert key_in_toml("a\nb") == '"a\\u000Ab"'
    assert header(("tables", "é")) == '[tables."é"]'
    assert len(key_in_toml("x" * 1000)) < 80
