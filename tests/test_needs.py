"""A missing engine is a skip that is counted, or a failure where it is required; never silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.needs import NEEDS, Need, UnknownNeed, reason_to_skip, required, skipped_line

ROOT = Path(__file__).resolve().parent.parent
ABSENT = Need(modules=("a_module_nobody_has",), programs=("a-program-nobody-has", "nor-this-one"))


def test_a_need_says_everything_that_is_missing():
    assert ABSENT.missing() == "no module a_module_nobody_has, no program a-program-nobody-has or nor-this-one"


def test_a_need_is_met_by_its_modules_and_any_one_of_its_programs():
    assert Need(modules=("json",), programs=("a-program-nobody-has", "sh")).missing() == ""


def test_require_reads_names_with_commas_between():
    assert required(" spark, browser,,") == {"spark", "browser"}
    assert required("") == frozenset()


def test_require_refuses_a_name_it_does_not_know():
    with pytest.raises(UnknownNeed, match="sprak"):
        required("sprak")


@pytest.mark.parametrize("name", ["browser", "node", "numba", "postgres", "sklearn", "spark", "torch"])
def test_what_rooms_need_has_a_name_and_says_what_it_misses_under_it(name, monkeypatch):
    absent = Need(modules=tuple(f"no_{one}" for one in NEEDS[name].modules), programs=("a-program-nobody-has",))
    monkeypatch.setitem(NEEDS, name, absent)
    assert reason_to_skip(name) == f"{name}: {absent.missing()}"
    assert required(name) == {name}


def test_the_whole_check_requires_everything_but_the_machine_s_own_browser_and_what_no_list_installs():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    named = re.search(r'^export REQUIRE="\$\{REQUIRE-([a-z,]+)\}"$', run, re.MULTILINE)[1]
    assert required(named) == NEEDS.keys() - {"browser", "cuda", "numpyro"}


def test_a_marker_with_an_unknown_name_is_refused():
    with pytest.raises(UnknownNeed, match=r"tests/needs\.py"):
        reason_to_skip("sprak")


def test_the_last_line_counts_the_skipped_and_says_why():
    assert skipped_line([]) == "skipped: none"
    assert skipped_line(["Skipped: spark: no module pyspark"] * 2 + ["not on this system"]) == (
        "skipped: 3, because not on this system (1); spark: no module pyspark (2)"
    )


@pytest.fixture
def project(pytester, monkeypatch):
    """A small project that uses our own conftest and has one test in need of something nobody has."""
    monkeypatch.delenv("REQUIRE", raising=False)
    monkeypatch.delenv("SOAK", raising=False)
    monkeypatch.setitem(NEEDS, "unobtainable", ABSENT)
    pytester.makeini("[pytest]\nmarkers =\n    soak: heavy\n    needs(name): may be missing\n")
    pytester.makeconftest("from tests.conftest import *\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.needs("unobtainable")
        def test_far_away():
            pass

        def test_here(rounds):
            assert rounds(sample=2, full=50) == 2

        @pytest.mark.soak
        def test_for_hours(rounds):
            assert rounds(sample=2, full=50) == 50
        """
    )
    return pytester


def test_what_is_missing_is_skipped_and_counted_in_the_last_line(project):
    result = project.runpytest_inprocess("-m", "not soak")
    result.assert_outcomes(passed=1, skipped=1, deselected=1)
    assert result.outlines[-1].startswith("skipped: 1, because unobtainable: no module a_module_nobody_has")


def test_what_is_required_and_missing_fails(project, monkeypatch):
    monkeypatch.setenv("REQUIRE", "unobtainable")
    result = project.runpytest_inprocess("-m", "not soak")
    result.assert_outcomes(passed=1, errors=1, deselected=1)
    result.stdout.fnmatch_lines(["*REQUIRE names unobtainable, but unobtainable: no module a_module_nobody_has*"])
    assert result.outlines[-1] == "skipped: none"


def test_a_misspelled_requirement_stops_the_run(project, monkeypatch):
    monkeypatch.setenv("REQUIRE", "unobtainabel")
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*REQUIRE names unobtainabel; known are*"])


def test_the_soak_run_takes_every_check_that_samples_itself_at_full_count(project, monkeypatch):
    monkeypatch.setenv("SOAK", "1")
    result = project.runpytest_inprocess("-m", "soak")
    result.assert_outcomes(
        passed=1, failed=1, deselected=1
    )  # test_here insists on its sample, and is given the full count
    result.stdout.fnmatch_lines(["*assert 50 == 2*"])
