"""One run of the demo for all tests that look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result

from discreet.cli.demo.stage import Stage, build
from discreet.cli.demo.story import Story, tell
from tests.cli.program import run


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return build(tmp_path_factory.mktemp("stage"), people=5040, seed=8)


@pytest.fixture(scope="session")
def story(stage: Stage) -> Story:
    return tell(stage, seed=8)


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("demo") / "new" / "place"
    return out, run("demo", "--out", out)
