"""The house form of a docstring is read as people write it."""

from __future__ import annotations

from tools.pages.docstrings import Claim, claims, restructured, subjects

LAPLACE = """Add discrete Laplace noise.

    Privacy. For L1 sensitivity D the output is (D / scale)-DP
        under the relation D was computed for.
        Proof: the law is proportional to exp(-|y - f(x)| / scale);
        a shift moves the exponent by at most D / scale.
    Accuracy. Off by more than scale * ln(k / beta) with probability
    at most beta.
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> 1 + 1
    2
    """


def test_a_claim_runs_until_the_next_and_keeps_its_proof_apart():
    assert claims(LAPLACE) == [
        Claim(
            "Privacy",
            "For L1 sensitivity D the output is (D / scale)-DP under the relation D was computed for.",
            "the law is proportional to exp(-|y - f(x)| / scale); a shift moves the exponent by at most D / scale.",
        ),
        Claim("Accuracy", "Off by more than scale * ln(k / beta) with probability at most beta."),
        Claim("Reference", "Dwork, McSherry, Nissim, Smith 2006."),
    ]


def test_a_word_inside_a_sentence_is_no_claim():
    assert claims("Say it.\n\nIt is about Privacy. Not a claim.\nPrivacy first.") == []


def test_absolute_values_and_products_are_not_taken_for_markup():
    assert restructured(["The bias |y| is a * b * c and f_ too; `a * b` is code."]) == [
        r"The bias \|y\| is a \* b \* c and f\_ too; `a * b` is code."
    ]


def test_literal_blocks_and_examples_stay_as_they_are():
    lines = ["A tree::", "", "    a * b", "    |", "", "After | it.", "", ">>> 2 * 3", "6"]
    assert restructured(lines) == [*lines[:5], r"After \| it.", "", ">>> 2 * 3", "6"]


def test_a_table_becomes_a_table_and_absolute_values_stay_in_their_cell():
    assert restructured(["| what | value |", "|---|---|", "| P(|X| >= k) | `q` |"]) == [
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * - what",
        "     - value",
        r"   * - P(\|X\| >= k)",
        "     - `q`",
        "",
    ]


def test_a_figure_is_shown_from_the_static_folder():
    assert restructured(["Figure. docs/_static/coin.svg A coin."]) == [
        "",
        ".. figure:: /_static/coin.svg",
        "",
        "   A coin.",
        "",
    ]


def test_subjects_are_found_without_importing(tmp_path):
    package = tmp_path / "discreet"
    (package / "room").mkdir(parents=True)
    (package / "room" / "__init__.py").write_text('"""A room."""\n')
    (package / "room" / "piece.py").write_text(
        'raise SystemExit\nclass A:\n    """One."""\n    def go(self):\n        """Two."""\n    def bare(self): ...\n'
    )
    found = subjects(package)
    assert [(one.module, one.name, one.room) for one in found] == [
        ("discreet.room.piece", "A", "room"),
        ("discreet.room.piece", "A.go", "room"),
    ]


def test_arguments_become_a_list_with_one_entry_each():
    assert restructured(
        ["Ask.", "", "Args:", "    sql: one SELECT,", "      no more.", "    *rest: |x|.", "", "End."]
    ) == [
        "Ask.",
        "",
        "",
        "**Args.**",
        "",
        "* ``sql``: one SELECT,",
        "  no more.",
        r"* ``*rest``: \|x\|.",
        "",
        "",
        "End.",
    ]
