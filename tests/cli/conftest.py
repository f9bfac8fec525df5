"""One run of the demo for all tests that look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result

from discreet.cli import demo
from discreet.cli.demo.stage import Stage
from discreet.cli.demo.story import Story
from tests.cli.program import run


class _Run:
    """A run of the demo with what it was made of: the stage that it built, and the story that it told."""

    def __init__(self, out: Path) -> None:
        def building(*given: object, **stated: object) -> Stage:
            self.stage = build(*given, **stated)  # type: ignore[arg-type]
            return self.stage

        def telling(*given: object, **stated: object) -> Story:
            self.story = tell(*given, **stated)  # type: ignore[arg-type]
            return self.story

        build, tell, self.out = demo.build, demo.tell, out
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(demo, "build", building)
            patched.setattr(demo, "tell", telling)
            self.result = run("demo", "--out", out)


@pytest.fixture(scope="session")
def _demo(tmp_path_factory: pytest.TempPathFactory) -> _Run:
    return _Run(tmp_path_factory.mktemp("demo") / "new" / "place")


@pytest.fixture(scope="session")
def stage(_demo: _Run) -> Stage:
    return _demo.stage


@pytest.fixture(scope="session")
def story(_demo: _Run) -> Story:
    return _demo.story


@pytest.fixture(scope="session")
def demo_run(_demo: _Run) -> tuple[Path, Result]:
    return _demo.out, _demo.result
