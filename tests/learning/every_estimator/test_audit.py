"""An audit of every estimator: real noise follows the law that its price asks for, and the shares keep the price.

That sums move by no more than stated is the matter of test_exact_neighbors.py; both together are the guarantee.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit import goodness_of_fit
from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.learning.exact import Measurements
from discreet.privacy import PureDP, Relation
from tests.learning.every_estimator import faulty
from tests.learning.every_estimator.estimators import PRIVATE, configured, labels
from tests.learning.every_estimator.transcripts import Transcript, recorded

MU = Fraction(3, 10)
EPSILON = Fraction(1, 2)
FITS = 40
# Of one law: at most a hundred laws are looked at, so that all of them together give a false alarm once in 10^10 runs.
ALARM = 1e-12
PURE = [name for name, kind in PRIVATE.items() if kind._pure]


def transcripts(model: Any, name: str) -> list[Transcript]:
    """Return what many fits of one small table release, with real noise."""
    random = np.random.default_rng(1)
    rows, beside = random.uniform(-10, 10, (12, 2)), labels(name, 12, random)
    found = []
    for _ in range(FITS):
        with recorded() as transcript:
            model.fit(rows, beside)
        found.append(transcript)
    return found


def keeps_its_price(transcript: Transcript, mu: Fraction) -> bool:
    """Whether the exact sum of (distance / scale)^2 over all releases is at most mu^2."""
    assert all(isinstance(one.law, RoundedGaussian) for one in transcript.releases)
    return sum((one.squared / Fraction(one.law.scale) ** 2 for one in transcript.releases), Fraction(0)) <= mu**2


def keeps_its_pure_price(transcript: Transcript, epsilon: Fraction) -> bool:
    """Whether the exact sum of distance / scale over all releases is at most epsilon."""
    assert all(isinstance(one.law, DiscreteLaplace) and one.l1 is not None for one in transcript.releases)
    spent = sum(((one.l1 or 0) / Fraction(one.law.scale) for one in transcript.releases), Fraction(0))
    return spent <= epsilon


def noise_follows_its_law(found: list[Transcript]) -> bool:
    """Whether the noise of every law passes a G-test, and no coordinate has the same noise in every fit.

    The latter has a chance below 0.5^39 < 10^-11 a coordinate of integer noise of scale 1 or more, and there are fewer
    than a hundred such; scales are far larger, and chances smaller.
    """
    drawn: dict[Any, list[int]] = {}
    for transcript in found:
        for one in transcript.releases:
            drawn.setdefault(one.law, []).extend(one.noise.ravel().tolist())
    if any(goodness_of_fit(law, noise).alarm(ALARM) for law, noise in drawn.items()):
        return False
    by_release = zip(*(transcript.releases for transcript in found), strict=True)
    stacked = (np.stack([one.noise for one in releases]) for releases in by_release)
    return all((noise != noise[0]).any(axis=0).all() for noise in stacked)


@pytest.mark.theorem(
    "AdaSSP.privacy",
    "AdditiveClassifier.privacy",
    "AdditiveRegressor.privacy",
    "CategoricalNB.privacy",
    "DecisionTreeClassifier.privacy",
    "GaussianNB.privacy",
    "KMeans.privacy",
    "LinearRegression.privacy",
    "LogisticRegression.privacy",
    "NearestCentroid.privacy",
    "PCA.privacy",
    "RandomForestClassifier.privacy",
    "Ridge.privacy",
    "StandardScaler.privacy",
)
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@pytest.mark.parametrize("name", PRIVATE)
def test_noise_is_what_the_price_asks_for(name: str, relation: Relation) -> None:
    model = configured(name, epsilon=None, delta=None, mu=MU, relation=relation)
    found = transcripts(model, name)
    assert all(keeps_its_price(transcript, MU) for transcript in found)
    assert noise_follows_its_law(found)
    # the price is used, not only kept: nine tenths of it buy noise
    spent = sum(one.squared / Fraction(one.law.scale) ** 2 for one in found[0].releases)
    assert spent > MU**2 * Fraction(9, 10)


@pytest.mark.parametrize("name", PURE)
def test_pure_noise_is_what_the_price_asks_for(name: str) -> None:
    found = transcripts(configured(name, epsilon=EPSILON, delta=None), name)
    assert all(keeps_its_pure_price(transcript, EPSILON) for transcript in found)
    assert noise_follows_its_law(found)
    assert isinstance(configured(name, epsilon=EPSILON, delta=None).explain(2).guarantee, PureDP)


def planted(measured: type[Measurements]) -> list[Transcript]:
    stated = configured("LogisticRegression", epsilon=None, delta=None, mu=MU).get_params()
    return transcripts(faulty.Faulty(**stated, measured=measured), "LogisticRegression")


def test_the_frame_around_the_faults_is_no_fault_itself() -> None:
    found = planted(Measurements)
    assert all(keeps_its_price(transcript, MU) for transcript in found)
    assert noise_follows_its_law(found)


@pytest.mark.parametrize("fault", [faulty.HalfNoise, faulty.SpentTwice])
def test_too_little_noise_for_the_price_is_refuted(fault: type[Measurements]) -> None:
    assert not any(keeps_its_price(transcript, MU) for transcript in planted(fault))


@pytest.mark.parametrize("fault", [faulty.HalfDrawn, faulty.OneWithoutNoise])
def test_noise_that_is_not_what_its_law_says_is_refuted(fault: type[Measurements]) -> None:
    assert not noise_follows_its_law(planted(fault))
