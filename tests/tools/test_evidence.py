"""The evidence says what ran, how often, when and on what, and not where."""

from __future__ import annotations

import pytest

from tools import evidence

REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" hostname="a-private-host">
<testcase classname="tests.laws.test_noise" name="test_exact[1|2]" time="61.5">
<properties><property name="rounds" value="100000" /></properties></testcase>
<testcase classname="tests.laws.test_noise" name="test_absent" time="0.0"><skipped message="s">s</skipped></testcase>
</testsuite></testsuites>
"""
FAILED = (
    '<testcase classname="tests.laws.test_noise" name="test_bad" time="1"><failure message="no">no</failure></testcase>'
)


def test_the_page_gives_counts_date_and_what_each_check_counted(tmp_path, capsys):
    report = tmp_path / "soak.xml"
    report.write_text(REPORT)
    assert evidence.main([str(report), "--root", str(tmp_path)]) == 0
    page = (tmp_path / evidence.PAGE).read_text()
    assert "1 passed, 0 failed, 1 skipped in 62 s of test time on 20" in page
    assert "| `laws.test_noise` | `test_exact[1/2]` | rounds 100000 | 61.5 | passed |" in page
    assert "a-private-host" not in page
    assert "1 passed, 0 failed, 1 skipped" in capsys.readouterr().out


def test_a_failed_run_leaves_the_last_evidence_as_it_was(tmp_path, capsys):
    page = tmp_path / evidence.PAGE
    page.parent.mkdir(parents=True)
    page.write_text("the last good run")
    report = tmp_path / "soak.xml"
    report.write_text(REPORT.replace("</testsuite>", f"{FAILED}</testsuite>"))
    assert evidence.main([str(report), "--root", str(tmp_path)]) == 1
    assert page.read_text() == "the last good run"
    assert "1 passed, 1 failed, 1 skipped" in capsys.readouterr().err


@pytest.mark.parametrize("report", ["<testsuites />", '<testsuites><testsuite name="pytest" /></testsuites>'])
def test_a_run_without_tests_is_no_evidence(tmp_path, report):
    path = tmp_path / "soak.xml"
    path.write_text(report)
    assert evidence.main([str(path), "--root", str(tmp_path)]) == 1
    assert not (tmp_path / evidence.PAGE).exists()


def test_one_room_has_a_page_of_its_own(tmp_path):
    report = tmp_path / "soak.xml"
    report.write_text(REPORT)
    assert evidence.main([str(report), "--root", str(tmp_path), "--room", "laws"]) == 0
    assert "`make soak ROOM=laws`" in (tmp_path / "docs/evidence/soak-laws.md").read_text()
    assert not (tmp_path / evidence.PAGE).exists()
