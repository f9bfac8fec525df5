"""Texts of private rows that become keys start no formula, no escape sequence and no markup where they are shown."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest

from discreet.display import csv_cell, visible
from discreet.query import Answer, Session
from tests.cli.program import run

HOSTILE = (
    '=HYPERLINK("http://evil","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "  =1+1",
    "'=1+1",
    "''@x",
    "\uff1d1+1",
    "\x1b[31mred",
    "a\x1b]0;title\x07",
    "\x9b2J",
    "\x00nul",
    "\u202egnp.exe",
    "a\u2066b\u2069",
    "line\u2028end",
    'x\r\ny,"z"',
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</svg><script>1</script>",
    "--><script>1</script>",
    "&lt;b&gt;",
    "$x^2$",
    "[bold]markup[/bold]",
    ":smile:",
    "plain \u00fc \u65e5\u672c",
)
STORED = tuple(text for text in HOSTILE if "\x00" not in text)  # no database holds NUL in a text
POLICY = """\
[data]
source = "keys.duckdb"
lineage = "keys"
version = "1"

[protect]
unit = "person"

[budget]
notion = "approx"
epsilon = 4
delta = 1e-6
ledger = "ledger.sqlite"

[analysts]
ana = {}

[tables.rows]
unit = "person"
rows = 1
groups = 1
rows_per_group = 1

[tables.rows.columns]
word = {type = "text"}
"""
QUERY = "SELECT word, COUNT(*) AS n FROM rows GROUP BY word"
_COMMAND = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    with duckdb.connect(str(folder / "keys.duckdb")) as connection:
        connection.execute("CREATE TABLE rows (person BIGINT, word TEXT)")
        connection.executemany(
            "INSERT INTO rows SELECT ? * 1000 + i, ? FROM range(200) AS t(i)", list(enumerate(STORED))
        )
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    return folder / "policy.toml"


@pytest.fixture(scope="module")
def answer(policy: Path) -> Answer:
    """All the words are released: of 200 people each, a word is held back with a chance of less than e^-100."""
    with Session.open(policy, analyst="ana") as session:
        found = session.sql(QUERY, epsilon=2, delta=1e-7)
    assert set(found["word"]) == set(STORED)
    return found


def test_no_cell_of_a_csv_starts_a_formula_or_commands_a_terminal(policy: Path, answer: Answer) -> None:
    text = run("ask", QUERY, "--policy", policy, "--epsilon", 2, "--delta", "1e-7", "--csv").stdout
    assert _COMMAND.search(text) is None
    words = [row["word"] for row in csv.DictReader(io.StringIO(text))]
    assert len(words) == len(STORED)
    assert not any(word.lstrip(" ").startswith(("=", "+", "-", "@", "\uff1d")) for word in words)
    back = {re.sub("^'('* *[=+\\-@\uff1d\uff0b\uff0d\uff20])", r"\1", word) for word in words}
    assert back == {visible(word) for word in answer["word"]}


def test_numbers_of_a_csv_stay_numbers() -> None:
    assert [csv_cell(cell) for cell in (-3, -0.5, None, True, "-3")] == [-3, -0.5, None, True, "'-3"]


@pytest.mark.parametrize("text", HOSTILE)
def test_the_mark_of_a_formula_can_be_taken_back(text: str) -> None:
    shown = visible(text)
    marked = csv_cell(text)
    dangerous = re.match("'* *[=+\\-@\uff1d\uff0b\uff0d\uff20]", shown) is not None
    assert (marked[1:] if dangerous else marked) == shown
    assert not dangerous or marked.startswith("'")


def test_no_line_on_a_terminal_has_an_escape_sequence(policy: Path, answer: Answer) -> None:
    shown = run("ask", QUERY, "--policy", policy, "--epsilon", 2, "--delta", "1e-7").stdout
    for text in (str(answer), shown, str(answer.intervals())):
        assert _COMMAND.search(text) is None
        assert "[bold]markup[/bold]" in text
        assert ":smile:" in text
    machine = run("ask", QUERY, "--policy", policy, "--epsilon", 2, "--delta", "1e-7", "--json").stdout
    assert _COMMAND.search(machine) is None
    assert set(json.loads(machine)["answer"]["word"]) == set(STORED)


class Tags(HTMLParser):
    """Collects the elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")  # no font has every letter
def test_no_page_has_an_element_of_a_key(answer: Answer) -> None:
    certificate = answer.certificate()
    for page in (answer._repr_html_(), certificate.to_html(), certificate._repr_html_(), answer.plot().svg()):
        found = Tags()
        found.feed(page)
        assert not {"script", "img", "b", "iframe", "a"} & found.tags
        assert not [name for name in found.attributes if name.startswith("on") or name == "src"]
        assert _COMMAND.search(page.replace("\t", " ")) is None


def test_a_certificate_in_json_holds_the_keys_and_no_command(answer: Answer) -> None:
    text = answer.certificate().to_json()
    assert _COMMAND.search(text) is None
    assert "\u65e5\u672c" in text
    assert set(json.loads(text)["answer"]["word"]) == set(STORED)
