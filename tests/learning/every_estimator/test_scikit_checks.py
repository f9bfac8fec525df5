"""scikit-learn's own checks, on every estimator: with noise, and without it, where the reasons are seen one by one."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import check_estimator

from discreet.learning.base import estimator as base
from discreet.learning.exact import measurements
from tests.learning.every_estimator.estimators import CLASSIFIERS, PRIVATE, SCIKIT, configured
from tests.learning.every_estimator.scikit_checks import PRIVATE_VALUES, expected_failures

# Without noise, a price by whose public rule a model is fitted to the end, as the checks of its score expect.
PLENTY: dict[str, Any] = {"epsilon": None, "delta": None, "mu": 20, "people": 200, "bounds": (-3, 3)}
PUBLIC_MAPS = [name for name in SCIKIT if name not in PRIVATE]


@pytest.fixture
def noiseless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every release be the exact sum itself."""
    monkeypatch.setattr(measurements, "noisy", lambda noise, sums: np.asarray(sums))  # noqa: ARG005


def failures(model: Any, expected: dict[str, str]) -> tuple[set[str], set[str]]:
    """Return the names of checks that failed unexpectedly, and as expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks warn about themselves
        results = check_estimator(model, expected_failed_checks=expected, on_skip=None, on_fail=None)
    by_status = {
        status: {one["check_name"] for one in results if one["status"] == status} for status in ("failed", "xfail")
    }
    assert len(results) > 40
    return by_status["failed"], by_status["xfail"]


@pytest.fixture
def undeclared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the classes off the labels, as a library without privacy does."""
    fit, stated = base.PrivateEstimator.fit, base.stated_classes

    def told(self: Any, X: Any, y: Any = None, **books: Any) -> Any:  # noqa: N803
        seen = None if y is None else np.unique(np.asarray(y))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                base, "stated_classes", lambda classes: stated(classes if seen is None or len(seen) < 2 else seen)
            )
            return fit(self, X, y, **books)

    monkeypatch.setattr(base.PrivateEstimator, "fit", told)


@pytest.mark.parametrize("name", PRIVATE)
def test_scikit_learns_checks_fail_only_where_they_must(name: str) -> None:
    model = configured(name)
    unexpected, _ = failures(model, expected_failures(model, noise=True))
    assert unexpected == set()


@pytest.mark.usefixtures("noiseless")
@pytest.mark.parametrize("name", PRIVATE)
def test_without_noise_only_declared_classes_and_private_values_fail(name: str) -> None:
    model = configured(name, **PLENTY)
    listed = expected_failures(model, noise=False)
    unexpected, seen = failures(model, listed)
    assert unexpected == set()
    assert seen <= set(listed)
    # the list is no longer than it must be
    assert seen >= {"check_dtype_object", "check_estimators_empty_data_messages"}
    if is_classifier(model):
        assert seen >= set(PRIVATE_VALUES) | {"check_classifiers_classes", "check_classifiers_train"}


@pytest.mark.usefixtures("noiseless", "undeclared")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_with_classes_off_the_labels_only_private_values_fail(name: str) -> None:
    assert failures(configured(name, **PLENTY), PRIVATE_VALUES)[0] == set()


@pytest.mark.parametrize("name", PUBLIC_MAPS)
def test_public_maps_pass(name: str) -> None:
    model = configured(name)
    assert failures(model, expected_failures(model, noise=False))[0] == set()


def test_the_checks_are_those_of_the_version_asked_for() -> None:
    assert sklearn.__version__ == (os.environ.get("SKLEARN") or version("scikit-learn"))


@pytest.mark.soak
@pytest.mark.parametrize("older", ["1.7.2", "1.8.0"])
def test_the_same_holds_for_the_checks_of_older_versions(older: str) -> None:
    beside = Path(sys.prefix) / f"scikit-learn-{older}"
    assert beside.is_dir(), "make soak installs it beside the environment"
    path = os.pathsep.join([str(beside), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not soak", __file__]
    environment = {**os.environ, "PYTHONPATH": path, "SKLEARN": older, "SOAK": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
