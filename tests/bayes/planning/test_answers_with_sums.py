"""An answer may hold sums beside counts: models of counts leave them out, also in plans and checks."""

from __future__ import annotations

import pandas
import pytest

import discreet as dp
from discreet import bayes
from discreet.bayes.inference import require_readable

ASKED = "SELECT ill, COUNT(*) AS people, AVG(age) AS age FROM persons GROUP BY ill"
MODELS = [
    bayes.BetaBinomial(1, 1, success=("ill", "yes"), people=bayes.PoissonPeople(100)),
    bayes.DirichletMultinomial(1, people=bayes.PoissonPeople(100)),
    bayes.PoissonGamma(2, 0.04, exposures=1),
    bayes.LogisticCells(success=("ill", "yes"), rows_expected=100),
    bayes.SmallAreaRates(exposures=1, mean=bayes.LogNormal(50, 0.5)),
]


@pytest.fixture(scope="module")
def session():
    people = pandas.DataFrame({"ill": ["yes", "no"] * 50, "age": range(100)})
    columns = {"ill": {"values": ["yes", "no"]}, "age": {"min": 0, "max": 100}}
    return dp.Session.from_frames(persons=people, unit="row", budget=dp.PureDP(50), columns=columns)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sums_beside_counts_are_left_out_of_posteriors_checks_and_plans(session, model):
    answer = session.sql(ASKED, epsilon=4)
    found = bayes.posterior(answer, model, seed=1)
    assert [one.plan.name for one in found.measurements] == ["people"]
    assert any("age" in note and "left out" in note for note in found.notes)
    assert found.check(40, seed=1).names == ("people: yes", "people: no")
    plans = session.explain(ASKED, epsilon=4).plans
    assert require_readable(model, plans) is model
    assert bayes.expected_width(model, plans, reps=20, seed=1).value > 0
