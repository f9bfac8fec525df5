"""What requirements/heavy.txt installs works here, each by its smallest use.

Heavy packages are imported in another process, so that this one stays as it was for the other tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.needs import NEEDS
from tests.postgresql import server

ROOT = Path(__file__).resolve().parent.parent
STATED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = STATED["dependency-groups"] | STATED["project"]["optional-dependencies"]


def said(*command: str) -> str:
    """Return what another process prints, on either stream."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603  written below
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).strip()


def supported(group: str) -> None:
    """Compare the installed versions with the ranges that a group or an extra states."""
    for stated in map(Requirement, GROUPS[group]):
        assert stated.specifier.contains(version(stated.name)), (str(stated), version(stated.name))


@pytest.mark.needs("torch")
def test_torch_adds():
    supported("deep")
    assert said(sys.executable, "-c", "import torch; print(torch.arange(5).sum().item())") == "10"


@pytest.mark.needs("sklearn")
def test_scikit_learn_separates_what_is_separate_in_the_version_asked_for():
    supported("learn")
    asked = os.environ.get("SKLEARN") or version("scikit-learn")
    fit = (
        "import sklearn; from sklearn.linear_model import LogisticRegression as Fit; "
        "rows, sides = [[0], [1], [8], [9]], [0, 0, 1, 1]; "
        "print(sklearn.__version__, Fit().fit(rows, sides).score(rows, sides))"
    )
    assert said(sys.executable, "-W", "error", "-c", fit) == f"{asked} 1.0"


@pytest.mark.needs("spark")
def test_spark_finds_a_java_that_it_runs_on():
    supported("spark")
    assert said(sys.executable, "-c", "import pyspark; print(pyspark.__version__)") == version("pyspark")
    java = re.search(r'version "(\d+)', said(shutil.which("java"), "-version"))
    assert java is not None
    assert int(java[1]) >= 17, "Spark 4 needs Java 17"


@pytest.mark.needs("postgres")
def test_a_postgresql_server_answers_and_is_gone_afterwards():
    import psycopg

    supported("postgres")
    with server() as where, psycopg.connect(where) as connection:
        assert connection.execute("SELECT 6 * 7").fetchone() == (42,)
        assert connection.info.server_version >= 180_000
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(where)


@pytest.mark.needs("browser")
def test_a_browser_runs_a_script():
    program = next(filter(None, map(shutil.which, NEEDS["browser"].programs)))
    page = "<p></p><script>document.querySelector('p').textContent = 6 * 7</script>"
    drive = f"""
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path={program!r})
    page = browser.new_page()
    page.set_content({page!r})
    print(page.text_content("p"))
    browser.close()
"""
    assert said(sys.executable, "-c", drive) == "42"
