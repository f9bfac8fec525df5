"""docs/theorems.md is current, and no privacy claim goes untested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.pages import theorems
from tools.pages.theorems import Unsound

ROOT = Path(__file__).resolve().parent.parent.parent

SOURCE = '''
class Coin:
    """Toss.

    Privacy. It is 1-DP in |x|.
        Proof: by tossing.
    Accuracy. None.
    Figure. coin.svg shows a coin.
    """
'''
TEST = """
import pytest

@pytest.mark.theorem("Coin.privacy")
def test_a_coin_is_private(): ...

class TestCoin:
    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.theorem("Coin.accuracy"))])
    def test_accuracy(self, x): ...
"""


@pytest.fixture
def repository(tmp_path):
    """A repository with one mechanism, its tests and its figure."""
    room = tmp_path / "src" / "discreet" / "mechanisms"
    for folder in (room, tmp_path / "tests", tmp_path / "docs" / "_static"):
        folder.mkdir(parents=True)
    (room / "__init__.py").write_text('__all__ = ["Coin"]\n')
    (room / "coin.py").write_text(SOURCE)
    (tmp_path / "tests" / "test_coin.py").write_text(TEST)
    (tmp_path / "docs" / "_static" / "coin.svg").write_text("<svg/>")
    return tmp_path


def test_the_page_is_current():
    assert theorems.main(["--check"]) == 0, "run `make theorems`"


def test_every_privacy_claim_has_a_test_and_every_marker_a_claim():
    assert theorems.gaps(ROOT) == []


def test_a_row_leads_from_the_claim_to_class_test_and_figure(repository):
    text = theorems.page(repository)
    assert (
        "| {py:obj}`Coin.privacy <discreet.mechanisms.Coin>` | It is 1-DP in \\|x\\|. "
        "| `test_coin.py::test_a_coin_is_private` | ![Coin.privacy](_static/coin.svg) |"
    ) in text
    assert "`test_coin.py::TestCoin::test_accuracy`" in text


def test_check_notices_a_page_that_is_missing_or_old(repository):
    assert theorems.main(["--check", "--root", str(repository)]) == 1
    assert theorems.main(["--root", str(repository)]) == 0
    assert theorems.main(["--check", "--root", str(repository)]) == 0
    (repository / "tests" / "test_coin.py").unlink()
    assert theorems.main(["--check", "--root", str(repository)]) == 1


def test_an_untested_claim_of_privacy_is_a_gap(repository):
    (repository / "tests" / "test_coin.py").write_text("")
    assert theorems.gaps(repository) == [
        'discreet.mechanisms.coin.Coin claims privacy, but no test has @pytest.mark.theorem("Coin.privacy")'
    ]


def test_a_marker_for_a_claim_nobody_makes_is_a_gap(repository):
    (repository / "tests" / "test_coin.py").write_text(TEST.replace("Coin.accuracy", "Coin.beauty"))
    assert theorems.gaps(repository) == [
        "tests/test_coin.py::TestCoin::test_accuracy checks Coin.beauty, which no docstring claims"
    ]


def test_a_marker_whose_name_is_computed_is_refused(repository):
    (repository / "tests" / "test_coin.py").write_text(TEST.replace('"Coin.accuracy"', "name"))
    with pytest.raises(Unsound, match="written out"):
        theorems.theorems(repository)


def test_two_rooms_cannot_claim_one_name(repository):
    (repository / "src" / "discreet" / "other.py").write_text(SOURCE)
    with pytest.raises(Unsound, match="rename one"):
        theorems.theorems(repository)


def test_a_figure_that_does_not_exist_is_refused(repository):
    (repository / "docs" / "_static" / "coin.svg").unlink()
    with pytest.raises(Unsound, match="names no file"):
        theorems.theorems(repository)
