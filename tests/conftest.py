"""What every test shares: how hard to search, what may be missing, and how often to repeat."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator
from typing import Protocol

import pytest
from hypothesis import HealthCheck, settings

from tests.needs import UnknownNeed, reason_to_skip, required, skipped_line

# No example is timed: on a loaded machine anything may be slow.
settings.register_profile(
    "quick", max_examples=40, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples every time: a change is judged by what it does, not by what the search met today.
settings.register_profile(
    "steady",
    max_examples=40,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "deep", max_examples=2_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_REQUIRED = pytest.StashKey[frozenset[str]]()


class Rounds(Protocol):
    """How often a repeated check repeats: a sample in `make test`, in full in `make soak`."""

    def __call__(self, *, sample: int, full: int) -> int:
        """Return the count for this run."""


def pytest_configure(config: pytest.Config) -> None:
    try:
        config.stash[_REQUIRED] = required(os.environ.get("REQUIRE", ""))
    except UnknownNeed as problem:
        raise pytest.UsageError(str(problem)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # A check that samples itself by `rounds` belongs to both runs; only the soak run selects by the marker.
    if _soaking():
        for item in items:
            if "rounds" in getattr(item, "fixturenames", ()):
                item.add_marker("soak")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()  # what is collected lives until the end, so that there is hardly any garbage to find
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    # Tests and modules live until the end: a search for garbage need not walk over some millions of objects each time,
    # and a forked child copies none of their pages.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # so that the interpreter's own end finds everything, and no extension module reports leaks


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            reason = reason_to_skip(name)
            if reason and name in item.config.stash[_REQUIRED]:
                pytest.fail(f"REQUIRE names {name}, but {reason}", pytrace=False)
            if reason:
                pytest.skip(reason)


@pytest.fixture
def rounds(record_property: Callable[[str, object], None]) -> Rounds:
    """Choose how often to repeat a check, and leave the number in the evidence."""

    def choose(*, sample: int, full: int) -> int:
        count = full if _soaking() else sample
        record_property("rounds", count)
        return count

    return choose


def _soaking() -> bool:
    return os.environ.get("SOAK", "") not in {"", "0"}


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.option.collectonly:
        return
    reasons = [report.longrepr[2] for report in reporter.stats.get("skipped", []) if isinstance(report.longrepr, tuple)]
    reporter.write_line(skipped_line(reasons))
